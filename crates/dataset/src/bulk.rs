//! Loads lines of rows into a table by LOAD DATA LOCAL, or by INSERT where the server refuses LOAD DATA LOCAL.

use bstr::ByteSlice;
use protocol::{Connection, LocalSource};

use crate::inserts::{InsertStatement, Inserts};

/// Errors of a server that refuses LOAD DATA LOCAL: command not allowed (MySQL 5.x), loading local data is disabled
/// (MySQL 8, MariaDB), disabled by capability (MariaDB).
const LOCAL_INFILE_OFF: [u16; 4] = [1148, 3948, 3950, 4166];
/// Target size of an INSERT statement; at most half of the server's limit.
const INSERT_BYTES: usize = 1 << 20;
/// Duplicate key, with the key's name or without.
const DUPLICATE: [&str; 2] = ["1062", "1586"];

/// Lines of fields to load into a table, such as `7<tab>24<tab>name`, each with a line end.
///
/// They are parsed as LOAD DATA parses them: a backslash escapes, `\N` is NULL.
#[derive(Debug, Clone, Copy)]
pub struct Lines<'l> {
    /// The table's name, as written in SQL.
    pub table: &'l str,
    /// Its columns in the order of the fields, such as `(id, k)`; empty for all columns.
    pub columns: &'l str,
    /// Separator between two fields.
    pub separator: u8,
    /// Character set of the lines, such as `binary`; none for that of the database.
    pub charset: Option<&'l str>,
    /// Name of the lines in the statement: their file, or that they are generated.
    pub name: &'l str,
}

/// Values that the server changed while it loaded the lines, which its SQL mode allows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Adjusted {
    pub warnings: u32,
    /// The first of them.
    pub first: String,
}

/// Lines that could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum BulkError {
    /// A statement failed, or the source of the lines did.
    #[error("{sql}: {source}")]
    Statement {
        /// The statement, without its rows.
        sql: String,
        source: protocol::Error,
    },
    #[error("the server refuses a row: {message}")]
    Refused {
        /// The server's message; it counts rows from `rows_before`.
        message: String,
        /// Rows that were loaded before the refused statement.
        rows_before: u64,
    },
}

/// True for the error of a server that refuses LOAD DATA LOCAL; nothing has been read from the source then.
pub fn refuses_local(error: &BulkError) -> bool {
    let BulkError::Statement { source, .. } = error else {
        return false;
    };
    source
        .server_number()
        .is_some_and(|number| LOCAL_INFILE_OFF.contains(&number))
}

impl Lines<'_> {
    /// Streams the lines by LOAD DATA LOCAL.
    pub async fn load_local(
        &self,
        connection: &mut Connection,
        source: &mut dyn LocalSource,
    ) -> Result<Option<Adjusted>, BulkError> {
        let sql = self.load_statement();
        let outcome = connection
            .load_local(&sql, source)
            .await
            .map_err(|source| BulkError::Statement { sql, source })?;
        if outcome.warnings == 0 {
            return Ok(None);
        }
        // LOCAL turns every error of a row into a warning, because the server cannot stop the transmission.
        match first_warning(connection).await? {
            None => Ok(None),
            Some(warning) if warning.is_error => Err(BulkError::Refused {
                message: warning.message,
                rows_before: 0,
            }),
            Some(warning) => Ok(Some(Adjusted {
                warnings: outcome.warnings,
                first: warning.message,
            })),
        }
    }

    /// Sends the lines as INSERT statements of many rows.
    pub async fn insert(
        &self,
        connection: &mut Connection,
        source: &mut dyn LocalSource,
    ) -> Result<Option<Adjusted>, BulkError> {
        let target = format!("{} {}", self.table, self.columns);
        let target = target.trim_end();
        let limit = insert_bytes(connection).await;
        let mut inserts = Inserts::new(target, self.separator, limit);
        let mut piece = Vec::new();
        let mut rows_before = 0;
        let mut adjusted = None;
        loop {
            piece.clear();
            let more = source
                .fill(&mut piece)
                .map_err(|source| self.failed(protocol::Error::Source { source }))?;
            let mut rest = &piece[..];
            while !rest.is_empty() {
                if let Some(statement) = inserts.feed(&mut rest) {
                    rows_before += self
                        .send(connection, statement, rows_before, &mut adjusted)
                        .await?;
                    inserts.clear();
                }
            }
            if !more {
                if let Some(statement) = inserts.finish() {
                    self.send(connection, statement, rows_before, &mut adjusted)
                        .await?;
                }
                return Ok(adjusted);
            }
        }
    }

    async fn send(
        &self,
        connection: &mut Connection,
        statement: InsertStatement<'_>,
        rows_before: u64,
        adjusted: &mut Option<Adjusted>,
    ) -> Result<u64, BulkError> {
        match connection.query(statement.sql).await {
            Ok(outcome) => {
                note_warnings(connection, outcome.warnings, adjusted).await?;
                Ok(statement.rows)
            }
            // Deadlock, lock wait timeout, shutdown: not caused by the rows.
            Err(source) if matches!(source.server_number(), Some(1053 | 1205 | 1213 | 1317)) => {
                Err(self.failed(source))
            }
            Err(protocol::Error::Server(refusal)) => Err(BulkError::Refused {
                message: refusal.message,
                rows_before,
            }),
            Err(source) => Err(self.failed(source)),
        }
    }

    fn failed(&self, source: protocol::Error) -> BulkError {
        let sql = format!("insert into {} values ...", self.table);
        BulkError::Statement { sql, source }
    }

    fn load_statement(&self) -> String {
        let mut name = Vec::new();
        protocol::escape_into(self.name.as_bytes(), &mut name);
        let mut separator = Vec::new();
        protocol::escape_into(&[self.separator], &mut separator);
        let charset = self
            .charset
            .map(|charset| format!("character set {charset} "))
            .unwrap_or_default();
        let sql = format!(
            "load data local infile '{}' into table {} {charset}fields terminated by '{}' {}",
            name.as_bstr(),
            self.table,
            separator.as_bstr(),
            self.columns
        );
        sql.trim_end().to_owned()
    }
}

/// Target size of one INSERT statement in bytes: low enough that the last row may exceed it within the server's limit.
async fn insert_bytes(connection: &mut Connection) -> usize {
    let sets = connection.rows("select @@max_allowed_packet").await;
    let packet_bytes = sets.ok().and_then(|sets| first_number(&sets));
    packet_bytes.map_or(INSERT_BYTES, |bytes| INSERT_BYTES.min((bytes / 2) as usize))
}

/// The first value of a result, as a number.
pub fn first_number(sets: &[protocol::ResultSet]) -> Option<u64> {
    let value = sets.first()?.rows.first()?.first()?.as_deref()?;
    value.to_str().ok()?.parse().ok()
}

/// The first warning of a LOAD DATA LOCAL above the level of a note.
#[derive(Debug)]
struct Warning {
    message: String,
    /// It would have been an error without LOCAL.
    is_error: bool,
}

/// Adds the warnings of an INSERT; notes alone do not mean that a value was changed.
async fn note_warnings(
    connection: &mut Connection,
    warnings: u32,
    adjusted: &mut Option<Adjusted>,
) -> Result<(), BulkError> {
    match adjusted {
        _ if warnings == 0 => {}
        Some(known) => known.warnings = known.warnings.saturating_add(warnings),
        None => {
            let first = first_warning(connection).await?;
            *adjusted = first.map(|first| Adjusted {
                warnings,
                first: first.message,
            });
        }
    }
    Ok(())
}

/// Reads the warnings of the previous statement.
async fn first_warning(connection: &mut Connection) -> Result<Option<Warning>, BulkError> {
    let warnings = rows(connection, "show warnings").await?;
    let mode = rows(connection, "select @@sql_mode").await?;
    let is_strict = mode
        .first()
        .and_then(|row| row.first()?.as_deref())
        .is_some_and(|mode| mode.contains_str("STRICT_"));
    Ok(warnings.into_iter().find_map(|row| {
        let mut values = row
            .into_iter()
            .map(|value| value.unwrap_or_default().to_str_lossy().into_owned());
        let (level, code, message) = (values.next()?, values.next()?, values.next()?);
        (level != "Note").then(|| Warning {
            is_error: is_strict || DUPLICATE.contains(&code.as_str()),
            message,
        })
    }))
}

async fn rows(
    connection: &mut Connection,
    sql: &str,
) -> Result<Vec<Vec<Option<Vec<u8>>>>, BulkError> {
    match connection.rows(sql).await {
        Ok(sets) => Ok(sets.into_iter().next().unwrap_or_default().rows),
        Err(source) => Err(BulkError::Statement {
            sql: sql.to_owned(),
            source,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn load_statements() {
        let lines = Lines {
            table: "t",
            columns: "",
            separator: b',',
            charset: None,
            name: "it's",
        };
        assert_eq!(
            lines.load_statement(),
            "load data local infile 'it\\'s' into table t fields terminated by ','"
        );
        let lines = Lines {
            columns: "(id, k)",
            separator: b'\t',
            charset: Some("binary"),
            name: "generated",
            ..lines
        };
        assert_eq!(
            lines.load_statement(),
            "load data local infile 'generated' into table t character set binary fields terminated by '\t' (id, k)"
        );
    }
}
