//! Tables of the user's own for scripts: a dump, or a file of SQL with CSV files of rows.

use std::path::{Path, PathBuf};

use blame::{Blame, Blamed};
use clap::{Arg, ArgAction, ArgMatches, Command, builder::ValueParser};
use experiment::written;
use toml_edit::{InlineTable, Table, value};

use super::factor::{check_file, whole_path};

/// The options' names.
const DUMP: &str = "dump";
const SCHEMA: &str = "schema";
const CSV: &str = "csv";

/// Where the tables come from; paths are whole.
#[derive(Debug)]
pub(super) enum OwnTables {
    Dump(String),
    Schema {
        file: String,
        /// A table's name, and its file of rows.
        csv: Vec<(String, String)>,
    },
}

impl OwnTables {
    /// Adds the options; `others` are the options of tables that dbdyno makes.
    pub(super) fn augment(command: Command, others: &[&'static str]) -> Command {
        let option = |name: &'static str, value: &'static str, help: &'static str| {
            Arg::new(name)
                .long(name)
                .value_name(value)
                .help(help)
                .conflicts_with_all(others)
        };
        let dump = "Load the tables from this mysqldump or mariadb-dump file, or from this mydumper directory";
        let csv = "Load this table, which --schema creates, from this CSV file; may be repeated for other tables";
        command.args([
            option(DUMP, "FILE", dump)
                .conflicts_with(SCHEMA)
                .value_parser(ValueParser::from(dump_path)),
            option(SCHEMA, "FILE", "SQL file that creates the tables")
                .value_parser(ValueParser::from(file_path)),
            option(CSV, "TABLE=FILE", csv)
                .requires(SCHEMA)
                .action(ArgAction::Append)
                .value_parser(ValueParser::from(table_file)),
        ])
    }

    /// What the command line names; `None` if nothing.
    pub(super) fn of(matches: &ArgMatches) -> Option<Self> {
        if let Some(path) = matches.get_one::<String>(DUMP) {
            return Some(Self::Dump(path.clone()));
        }
        let csv = matches.get_many::<(String, String)>(CSV);
        Some(Self::Schema {
            file: matches.get_one::<String>(SCHEMA)?.clone(),
            csv: csv.into_iter().flatten().cloned().collect(),
        })
    }

    /// The keys of `[data]`.
    pub(super) fn keys(&self) -> Result<Table, Blamed> {
        let mut keys = Table::new();
        match self {
            Self::Dump(path) => {
                keys.insert("dump", value(written::literal(path)));
            }
            Self::Schema { file, csv } => {
                keys.insert("sql", value(written::literal(file)));
                if !csv.is_empty() {
                    keys.insert("csv", value(quoted_table("--csv", csv)?));
                }
            }
        }
        Ok(keys)
    }
}

/// `{ "orders" = "rows.csv" }`: the values of a repeated option; an error for one that is given twice.
pub(super) fn quoted_table(
    option: &str,
    given: &[(String, String)],
) -> Result<InlineTable, Blamed> {
    let mut table = InlineTable::new();
    for (name, text) in given {
        let key = written::quoted_key(name);
        if table
            .insert_formatted(&key, written::literal(text))
            .is_some()
        {
            let message = format!("{option} {name} is given twice");
            return Err(Blamed::new(Blame::Input, message));
        }
    }
    Ok(table)
}

/// The whole path of a file that can be read.
fn file_path(text: &str) -> Result<String, String> {
    check_file(Path::new(text))?;
    whole_path(Path::new(text))
}

/// The same of a dump, which may be a directory.
fn dump_path(text: &str) -> Result<String, String> {
    let path = PathBuf::from(text);
    if path.is_dir() {
        return whole_path(&path);
    }
    file_path(text)
}

/// Parses `orders=orders.csv`.
fn table_file(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((table, file)) if !table.is_empty() && !file.is_empty() => {
            Ok((table.to_owned(), file_path(file)?))
        }
        _ => Err("a table and its file, such as orders=orders.csv".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(words: &[&str]) -> Result<Option<String>, clap::Error> {
        let others = Command::new("script").arg(Arg::new("tables").long("tables"));
        let command = OwnTables::augment(others, &["tables"]);
        let words = std::iter::once(&"script").chain(words);
        let matches = command.try_get_matches_from(words)?;
        Ok(OwnTables::of(&matches).map(|own| own.keys().unwrap().to_string()))
    }

    #[test]
    fn options_become_the_keys_of_data() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name).display().to_string();
        let (schema, rows) = (path("{shop}.sql"), path("rows.csv"));
        for file in [&schema, &rows] {
            std::fs::write(file, "").unwrap();
        }
        assert_eq!(keys(&[]).unwrap(), None);
        let doubled = schema.replace('{', "{{").replace('}', "}}");
        assert_eq!(
            keys(&["--schema", &schema]).unwrap().unwrap(),
            format!("sql = \"{doubled}\"\n")
        );
        let csv = format!("orders={rows}");
        assert_eq!(
            keys(&["--schema", &schema, "--csv", &csv])
                .unwrap()
                .unwrap(),
            format!("sql = \"{doubled}\"\ncsv = {{ \"orders\" = \"{rows}\" }}\n")
        );
        let whole = directory.path().display().to_string();
        assert_eq!(
            keys(&["--dump", &whole]).unwrap().unwrap(),
            format!("dump = \"{whole}\"\n")
        );
    }

    #[test]
    fn a_name_that_is_given_twice_is_an_error() {
        let given = |names: [&str; 2]| names.map(|name| (name.to_owned(), "a.csv".to_owned()));
        let error = quoted_table("--csv", &given(["own", "own"])).unwrap_err();
        assert_eq!(error.message, "--csv own is given twice");
        let table = quoted_table("--csv", &given(["a \"b\"", "own"])).unwrap();
        assert_eq!(
            table.to_string(),
            "{ \"a \\\"b\\\"\" = \"a.csv\", \"own\" = \"a.csv\" }"
        );
    }

    #[test]
    fn what_cannot_be_together_or_read_is_an_error() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("a.sql").display().to_string();
        std::fs::write(&file, "").unwrap();
        for words in [
            &["--schema", &file, "--dump", &file][..],
            &["--schema", &file, "--tables", "2"],
            &["--dump", &file, "--tables", "2"],
            &["--csv", &format!("a={file}")],
            &["--schema", &file, "--csv", "a="],
            &["--schema", &format!("{file}.missing")],
            &["--dump", &format!("{file}.missing")],
        ] {
            assert!(keys(words).is_err(), "{words:?}");
        }
    }
}
