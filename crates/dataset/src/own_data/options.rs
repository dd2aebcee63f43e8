//! The keys of `[data]` for data of the user's own.

use std::path::PathBuf;

use settings::{Conflict, DataKind, Kind, OptionSpec, OptionTable, Size, Value, Values, quantity};

use super::{
    generate::{create_statements, table_specs},
    schema::Schema,
};

/// Data of the user's own, under `[data]`.
pub struct OwnData;

const OPTIONS: &[OptionSpec] = &[
    OptionSpec::without_default(
        "sql",
        Kind::File("file of SQL"),
        "Statements that create the tables",
    ),
    OptionSpec::without_default(
        "dump",
        Kind::DataFile("dump"),
        "A mysqldump or mariadb-dump file, or a mydumper directory",
    ),
    OptionSpec::with_default(
        DUMP_AS,
        Kind::Choice(&["lines", "inserts"]),
        "lines",
        "How the INSERT statements of a dump are sent: as LOAD DATA LOCAL where this changes no row (lines), or \
         unchanged (inserts)",
    ),
    OptionSpec::without_default(
        "csv",
        Kind::DataFiles("CSV file"),
        "Tables with their CSV files",
    ),
    OptionSpec::without_default(
        "generate",
        Kind::Tables("{ orders = { rows = \"1M\", columns = { id = \"sequence\" } } }"),
        "Tables to generate, each with its number of rows and the rules for its columns",
    ),
];

/// How the INSERTs of a dump are sent.
const DUMP_AS: &str = "dump_as";
/// Rows of a table at least under `--scale`.
const ROWS_AT_LEAST: u64 = 100;
/// Bytes of a generated row on disk, about.
const ROW_BYTES: f64 = 100.0;

impl OptionTable for OwnData {
    fn name(&self) -> &'static str {
        "own_data"
    }

    fn options(&self) -> &'static [OptionSpec] {
        OPTIONS
    }

    fn is_flat(&self) -> bool {
        true
    }

    fn example(&self) -> &'static str {
        "sql = \"schema.sql\""
    }

    fn fault(&self, values: &Values) -> Option<Conflict> {
        let conflict = |option, problem: &str, hint| {
            let problem = problem.to_owned();
            Some(Conflict {
                option,
                problem,
                hint,
            })
        };
        let has_dump = values.data_file("dump").is_some();
        if !has_dump && values.text(DUMP_AS) == Some("inserts") {
            return conflict(
                DUMP_AS,
                "`dump_as` has no effect without `dump`",
                "leave it out",
            );
        }
        let beside = ["sql", "csv", "generate"].into_iter();
        let mut beside = beside.filter(|key| values.get(key).is_some());
        if let Some(key) = beside.next().filter(|_| has_dump) {
            let problem = format!("`{key}` cannot be used with `dump`, which has tables and rows");
            return conflict(key, &problem, "leave one of the two out");
        }
        if let Some(files) = values.named_data_files("csv") {
            if files.is_empty() {
                return conflict(
                    "csv",
                    "csv: no table is named",
                    "csv = { orders = \"orders.csv\" }",
                );
            }
            if values.file("sql").is_none() {
                let problem =
                    "csv: the types of the columns come from a table, and none is created";
                return conflict(
                    "csv",
                    problem,
                    "add sql = \"schema.sql\" with the CREATE TABLEs",
                );
            }
            let generated = values.tables("generate").unwrap_or_default();
            if let Some(both) = generated
                .iter()
                .find(|table| files.contains_key(&table.name))
            {
                let problem = format!("table {} has both a CSV file and `generate`", both.name);
                return conflict("csv", &problem, "leave one of the two out");
            }
        }
        let generated = values.tables("generate")?;
        let specs = table_specs(generated).and_then(|specs| match values.file("sql") {
            Some(_) => Ok(()),
            None => create_statements(&specs).map(drop),
        });
        specs.err().map(|error| Conflict {
            option: "generate",
            problem: error.to_string(),
            hint: "docs/data.md lists all rules",
        })
    }
}

impl DataKind for OwnData {
    /// `own data: sql "schema.sql"`
    fn identity(&self, values: &Values) -> String {
        let given = OPTIONS.iter().filter_map(|option| {
            let value = values.get(option.name)?;
            Some(format!("{} {value:?}", option.name))
        });
        let given: Vec<String> = given.collect();
        format!("own data: {}", given.join(", "))
    }

    /// That of statements is not known before they are executed.
    fn size(&self, values: &Values) -> Size {
        let specs = values.tables("generate").map(table_specs);
        let specs = specs.and_then(Result::ok).unwrap_or_default();
        let rows: f64 = specs.iter().map(|spec| spec.rows as f64).sum();
        let files = values.data_files().filter_map(|path| path.metadata().ok());
        let file_bytes: u64 = files.map(|metadata| metadata.len()).sum();
        Size::Bytes(rows * ROW_BYTES + file_bytes as f64)
    }

    fn shrink(&self, values: &mut Values, scale: f64) {
        let Some(tables) = values.tables("generate") else {
            return;
        };
        let mut tables = tables.to_vec();
        for (_, rows) in tables.iter_mut().flat_map(|table| &mut table.values) {
            if let Some(count) = quantity::count(rows) {
                *rows = quantity::smaller(count, scale, 1, ROWS_AT_LEAST).to_string();
            }
        }
        values.set("generate", Value::Tables(tables));
    }

    /// What a dump drops and makes is known only when it is read.
    fn needs_private_server(&self, values: &Values) -> bool {
        values.data_file("dump").is_some()
    }

    fn named_files(&self, values: &Values) -> Vec<PathBuf> {
        values
            .file("sql")
            .map(Schema::named_files)
            .unwrap_or_default()
    }
}
