//! The options of sysbench's OLTP tables and workloads, under sysbench's names.

use settings::{
    Absent, Conflict, DataKind, Kind, LoadKind, NeededData, OptionSpec, OptionTable, Size, Value,
    Values, quantity,
};

use super::{distribution::RandType, plan::IgnoredErrors, script::Script, settings::Settings};

/// Approximate bytes of a row on disk, index included.
const ROW_BYTES: f64 = 230.0;
/// Minimum rows of a table under `--scale`.
const ROWS_AT_LEAST: u64 = 1000;
/// Default seed of the rows: that of `prepare`.
const ROWS_SEED: u64 = 1;
/// Upper limit of the repetitions within a transaction: far beyond practical use.
const TIMES_AT_MOST: u64 = 10_000;

const EXAMPLE: &str = "oltp = { tables = 4, table_size = \"250k\" }";

/// Options of the tables.
pub struct OltpData;

/// Options of the workloads.
pub struct OltpLoad;

/// Something that a transaction does a number of times.
const fn times(name: &'static str, default: &'static str, help: &'static str) -> OptionSpec {
    OptionSpec::with_default(name, Kind::Count(0, TIMES_AT_MOST), default, help)
}

/// Allowed numbers of tables.
const TABLES: Kind = Kind::Count(1, 100_000);
/// Allowed rows of a table: the id column is an INTEGER.
const TABLE_SIZE: Kind = Kind::Count(1, i32::MAX as u64);
const DISTRIBUTIONS: Kind = Kind::Choice(&["uniform", "gaussian", "special", "pareto", "zipfian"]);

/// The options of a distribution, which tables and workloads share.
const RANDOM: [OptionSpec; 6] = [
    OptionSpec::with_default(
        "rand_type",
        DISTRIBUTIONS,
        "uniform",
        "Distribution of the accessed rows; sysbench 1.0.20 has another default (special)",
    ),
    OptionSpec::without_default(
        "rand_spec_iter",
        Kind::Count(1, 1000),
        "With --rand-type gaussian or special: number of uniform random numbers that are averaged for each access \
         [default: 12]",
    ),
    OptionSpec::without_default(
        "rand_spec_pct",
        Kind::Number(0.001, 99.999),
        "With --rand-type special: size of the hot zone in the middle of the table, in per cent of the rows \
         [default: 1]",
    )
    .of("PERCENT"),
    OptionSpec::without_default(
        "rand_spec_res",
        Kind::Number(0.001, 99.999),
        "With --rand-type special: share of the accesses that go to the hot zone, in per cent [default: 75]",
    )
    .of("PERCENT"),
    OptionSpec::without_default(
        "rand_pareto_h",
        Kind::Number(0.001, 0.999),
        "With --rand-type pareto: parameter h; the share h of the rows gets the share 1 - h of the accesses \
         [default: 0.2]",
    )
    .of("H"),
    OptionSpec::without_default(
        "rand_zipfian_exp",
        Kind::Number(0.0, 10.0),
        "With --rand-type zipfian: exponent of the distribution [default: 0.8]",
    )
    .of("EXPONENT"),
];

/// The options of the tables alone.
const TABLE: [OptionSpec; 7] = [
    OptionSpec::with_default("tables", TABLES, "1", "Number of tables"),
    OptionSpec::with_default(
        "table_size",
        TABLE_SIZE,
        "10000",
        "Number of rows in each table, such as 250000, 250k or 1M",
    )
    .of("ROWS"),
    OptionSpec::with_default(
        "auto_inc",
        Kind::Flag,
        "on",
        "Let the server assign the ids with AUTO_INCREMENT; with off, dbdyno assigns them",
    ),
    OptionSpec::with_default(
        "secondary",
        Kind::Flag,
        "off",
        "Create a secondary index on id instead of the primary key",
    ),
    OptionSpec::with_default(
        "create_secondary",
        Kind::Flag,
        "on",
        "Create an index on column k after the rows are loaded",
    ),
    OptionSpec::with_default(
        "mysql_storage_engine",
        Kind::Text,
        "innodb",
        "Storage engine of the tables",
    )
    .of("NAME"),
    OptionSpec::with_default(
        "create_table_options",
        Kind::Text,
        "",
        "Text to append to every CREATE TABLE statement",
    )
    .of("SQL"),
];

const SCRIPT: OptionSpec = OptionSpec::new(
    "script",
    Kind::Choice(&[
        "point_select",
        "read_only",
        "read_write",
        "write_only",
        "insert",
        "delete",
        "update_index",
        "update_non_index",
        "select_random_points",
        "select_random_ranges",
    ]),
    Absent::Required("script = \"read_write\""),
    "Workload to run",
);

/// The options of a transaction, whichever the workload is.
const TRANSACTION: [OptionSpec; 16] = [
    OptionSpec::with_default(
        "range_size",
        Kind::Count(0, i32::MAX as u64),
        "100",
        "Number of rows in each range select",
    )
    .of("ROWS"),
    times("point_selects", "10", "Number of point selects per transaction"),
    OptionSpec::with_default(
        "range_selects",
        Kind::Flag,
        "on",
        "Include range selects in each transaction: simple ones, and ones with SUM, ORDER BY or DISTINCT",
    ),
    times("simple_ranges", "1", "Number of simple range selects per transaction"),
    times("sum_ranges", "1", "Number of range selects with SUM per transaction"),
    times("order_ranges", "1", "Number of range selects with ORDER BY per transaction"),
    times(
        "distinct_ranges",
        "1",
        "Number of range selects with DISTINCT per transaction",
    ),
    times(
        "index_updates",
        "1",
        "Number of updates of the indexed column k per transaction",
    ),
    times(
        "non_index_updates",
        "1",
        "Number of updates of column c, which has no index, per transaction",
    ),
    times(
        "delete_inserts",
        "1",
        "Number of deletes per transaction; after each delete, a row with the same id is inserted",
    ),
    OptionSpec::with_default("skip_trx", Kind::Flag, "off", "Omit BEGIN and COMMIT from the transactions"),
    OptionSpec::with_default(
        "random_points",
        Kind::Count(1, 10_000),
        "10",
        "With the workload select_random_points: number of values of column k in each statement",
    ),
    OptionSpec::with_default(
        "number_of_ranges",
        Kind::Count(1, 10_000),
        "10",
        "With the workload select_random_ranges: number of ranges of column k in each statement",
    ),
    OptionSpec::with_default(
        "delta",
        Kind::Count(0, i32::MAX as u64),
        "5",
        "With the workload select_random_ranges: difference between the last and the first value of each range",
    ),
    OptionSpec::with_default(
        "db_ps_mode",
        Kind::Choice(&["auto", "disable"]),
        "auto",
        "How statements are sent: as prepared statements (auto) or as text (disable)",
    ),
    OptionSpec::with_default(
        "mysql_ignore_errors",
        Kind::Text,
        "1213,1020,1205",
        "Errors after which an operation is retried: a list of error numbers, or all; any other error ends the run",
    )
    .of("LIST"),
];

const DATA: [OptionSpec; 13] = joined(&[&TABLE, &RANDOM]);
const LOAD: [OptionSpec; 23] = joined(&[&[SCRIPT], &TRANSACTION, &RANDOM]);

/// The options of a command line in its sections, under their headings: those of both tables, and no script, which
/// a command line names otherwise.
pub static SECTIONS: [(&str, &[OptionSpec]); 3] = [
    ("Tables", &TABLE),
    ("Statements of an operation", &TRANSACTION),
    ("Random numbers", &RANDOM),
];

/// The options of several lists as one.
const fn joined<const COUNT: usize>(lists: &[&[OptionSpec]]) -> [OptionSpec; COUNT] {
    let mut all = [SCRIPT; COUNT];
    let (mut next, mut list) = (0, 0);
    while list < lists.len() {
        let mut at = 0;
        while at < lists[list].len() {
            all[next] = lists[list][at];
            next += 1;
            at += 1;
        }
        list += 1;
    }
    assert!(next == COUNT, "the lists have this length together");
    all
}

impl RandType {
    pub fn of(values: &Values) -> Self {
        let iterations = values.count("rand_spec_iter").map_or(12, number);
        match values.text("rand_type") {
            Some("gaussian") => Self::Gaussian { iterations },
            Some("special") => Self::Special {
                iterations,
                part_percent: values.number("rand_spec_pct").unwrap_or(1.0),
                share_percent: values.number("rand_spec_res").unwrap_or(75.0),
            },
            Some("pareto") => Self::Pareto {
                h: values.number("rand_pareto_h").unwrap_or(0.2),
            },
            Some("zipfian") => Self::Zipfian {
                exponent: values.number("rand_zipfian_exp").unwrap_or(0.8),
            },
            _ => Self::Uniform,
        }
    }
}

/// A conflict for a parameter that the selected distribution does not have.
fn useless_parameter(values: &Values) -> Option<Conflict> {
    let rand_type = values.text("rand_type").unwrap_or_default();
    let parameters: &[&str] = match rand_type {
        "gaussian" => &["rand_spec_iter"],
        "special" => &["rand_spec_iter", "rand_spec_pct", "rand_spec_res"],
        "pareto" => &["rand_pareto_h"],
        "zipfian" => &["rand_zipfian_exp"],
        _ => &[],
    };
    let mut given = RANDOM[1..].iter().map(|option| option.name);
    let useless = given.find(|name| values.get(name).is_some() && !parameters.contains(name))?;
    Some(Conflict {
        option: useless,
        problem: format!("`{useless}` has no effect with rand_type {rand_type:?}"),
        hint: "remove it, or name the distribution that it belongs to",
    })
}

impl IgnoredErrors {
    /// Parses a list of errors such as `1213,1205`, or `all`; `None` for any other text.
    pub fn of(list: &str) -> Option<Self> {
        if list.trim() == "all" {
            return Some(Self::All);
        }
        let numbers = list.split(',').map(str::trim);
        let numbers = numbers.filter(|number| !number.is_empty());
        let numbers: Result<Vec<u16>, _> = numbers.map(str::parse).collect();
        numbers.ok().map(Self::Numbers)
    }
}

fn number(count: u64) -> u32 {
    count.try_into().expect("it is bounded")
}

impl Settings {
    /// The tables that the values of `[data]` describe.
    pub fn of_data(values: &Values) -> Self {
        let text = |name| values.text(name).unwrap_or_default().to_owned();
        Self {
            tables: values.count("tables").map_or(1, number),
            table_size: values.count("table_size").unwrap_or(1),
            auto_inc: values.flag("auto_inc"),
            secondary: values.flag("secondary"),
            create_secondary: values.flag("create_secondary"),
            engine: text("mysql_storage_engine"),
            create_table_options: text("create_table_options"),
            rand_type: RandType::of(values),
            seed: ROWS_SEED,
            ..Self::default()
        }
    }

    /// Adds the load that `[load]` describes for this number of connections on these tables.
    pub fn with_load(self, values: &Values, connections: u32, seed: u64) -> Self {
        let times = |name| values.count(name).map_or(0, number);
        Self {
            range_size: values.count("range_size").unwrap_or_default(),
            point_selects: times("point_selects"),
            range_selects: values.flag("range_selects"),
            simple_ranges: times("simple_ranges"),
            sum_ranges: times("sum_ranges"),
            order_ranges: times("order_ranges"),
            distinct_ranges: times("distinct_ranges"),
            index_updates: times("index_updates"),
            non_index_updates: times("non_index_updates"),
            delete_inserts: times("delete_inserts"),
            skip_trx: values.flag("skip_trx"),
            random_points: times("random_points"),
            number_of_ranges: times("number_of_ranges"),
            delta: values.count("delta").unwrap_or_default(),
            rand_type: RandType::of(values),
            is_prepared: values.text("db_ps_mode") == Some("auto"),
            connections,
            seed,
            ..self
        }
    }
}

impl Script {
    /// The workload selected by the values of `[load]`.
    pub fn of(values: &Values) -> Self {
        let script = values.text("script").and_then(|name| name.parse().ok());
        script.expect("it is required, and one of its words")
    }
}

impl OptionTable for OltpData {
    fn name(&self) -> &'static str {
        "oltp"
    }

    fn options(&self) -> &'static [OptionSpec] {
        &DATA
    }

    fn example(&self) -> &'static str {
        EXAMPLE
    }

    fn fault(&self, values: &Values) -> Option<Conflict> {
        useless_parameter(values)
    }
}

impl DataKind for OltpData {
    /// `oltp 4 x 250000 rows, auto_inc true, secondary false, index true, innodb, k uniform`
    fn identity(&self, values: &Values) -> String {
        let settings = Settings::of_data(values);
        let mut words = format!(
            "oltp {} x {} rows, auto_inc {}, secondary {}, index {}, {}, k {}",
            settings.tables,
            settings.table_size,
            settings.auto_inc,
            settings.secondary,
            settings.create_secondary,
            settings.engine,
            settings.rand_type,
        );
        if !settings.create_table_options.is_empty() {
            words.push_str(&format!(", {}", settings.create_table_options));
        }
        words
    }

    fn size(&self, values: &Values) -> Size {
        let settings = Settings::of_data(values);
        let rows = f64::from(settings.tables) * settings.table_size as f64;
        Size::Bytes(rows * ROW_BYTES)
    }

    fn shrink(&self, values: &mut Values, scale: f64) {
        let rows = Settings::of_data(values).table_size;
        let rows = quantity::smaller(rows, scale, 1, ROWS_AT_LEAST);
        values.set("table_size", Value::Count(rows));
    }
}

impl OptionTable for OltpLoad {
    fn name(&self) -> &'static str {
        "oltp"
    }

    fn options(&self) -> &'static [OptionSpec] {
        &LOAD
    }

    fn example(&self) -> &'static str {
        "oltp = { script = \"read_write\" }"
    }

    fn fault(&self, values: &Values) -> Option<Conflict> {
        let list = values.text("mysql_ignore_errors").unwrap_or_default();
        if IgnoredErrors::of(list).is_none() {
            return Some(Conflict {
                option: "mysql_ignore_errors",
                problem: format!("{list:?} is not a list of error numbers"),
                hint: "such as \"1213,1205\", or \"all\"",
            });
        }
        useless_parameter(values)
    }
}

impl LoadKind for OltpLoad {
    fn summary(&self) -> Option<&'static str> {
        Some("One of sysbench's OLTP workloads")
    }

    /// Retries after an error are controlled by `mysql_ignore_errors`.
    fn meaningless(&self, _values: &Values) -> &'static [&'static str] {
        &["on_error"]
    }

    fn needed_data(&self, _values: &Values) -> Option<NeededData> {
        Some(NeededData {
            may_be_found: false,
            missing: "[load] oltp runs on the tables of [data] oltp, which is missing",
            hint: "add [data] with oltp = { tables = 4, table_size = \"250k\" }",
        })
    }

    fn can_be_simulated(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use settings::defaults;

    use super::*;

    #[test]
    fn what_nobody_set_is_sysbenchs() {
        let mut load = defaults(OltpLoad.options());
        load.set("script", Value::Choice("read_write"));
        let settings = Settings::of_data(&defaults(OltpData.options()));
        assert_eq!(settings.with_load(&load, 1, 1), Settings::default());
        assert_eq!(Script::of(&load), Script::ReadWrite);
        assert_eq!((OltpLoad.fault(&load), OltpData.fault(&load)), (None, None));
    }

    #[test]
    fn a_parameter_of_another_distribution_is_a_fault() {
        let mut data = defaults(OltpData.options());
        data.set("rand_pareto_h", Value::Number(0.5));
        let fault = OltpData.fault(&data).unwrap();
        assert_eq!(fault.option, "rand_pareto_h");
        data.set("rand_type", Value::Choice("pareto"));
        assert_eq!(OltpData.fault(&data), None);
        assert_eq!(RandType::of(&data), RandType::Pareto { h: 0.5 });
    }

    #[test]
    fn lists_of_errors() {
        let numbers = |numbers: &[u16]| Some(IgnoredErrors::Numbers(numbers.to_vec()));
        for (list, errors) in [
            ("all", Some(IgnoredErrors::All)),
            ("1213, 1205", numbers(&[1213, 1205])),
            ("", numbers(&[])),
            ("deadlock", None),
            ("70000", None),
        ] {
            assert_eq!(IgnoredErrors::of(list), errors, "{list}");
        }
    }
}
