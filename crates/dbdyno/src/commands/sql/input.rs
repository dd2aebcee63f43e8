//! The statements of a command: a file, or the command line.

use std::path::PathBuf;

use runs::{Blame, Blamed};
use workload::sql_script::{SqlScriptError, SqlStatement, statements_of, statements_of_file};

use super::{dear::DearStatements, executable::executable};
use crate::connection_options::ConnectionOptions;

#[derive(Debug, clap::Args)]
pub(super) struct InputArgs {
    /// File of statements, as the command-line client reads it (delimiter, source, comments)
    #[arg(value_name = "FILE", required_unless_present_any = ["execute", "from"])]
    file: Option<PathBuf>,
    /// Statement instead of a file, may be repeated
    #[arg(long, short = 'e', value_name = "STATEMENT", conflicts_with = "file")]
    execute: Vec<String>,
    /// Take the dearest statements of a slow query log, or of performance_schema: a file's name, or digest
    #[arg(long, value_name = "LOG|digest", conflicts_with_all = ["file", "execute"])]
    from: Option<PathBuf>,
    /// Number of statements of --from
    #[arg(long, value_name = "N", default_value = "10", requires = "from", value_parser = clap::value_parser!(u32).range(1..=1000))]
    top: u32,
}

impl InputArgs {
    /// The statements in their order; at least one.
    pub(super) fn statements(
        &self,
        connection: &ConnectionOptions,
    ) -> Result<Vec<SqlStatement>, Blamed> {
        if let Some(from) = &self.from {
            let dear = if from.as_os_str() == "digest" {
                DearStatements::of_digests(&connection.endpoint()?)?
            } else {
                DearStatements::of_slow_log(from)?
            };
            let (statements, note) = executable(dear, self.top as usize, &connection.endpoint()?)?;
            eprintln!("note: {note}");
            return Ok(statements);
        }
        let read = match &self.file {
            Some(path) => statements_of_file(path),
            None => self.of_command_line(),
        };
        let statements = read.map_err(|error| Blamed::new(Blame::Input, error))?;
        if statements.is_empty() {
            let what = match &self.file {
                Some(path) => path.display().to_string(),
                None => "-e".to_owned(),
            };
            return Err(Blamed::new(
                Blame::Input,
                format!("{what}: no statement in it"),
            ));
        }
        Ok(statements)
    }

    fn of_command_line(&self) -> Result<Vec<SqlStatement>, SqlScriptError> {
        let mut all = Vec::new();
        for (at, text) in self.execute.iter().enumerate() {
            let name = match self.execute.len() {
                1 => "-e".to_owned(),
                _ => format!("-e number {}", at + 1),
            };
            all.extend(statements_of(&name, text.clone().into_bytes())?);
        }
        Ok(all)
    }
}

/// The name of a statement: the word in its first comment, or its number from 1.
pub(super) fn statement_name(statement: &SqlStatement, at: usize) -> String {
    let label = statement.label().map(str::to_owned);
    label.unwrap_or_else(|| (at + 1).to_string())
}

/// Whether a statement only changes the session, for those that follow it.
pub(super) fn is_setting(statement: &SqlStatement) -> bool {
    match statement.verb().as_str() {
        "USE" | "SET" if statement.hidden_part().is_some() => false,
        "USE" => true,
        "SET" => !reaches_beyond_the_session(statement),
        _ => false,
    }
}

/// Whether a SET changes accounts, variables of the server or, as MariaDB's `SET STATEMENT ... FOR`, anything.
fn reaches_beyond_the_session(statement: &SqlStatement) -> bool {
    let words = [
        "global",
        "persist",
        "persist_only",
        "statement",
        "password",
        "resource",
    ];
    let is_default_role = || statement.has_word("default") && statement.has_word("role");
    words.iter().any(|word| statement.has_word(word)) || is_default_role()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_only_changes_the_session() {
        for (text, expected) in [
            ("set @limit = 50", true),
            ("set session sql_mode = default", true),
            ("set role reader", true),
            ("set names utf8mb4", true),
            ("use wiki", true),
            ("set global max_connections = 5", false),
            ("set @@`global`.max_connections = 5", false),
            ("set persist_only max_connections = 5", false),
            ("SET @@persist_only.max_connections = 5", false),
            (
                "set statement max_statement_time = 5 for delete from t",
                false,
            ),
            ("set password for u = 'p'", false),
            ("set default role r to u", false),
            ("set resource group r for 7", false),
            ("set @a = 1; drop table t", false),
            ("set @a = 1 /*! , global max_connections = 5 */", false),
            ("select 1", false),
        ] {
            let script = format!("delimiter //\n{text}//");
            let statements = statements_of("x", script.into_bytes()).unwrap();
            assert_eq!(is_setting(&statements[0]), expected, "{text}");
        }
    }
}
