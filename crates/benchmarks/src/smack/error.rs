//! Errors of a .smack file and its data.

use std::{io, path::PathBuf};

use blame::{Blame, Blamed};

use crate::diagnostic::Diagnostic;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file has a fault.
    #[error("{0}")]
    Script(Box<Diagnostic>),
    /// A file with words or rows cannot be read.
    #[error("data file {}: {source}", path.display())]
    DataFile { path: PathBuf, source: io::Error },
    /// A file with words does not exist.
    #[error("dictionary '{name}': file {} failed to stat", path.display())]
    NoWordFile { name: String, path: PathBuf },
    #[error("dictionary '{name}' is empty: {words}")]
    EmptyDictionary {
        name: String,
        /// The source of its words.
        words: String,
    },
    /// Words that exceed the index of a dictionary.
    #[error("dictionary '{name}' is too large: 4096 of its words have more than 4 GiB")]
    DictionaryTooLarge {
        /// The dictionary.
        name: String,
    },
    /// A mix that does not fit the barrel.
    #[error("mix '{mix}': {reason}")]
    Mix {
        /// The mix as the user wrote it.
        mix: String,
        reason: String,
    },
    /// A client that the file does not define, or without a barrel.
    #[error("client '{name}' {reason}")]
    Client { name: String, reason: &'static str },
    /// The command that makes a data file failed.
    #[error("shell command '{command}' failed: {reason}")]
    ShellCommand {
        command: String,
        /// Exit status or error.
        reason: String,
    },
    /// A table without rows to load.
    #[error("table '{table}': {reason}")]
    Table {
        table: String,
        reason: &'static str,
        hint: &'static str,
    },
    /// A statement failed while a table was created.
    #[error("Error running query {sql}:{source}")]
    Statement {
        sql: String,
        source: protocol::Error,
    },
    /// The server refused rows.
    #[error("table '{table}': the server refuses rows: {message}")]
    Refused {
        table: String,
        /// The server's message.
        message: String,
    },
    #[error("{0}")]
    Row(Box<RefusedRow>),
}

/// A row that the server refused, with the reason.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("table '{table}': the server refuses row {row}, column '{column}': {message}; {cause}")]
pub struct RefusedRow {
    pub table: String,
    /// Row of the data, from 1.
    pub row: u64,
    pub column: String,
    /// The server's message.
    pub message: String,
    /// The cause in the data or in its format.
    pub cause: String,
    pub remedy: String,
}

impl Error {
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Script(diagnostic) => diagnostic.hint.clone(),
            Self::NoWordFile { .. } => Some(
                "name the directory of the data files with -D, or give a table of the file this data_file and a gen_data_file".to_owned(),
            ),
            Self::Table { hint, .. } => Some((*hint).to_owned()),
            Self::Statement { source, .. } => source.hint(),
            Self::Row(row) => Some(row.remedy.clone()),
            _ => None,
        }
    }
}

impl From<Box<Diagnostic>> for Error {
    fn from(diagnostic: Box<Diagnostic>) -> Self {
        Self::Script(diagnostic)
    }
}

impl From<Error> for Blamed {
    fn from(error: Error) -> Self {
        let hint = error.hint();
        match error {
            Error::Statement { source, .. } if source.is_connection_lost() => {
                Self::new(Blame::Server, source).hint(hint)
            }
            Error::Statement { .. } => Self::new(Blame::Server, error).hint(hint),
            _ => Self::new(Blame::Input, error).hint(hint),
        }
    }
}
