//! Why a file is not a list of statements, and where.

use std::{fmt, io, path::PathBuf};

/// Files of `source` within each other at most; a file that names itself would never end.
pub(super) const DEPTH_AT_MOST: usize = 16;

/// A line and column of a file, both from 1; columns are counted in characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    pub file: String,
    pub line: usize,
    pub column: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// Why a file is not a list of statements.
#[derive(Debug, thiserror::Error)]
pub enum SqlScriptError {
    #[error("{}: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    /// The file is no SQL, and errors do not quote it.
    #[error("{}: {what}", path.display())]
    Foreign {
        path: PathBuf,
        /// What it is not.
        what: String,
    },
    /// A quotation or a comment has no end.
    #[error("{place}: {what} is not closed")]
    Open {
        /// Where it begins.
        place: Place,
        /// A quotation or a comment.
        what: &'static str,
    },
    /// A command of the client has no argument, or one that cannot be used.
    #[error("{place}: {what}")]
    Command { place: Place, what: &'static str },
    /// Files name each other without an end.
    #[error("{place}: more than {DEPTH_AT_MOST} files within each other")]
    Depth {
        /// The line that names one file too many.
        place: Place,
    },
}
