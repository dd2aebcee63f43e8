//! The options of mysqlslap's tables and clients, under mysqlslap's names.

use settings::{
    Absent, Conflict, DataKind, Kind, LoadKind, NeededData, OptionSpec, OptionTable, Size, Value,
    Values, quantity,
};

use super::{
    generator::{Columns, Generator, LoadType, PrimaryKey},
    tables::Engine,
};

pub const COLUMNS_MAX: u32 = 4096;
/// Maximum statements of one kind: far beyond practical use.
const STATEMENTS_MAX: u64 = 1_000_000_000;
/// Maximum different statements, which are kept in memory.
const UNIQUE_MAX: u64 = 1_000_000;
/// Approximate bytes of a row on disk besides its columns.
const ROW_BYTES: f64 = 30.0;
/// Bytes of a text column, length included.
const CHAR_BYTES: f64 = 127.0;
/// Minimum under `--scale` of the statements that fill the table, and of those of the clients.
const STATEMENTS_AT_LEAST: u64 = 100;

/// Options of the tables.
pub(super) struct SlapData;

/// Options of the clients.
pub struct SlapLoad;

const AUTO: OptionSpec = OptionSpec::with_default(
    "auto_generate_sql",
    Kind::Flag,
    "off",
    "Generate a table, and statements that use it",
);

const DELIMITER: OptionSpec = OptionSpec::with_default(
    "delimiter",
    Kind::Text,
    "\n",
    "Separator between statements",
);

/// Options of tables.
const DATA: &[OptionSpec] = &[
    AUTO,
    OptionSpec::with_default(
        "auto_generate_sql_add_autoincrement",
        Kind::Flag,
        "off",
        "Add a primary key column with AUTO_INCREMENT to the generated table",
    ),
    OptionSpec::with_default(
        "auto_generate_sql_guid_primary",
        Kind::Flag,
        "off",
        "Add a primary key column with uuid() values to the generated table",
    ),
    OptionSpec::with_default(
        "auto_generate_sql_secondary_indexes",
        Kind::Count(0, COLUMNS_MAX as u64),
        "0",
        "Number of columns with uuid() values and a unique index in the generated table",
    ),
    OptionSpec::with_default(
        "auto_generate_sql_write_number",
        Kind::Count(1, STATEMENTS_MAX),
        "100",
        "Number of statements that create and fill the generated table, including CREATE TABLE",
    ),
    OptionSpec::with_default(
        "auto_generate_sql_unique_write_number",
        Kind::Count(1, UNIQUE_MAX),
        "10",
        "Number of different INSERT statements that fill the generated table",
    ),
    OptionSpec::with_default(
        "number_int_cols",
        Kind::Text,
        "1",
        "Number of integer columns in the generated table; N:1 also creates an index on each of them",
    ),
    OptionSpec::with_default(
        "number_char_cols",
        Kind::Text,
        "1",
        "Number of text columns in the generated table; N:1 also creates an index on each of them",
    ),
    OptionSpec::without_default(
        "create",
        Kind::Script("file of SQL"),
        "Statements that create the tables, or a file that contains them",
    ),
    DELIMITER,
    OptionSpec::without_default(
        "engine",
        Kind::Text,
        "Storage engine of the tables; ENGINE:OPTION also sets a table option",
    ),
];

/// Options of clients.
const LOAD: &[OptionSpec] = &[
    AUTO,
    OptionSpec::with_default(
        "auto_generate_sql_load_type",
        Kind::Choice(&["mixed", "update", "write", "key", "read"]),
        "mixed",
        "Kind of generated statements: mixed, update, write, key or read",
    ),
    OptionSpec::with_default(
        "auto_generate_sql_unique_query_number",
        Kind::Count(1, UNIQUE_MAX),
        "10",
        "Number of different statements that the clients run, minus one: with 10, they run eleven",
    ),
    OptionSpec::without_default(
        "auto_generate_sql_execute_number",
        Kind::Count(1, STATEMENTS_MAX),
        "Number of statements that each client runs",
    ),
    OptionSpec::without_default(
        "query",
        Kind::Script("file of SQL"),
        "Statements that the clients run, or a file that contains them",
    ),
    DELIMITER,
    OptionSpec::without_default(
        "number_of_queries",
        Kind::Count(1, STATEMENTS_MAX),
        "Total number of statements for all clients together",
    ),
    OptionSpec::with_default(
        "commit",
        Kind::Count(0, STATEMENTS_MAX),
        "0",
        "Disable autocommit; each client sends COMMIT after this number of its statements",
    ),
    OptionSpec::with_default(
        "detach",
        Kind::Count(0, STATEMENTS_MAX),
        "0",
        "Let each client reconnect after this number of its statements",
    ),
];

/// The option with this name, of the tables or of the clients; `-` may replace `_`.
pub fn option_named(name: &str) -> Option<&'static OptionSpec> {
    let name = name.replace('-', "_");
    let mut options = DATA.iter().chain(LOAD);
    options.find(|option| option.name == name)
}

/// The default of an option as text; empty where it has none.
pub fn default_of(name: &str) -> &'static str {
    match option_named(name).map(|option| option.absent) {
        Some(Absent::Default(text)) => text,
        _ => "",
    }
}

/// The first option that differs from its default although no table is generated.
fn useless(values: &Values, options: &'static [OptionSpec]) -> Option<Conflict> {
    let of_made_up = |option: &&OptionSpec| {
        let prefixes = ["auto_generate_sql_", "number_int_", "number_char_"];
        prefixes
            .iter()
            .any(|prefix| option.name.starts_with(prefix))
    };
    let mut options = options.iter().filter(of_made_up);
    let useless = options.find(|option| values.get(option.name) != option.default().as_ref())?;
    Some(Conflict {
        option: useless.name,
        problem: format!("`{}` has no effect without auto_generate_sql", useless.name),
        hint: "add auto_generate_sql = true, or remove it",
    })
}

/// The conflict between generated SQL and SQL given by this option.
fn no_single_source(values: &Values, given: &'static str) -> Option<Conflict> {
    let (problem, hint) = match (values.flag(AUTO.name), values.get(given).is_some()) {
        (true, true) => (
            format!("`{given}` and auto_generate_sql exclude each other"),
            "leave one of them out",
        ),
        (false, false) => (
            format!("neither `{given}` nor auto_generate_sql is given"),
            "add auto_generate_sql = true, or SQL of your own",
        ),
        _ => return None,
    };
    Some(Conflict {
        option: given,
        problem,
        hint,
    })
}

impl Columns {
    /// Parses `3`, or with indexes `3:1`.
    pub fn of(text: &str) -> Option<Self> {
        let (count, indexed) = text.split_once(':').unwrap_or((text, "0"));
        let count = count
            .parse()
            .ok()
            .filter(|count: &u32| *count <= COLUMNS_MAX);
        Some(Self {
            count: count?,
            indexed: indexed.parse::<u32>().ok()? > 0,
        })
    }
}

impl Generator {
    /// The generator that the values of tables and clients describe; `None` for an invalid number of columns.
    pub fn of(data: &Values, load: &Values) -> Option<Self> {
        let columns = |name| Columns::of(data.text(name).unwrap_or_default());
        let count = |values: &Values, name| values.count(name).unwrap_or_default();
        let secondary = count(data, "auto_generate_sql_secondary_indexes");
        Some(Self {
            load_type: LoadType::of(load.text("auto_generate_sql_load_type").unwrap_or_default()),
            primary_key: primary_key(data),
            secondary_indexes: secondary.try_into().ok()?,
            int_columns: columns("number_int_cols")?,
            char_columns: columns("number_char_cols")?,
            unique_writes: count(data, "auto_generate_sql_unique_write_number"),
            unique_queries: count(load, "auto_generate_sql_unique_query_number"),
        })
    }
}

fn primary_key(data: &Values) -> Option<PrimaryKey> {
    if data.flag("auto_generate_sql_add_autoincrement") {
        return Some(PrimaryKey::AutoIncrement);
    }
    let is_guid = data.flag("auto_generate_sql_guid_primary");
    is_guid.then_some(PrimaryKey::Guid)
}

impl OptionTable for SlapData {
    fn name(&self) -> &'static str {
        "slap"
    }

    fn options(&self) -> &'static [OptionSpec] {
        DATA
    }

    fn example(&self) -> &'static str {
        "slap = { auto_generate_sql = true }"
    }

    fn fault(&self, values: &Values) -> Option<Conflict> {
        if let Some(conflict) = no_single_source(values, "create") {
            return Some(conflict);
        }
        let conflict = |option, problem: &str, hint| {
            Some(Conflict {
                option,
                problem: problem.to_owned(),
                hint,
            })
        };
        if values.flag("auto_generate_sql_add_autoincrement")
            && values.flag("auto_generate_sql_guid_primary")
        {
            return conflict(
                "auto_generate_sql_guid_primary",
                "a table has one primary key: either AUTO_INCREMENT or uuid()",
                "leave one of the two out",
            );
        }
        let engine = values.text("engine");
        if engine.is_some_and(|engine| engine.contains(',') || Engine::of(engine).is_none()) {
            return conflict(
                "engine",
                "`engine` accepts one storage engine",
                "for several, use a factor: engine = \"{engine}\"",
            );
        }
        if values.text("delimiter").is_none_or(str::is_empty) {
            return conflict("delimiter", "`delimiter` is empty", "leave it out");
        }
        if !values.flag(AUTO.name) {
            return useless(values, DATA);
        }
        let columns = ["number_int_cols", "number_char_cols"];
        let is_wrong = |name: &&str| Columns::of(values.text(name).unwrap_or_default()).is_none();
        let wrong = columns.into_iter().find(is_wrong)?;
        conflict(
            wrong,
            "it is not a number of columns",
            "a number up to 4096 such as 3, or \"3:1\" with an index on each",
        )
    }
}

impl DataKind for SlapData {
    /// `slap of 100 statements, InnoDB, auto_generate_sql_write_number=100 ...`
    fn identity(&self, values: &Values) -> String {
        let options = DATA.iter().filter_map(|option| {
            let value = values.get(option.name)?;
            let is_default = option.default().as_ref() == Some(value);
            (!is_default).then(|| format!("{} {}", option.name, words(value)))
        });
        let options: Vec<String> = options.collect();
        format!("slap {}", options.join(", "))
    }

    fn size(&self, values: &Values) -> Size {
        let columns = |name| Columns::of(values.text(name).unwrap_or_default());
        let ints = columns("number_int_cols").map_or(0, |columns| columns.count);
        let chars = columns("number_char_cols").map_or(0, |columns| columns.count);
        let row = ROW_BYTES + f64::from(ints) * 4.0 + f64::from(chars) * CHAR_BYTES;
        let made_up = values.flag(AUTO.name);
        let rows = values.count("auto_generate_sql_write_number");
        // The size of tables made by the user's own statements is not known in advance.
        Size::Bytes(if made_up {
            rows.unwrap_or_default() as f64 * row
        } else {
            0.0
        })
    }

    fn shrink(&self, values: &mut Values, scale: f64) {
        smaller(values, "auto_generate_sql_write_number", scale);
    }

    /// The tables that the user's own statements create are not known in advance, so none could be protected.
    fn needs_private_server(&self, values: &Values) -> bool {
        values.get("create").is_some()
    }
}

/// The value as the user would write it.
fn words(value: &Value) -> String {
    match value {
        Value::Flag(on) => if *on { "on" } else { "off" }.to_owned(),
        Value::Count(count) => count.to_string(),
        Value::Text(text) => format!("{text:?}"),
        other => format!("{other:?}"),
    }
}

fn smaller(values: &mut Values, option: &'static str, scale: f64) {
    if let Some(count) = values.count(option) {
        let count = quantity::smaller(count, scale, 1, STATEMENTS_AT_LEAST);
        values.set(option, Value::Count(count));
    }
}

impl OptionTable for SlapLoad {
    fn name(&self) -> &'static str {
        "slap"
    }

    fn options(&self) -> &'static [OptionSpec] {
        LOAD
    }

    fn example(&self) -> &'static str {
        "slap = { auto_generate_sql = true }"
    }

    fn fault(&self, values: &Values) -> Option<Conflict> {
        if let Some(conflict) = no_single_source(values, "query") {
            return Some(conflict);
        }
        if !values.flag(AUTO.name)
            && let Some(conflict) = useless(values, LOAD)
        {
            return Some(conflict);
        }
        let conflict = |option, problem: &str, hint| {
            Some(Conflict {
                option,
                problem: problem.to_owned(),
                hint,
            })
        };
        if values.text("delimiter").is_none_or(str::is_empty) {
            return conflict("delimiter", "`delimiter` is empty", "leave it out");
        }
        let (each, together) = ("auto_generate_sql_execute_number", "number_of_queries");
        if values.count(each).is_some() && values.count(together).is_some() {
            return conflict(
                together,
                "number_of_queries and auto_generate_sql_execute_number exclude each other",
                "leave one of the two out",
            );
        }
        None
    }
}

impl LoadKind for SlapLoad {
    /// The duration of a fixed number of statements is the measured quantity.
    fn meaningless(&self, values: &Values) -> &'static [&'static str] {
        if self.ends_by_itself(values) {
            &["warmup", "warmup_at_most", "duration", "precision"]
        } else {
            &[]
        }
    }

    fn ends_by_itself(&self, values: &Values) -> bool {
        let counts = ["auto_generate_sql_execute_number", "number_of_queries"];
        counts.iter().any(|name| values.count(name).is_some())
    }

    /// The user's own statements may need no table, or those of another benchmark.
    fn needed_data(&self, values: &Values) -> Option<NeededData> {
        values.flag(AUTO.name).then_some(NeededData {
            may_be_found: false,
            missing: "[load] slap runs on the table that [data] slap generates, which is missing",
            hint: "add [data] with slap = { auto_generate_sql = true }",
        })
    }

    fn fault_with_data(&self, values: &Values, data: &Values) -> Option<Conflict> {
        if !data.flag(AUTO.name) {
            return Some(Conflict {
                option: AUTO.name,
                problem: "[load] slap generates its statements, but [data] slap generates no table for them"
                    .to_owned(),
                hint: "auto_generate_sql = true belongs under both",
            });
        }
        let load_type = values.text("auto_generate_sql_load_type");
        (load_type == Some("key") && primary_key(data).is_none()).then(|| Conflict {
            option: "auto_generate_sql_load_type",
            problem: "load type \"key\" reads by a primary key, which the table does not have"
                .to_owned(),
            hint: "add auto_generate_sql_add_autoincrement = true to [data] slap",
        })
    }

    fn shrink(&self, values: &mut Values, scale: f64) {
        smaller(values, "auto_generate_sql_execute_number", scale);
        smaller(values, "number_of_queries", scale);
    }

    fn can_be_simulated(&self) -> bool {
        true
    }
}

#[cfg(test)]
#[path = "options_tests.rs"]
mod tests;
