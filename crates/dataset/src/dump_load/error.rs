//! Why a dump was not loaded.

use std::path::PathBuf;

use super::mariadb_syntax::hint_to_syntax;
use crate::own_data::{beginning, dump::SplitError};

/// Why a dump was not loaded. What was loaded before is incomplete.
#[derive(Debug, thiserror::Error)]
pub enum DumpError {
    #[error("{}: {source}", path.display())]
    Read {
        path: PathBuf,
        source: std::io::Error,
    },
    /// Rows that waited cannot be read again.
    #[error("a file without a name in {}: {source}", directory.display())]
    Spool {
        directory: PathBuf,
        source: std::io::Error,
    },
    /// A file is no list of statements.
    #[error("{}: {source}", path.display())]
    Split { path: PathBuf, source: SplitError },
    /// A file is no SQL, and errors do not quote it.
    #[error("{}: {what}", path.display())]
    Foreign {
        path: PathBuf,
        /// What it is not.
        what: String,
    },
    #[error("{place}: {statement}: {message}")]
    Statement {
        /// File and line.
        place: String,
        /// Its beginning.
        statement: String,
        /// The server's message.
        message: String,
        hint: Option<String>,
    },
    #[error("{place}: a second database, {second}, after {first}")]
    Databases {
        /// File and line.
        place: String,
        first: String,
        second: String,
    },
    /// The server cannot be reached, or a connection was lost.
    #[error("{0}")]
    Connection(protocol::Error),
    #[error("interrupted while loading; the tables are incomplete")]
    Interrupted,
    /// A thread or its event loop could not be set up.
    #[error("cannot set up a thread: {0}")]
    Thread(#[from] std::io::Error),
}

pub(super) fn failed(place: &str, text: &[u8], error: protocol::Error) -> DumpError {
    let Some(of_server) = error.server_error() else {
        return DumpError::Connection(error);
    };
    let hint = hint_to_syntax(of_server, text).or_else(|| error.hint());
    DumpError::Statement {
        place: place.to_owned(),
        statement: beginning(text),
        message: error.to_string(),
        hint,
    }
}
