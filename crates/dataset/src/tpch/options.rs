//! The options of TPC-H's data and load.

use settings::{
    Absent, DataKind, Kind, LoadKind, NeededData, OptionSpec, OptionTable, Size, Value, Values,
};

use super::{
    plan::{KeyTime, Keys},
    scale_factor::{SCALE_FACTOR_MAX, SCALE_FACTOR_MIN, ScaleFactor},
    table::Table,
};

/// Approximate bytes on disk at scale factor 1, without secondary indexes.
const DISK_BYTES: f64 = 1.5e9;

const EXAMPLE: &str = "tpch = { scale_factor = 0.1 }";

/// Options of the tables of TPC-H.
pub struct TpchData;

/// The tables to create.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DataOptions {
    /// Scale factor; 1 is about 1 GB of text.
    pub scale_factor: ScaleFactor,
    pub keys: Keys,
    pub key_time: KeyTime,
}

impl DataOptions {
    pub fn of(values: &Values) -> Self {
        let scale_factor = values.number("scale_factor").expect("it is required");
        Self {
            scale_factor: scale_factor.try_into().expect("it is bounded"),
            keys: match values.text("keys") {
                Some("primary") => Keys::Primary,
                Some("secondary") => Keys::Secondary,
                _ => Keys::Foreign,
            },
            key_time: match values.text("key_time") {
                Some("before") => KeyTime::Before,
                _ => KeyTime::After,
            },
        }
    }
}

impl OptionTable for TpchData {
    fn name(&self) -> &'static str {
        "tpch"
    }

    fn options(&self) -> &'static [OptionSpec] {
        const {
            &[
                OptionSpec::new(
                    "scale_factor",
                    Kind::Number(SCALE_FACTOR_MIN, SCALE_FACTOR_MAX),
                    Absent::Required("scale_factor = 0.1"),
                    "Scale factor of the data: 1 means about 1 GB of text and 8.7 million rows",
                ),
                OptionSpec::new(
                    "keys",
                    Kind::Choice(&["primary", "secondary", "foreign"]),
                    Absent::Default("foreign"),
                    "Keys to create: primary (only primary keys), secondary (also an index for each reference) or \
                     foreign (also the foreign keys)",
                ),
                OptionSpec::new(
                    "key_time",
                    Kind::Choice(&["before", "after"]),
                    Absent::Default("after"),
                    "When to create the indexes and foreign keys: before or after the rows are loaded",
                ),
            ]
        }
    }

    fn example(&self) -> &'static str {
        EXAMPLE
    }
}

impl DataKind for TpchData {
    /// `tpch 0.1 Foreign after`
    fn identity(&self, values: &Values) -> String {
        let options = DataOptions::of(values);
        let time = match options.key_time {
            KeyTime::After => "after",
            KeyTime::Before => "before",
        };
        format!("tpch {} {:?} {time}", options.scale_factor, options.keys)
    }

    fn size(&self, values: &Values) -> Size {
        Size::Bytes(DataOptions::of(values).scale_factor.value() * DISK_BYTES)
    }

    fn shrink(&self, values: &mut Values, scale: f64) {
        let scale_factor = DataOptions::of(values).scale_factor.value();
        let smaller = (scale_factor * scale)
            .max(SCALE_FACTOR_MIN)
            .min(scale_factor);
        values.set("scale_factor", Value::Number(smaller));
    }

    fn needs_private_server(&self, _values: &Values) -> bool {
        true
    }
}

/// Options of the load of one table, which the data leaves empty.
pub struct TpchLoad;

/// Parameters of the load of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoadOptions {
    pub table: Table,
    /// Number of LOAD DATA statements for its rows; `None` for one per connection.
    pub statements: Option<u64>,
    /// Whether the server checks unique and foreign keys during the load.
    pub checks: bool,
    /// Whether InnoDB's redo log is written during the load.
    pub redo_log: bool,
}

impl LoadOptions {
    pub fn of(values: &Values) -> Self {
        let table = values.text("table").and_then(Table::named);
        Self {
            table: table.expect("it is required, and a table"),
            statements: values.count("statements"),
            checks: values.flag("checks"),
            redo_log: values.flag("redo_log"),
        }
    }
}

impl OptionTable for TpchLoad {
    fn name(&self) -> &'static str {
        "tpch"
    }

    fn options(&self) -> &'static [OptionSpec] {
        const {
            &[
                OptionSpec::new(
                    "table",
                    Kind::Choice(&[
                        "lineitem", "orders", "partsupp", "part", "customer", "supplier", "nation",
                        "region",
                    ]),
                    Absent::Required("table = \"lineitem\""),
                    "Table whose load is measured",
                ),
                OptionSpec::new(
                    "statements",
                    Kind::Count(1, 10_000),
                    Absent::Unset,
                    "Number of LOAD DATA statements that load the rows [default: one per connection]",
                ),
                OptionSpec::new(
                    "checks",
                    Kind::Flag,
                    Absent::Default("off"),
                    "Whether the server checks unique keys and foreign keys in the sessions that load the rows",
                ),
                OptionSpec::new(
                    "redo_log",
                    Kind::Flag,
                    Absent::Default("on"),
                    "Whether InnoDB's redo log is on during the load; off needs MySQL 8.0.21 or later",
                ),
            ]
        }
    }

    fn example(&self) -> &'static str {
        EXAMPLE
    }
}

impl LoadKind for TpchLoad {
    fn meaningless(&self, _values: &Values) -> &'static [&'static str] {
        &[
            "warmup",
            "warmup_at_most",
            "duration",
            "precision",
            "rate",
            "arrivals",
            "think_time",
        ]
    }

    fn ends_by_itself(&self, _values: &Values) -> bool {
        true
    }

    fn needed_data(&self, _values: &Values) -> Option<NeededData> {
        Some(NeededData {
            may_be_found: false,
            missing: "[load] tpch loads a table of [data] tpch, which is missing",
            hint: "add [data] with tpch = { scale_factor = 0.1 }; it creates the other tables, and this one empty",
        })
    }

    /// The table to load must exist and be empty.
    fn wants_of_data(&self, values: &Values) -> Option<String> {
        Some(format!("without {}", LoadOptions::of(values).table.name()))
    }

    fn sets_variables(&self, values: &Values) -> &'static [&'static str] {
        if LoadOptions::of(values).redo_log {
            &[]
        } else {
            &["innodb_redo_log_enabled"]
        }
    }
}

#[cfg(test)]
mod tests {
    use settings::defaults;

    use super::*;

    #[test]
    fn each_word_of_keys_is_a_choice_of_its_own() {
        let all = [
            ("primary", Keys::Primary),
            ("secondary", Keys::Secondary),
            ("foreign", Keys::Foreign),
        ];
        for (word, keys) in all {
            let mut values = defaults(TpchData.options());
            values.set("scale_factor", Value::Number(0.1));
            values.set("keys", Value::Text(word.to_owned()));
            assert_eq!(DataOptions::of(&values).keys, keys);
        }
    }
}
