//! The statements of a command: a file, or the command line.

use std::path::PathBuf;

use runs::{Blame, Blamed};
use workload::sql_script::{SqlScriptError, SqlStatement, statements_of, statements_of_file};

#[derive(Debug, clap::Args)]
pub(super) struct InputArgs {
    /// File of statements, as the command-line client reads it (delimiter, source, comments)
    #[arg(value_name = "FILE", required_unless_present = "execute")]
    file: Option<PathBuf>,
    /// Statement instead of a file, may be repeated
    #[arg(long, short = 'e', value_name = "STATEMENT", conflicts_with = "file")]
    execute: Vec<String>,
}

impl InputArgs {
    /// The statements in their order; at least one.
    pub(super) fn statements(&self) -> Result<Vec<SqlStatement>, Blamed> {
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

/// Whether a statement only changes the session, for those that follow it.
pub(super) fn is_setting(statement: &SqlStatement) -> bool {
    let is_global = || statement.has_word("global") || statement.has_word("persist");
    match statement.verb().as_str() {
        "USE" => true,
        "SET" => !is_global(),
        _ => false,
    }
}
