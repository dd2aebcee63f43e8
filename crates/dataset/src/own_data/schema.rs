//! The statements of a file that makes tables: `sql = "schema.sql"`.

use std::path::{Path, PathBuf};

use sqltext::{Place, SqlScriptError, SqlStatement, TableName, Target, statements_of_own_file};

use crate::KnownTable;

/// Characters of a statement that a message quotes.
const QUOTED_AT_MOST: usize = 60;

/// The statements, in their order.
#[derive(Debug)]
pub struct Schema {
    pub statements: Vec<SqlStatement>,
    /// The tables that they create, as far as their CREATE TABLEs are without a database.
    tables: Vec<KnownTable>,
}

/// Why a file cannot be used as a schema.
#[derive(Debug, thiserror::Error)]
pub enum SchemaError {
    /// Its text is no list of statements.
    #[error(transparent)]
    Script(#[from] SqlScriptError),
    #[error("{}: it contains no statement", path.display())]
    Empty { path: PathBuf },
    /// It names another database.
    #[error("{place}: USE {database}: the tables are created in the database of the clients")]
    Database { place: Place, database: String },
}

/// A statement that a server which is not dbdyno's own is not sent.
#[derive(Debug, thiserror::Error)]
#[error("{place}: {statement}: {why}")]
pub struct NotAllowed {
    place: Place,
    statement: String,
    why: String,
}

impl Schema {
    /// Reads a file; one that it names by `source` is relative to it.
    ///
    /// # Errors
    /// [`SchemaError`] with the place.
    pub fn read(path: &Path) -> Result<Self, SchemaError> {
        let statements = statements_of_own_file(path)?;
        if statements.is_empty() {
            let path = path.to_owned();
            return Err(SchemaError::Empty { path });
        }
        let mut tables: Vec<KnownTable> = Vec::new();
        for statement in &statements {
            match statement.target() {
                Target::Creates(TableName {
                    database: None,
                    table,
                }) => {
                    let known = KnownTable::created_by(&table, statement.text());
                    tables.retain(|earlier| earlier.name != known.name);
                    tables.push(known);
                }
                Target::Database(database) => {
                    let place = statement.place();
                    return Err(SchemaError::Database { place, database });
                }
                _ => {}
            }
        }
        Ok(Self { statements, tables })
    }

    /// The files that a schema consists of beside the first; none where it cannot be read.
    pub fn named_files(path: &Path) -> Vec<PathBuf> {
        let statements = statements_of_own_file(path).unwrap_or_default();
        let mut files: Vec<PathBuf> = Vec::new();
        for statement in statements {
            let file = PathBuf::from(statement.place().file);
            if file != path && !files.contains(&file) {
                files.push(file);
            }
        }
        files
    }

    /// The tables that it creates.
    pub fn tables(&self) -> &[KnownTable] {
        &self.tables
    }

    /// An error for the first statement that changes, or may change, more than the tables that the file creates and its
    /// own session. On a server that is not dbdyno's own, other things are other people's.
    ///
    /// # Errors
    /// [`NotAllowed`] with the statement's place.
    pub fn check_for_given_server(&self) -> Result<(), NotAllowed> {
        let is_own = |name: &TableName| {
            let mut tables = self.tables.iter();
            name.database.is_none() && tables.any(|table| table.name == name.table)
        };
        for statement in &self.statements {
            let foreign = match statement.target() {
                Target::Session => continue,
                Target::Creates(name) if is_own(&name) => continue,
                Target::Creates(name) => Some(name),
                Target::Changes(names) => match names.into_iter().find(|name| !is_own(name)) {
                    None => continue,
                    Some(name) => Some(name),
                },
                Target::Database(_) | Target::Other => None,
            };
            let why = match foreign {
                Some(TableName {
                    database: Some(database),
                    table,
                }) => format!("{database}.{table} names a database"),
                Some(name) => format!("this file does not create {}", name.table),
                None => "it may change more than the tables that this file creates".to_owned(),
            };
            return Err(NotAllowed {
                place: statement.place(),
                statement: beginning(statement.text()),
                why,
            });
        }
        Ok(())
    }
}

/// The beginning of a statement on one line, for a message.
pub fn beginning(statement: &[u8]) -> String {
    let head = &statement[..statement.len().min(4 * QUOTED_AT_MOST)];
    let text = String::from_utf8_lossy(head);
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = words.join(" ");
    let mut cut: String = line.chars().take(QUOTED_AT_MOST).collect();
    if cut.len() < line.len() || head.len() < statement.len() {
        cut.push_str("...");
    }
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema(text: &str) -> Result<Schema, SchemaError> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("schema.sql");
        std::fs::write(&path, text).unwrap();
        Schema::read(&path)
    }

    #[test]
    fn tables_are_known_by_their_columns() {
        let schema = schema(
            "-- a shop\ncreate table customer (id int primary key, name varchar(20));\n\
             create view names as select name from customer;\n\
             CREATE TABLE `orders` (id int, customer int,\n foreign key (customer) references customer (id));\n",
        );
        let tables = schema.unwrap().tables;
        assert_eq!(
            tables.iter().map(|it| it.name.as_str()).collect::<Vec<_>>(),
            ["customer", "orders"]
        );
        assert_eq!(tables[1].layouts, ["id, customer"]);
    }

    #[test]
    fn only_its_own_tables_are_touched_on_a_given_server() {
        for (text, why) in [
            (
                "create table t (a int); drop table if exists t; insert into t values (1); set @a = 1",
                None,
            ),
            (
                "create table t (a int); drop table u",
                Some("this file does not create u"),
            ),
            (
                "create table t (a int); drop table shop.t",
                Some("shop.t names a database"),
            ),
            (
                "create table t (a int); create view v as select 1",
                Some("it may change more"),
            ),
        ] {
            let found = schema(text).unwrap().check_for_given_server();
            match why {
                None => assert!(found.is_ok(), "{text}"),
                Some(why) => assert!(found.unwrap_err().to_string().contains(why), "{text}"),
            }
        }
    }

    #[test]
    fn files_that_cannot_be_a_schema_are_errors() {
        for (text, message) in [
            ("-- nothing\n", "it contains no statement"),
            (
                "create table t (a int);\nuse shop;",
                "schema.sql:2:1: USE shop",
            ),
            (
                "create table t (a int);\nselect 'a",
                "2:8: a quotation is not closed",
            ),
        ] {
            let error = schema(text).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
    }

    #[test]
    fn long_statements_are_quoted_by_their_beginning() {
        assert_eq!(beginning(b"insert\n into  t"), "insert into t");
        let long = beginning(&b"x y ".repeat(100));
        assert_eq!(long.chars().count(), QUOTED_AT_MOST + 3);
        assert!(long.ends_with("..."));
    }
}
