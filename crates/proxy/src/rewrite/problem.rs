//! What is wrong with a file of rules.

use std::{io, ops::Range, path::Path};

/// A file of rules that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RewriteError {
    #[error("{path}: {source}")]
    Unreadable { path: String, source: io::Error },
    /// Its content is no set of rules.
    #[error("{path}: line {line}: {what}")]
    Wrong {
        path: String,
        /// The line, from 1.
        line: usize,
        /// The key, and what is wrong with its value.
        what: String,
    },
}

/// A place in the text of a file, and what is wrong there.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Problem {
    pub(super) at: usize,
    pub(super) what: String,
}

impl Problem {
    /// A key's value is wrong.
    pub(super) fn of(span: &Range<usize>, key: &str, what: impl std::fmt::Display) -> Self {
        Self {
            at: span.start,
            what: format!("{key}: {what}"),
        }
    }

    /// The error of the whole file.
    pub(super) fn in_file(self, path: &Path, text: &str) -> RewriteError {
        let before = text.as_bytes().get(..self.at).unwrap_or(text.as_bytes());
        RewriteError::Wrong {
            path: path.display().to_string(),
            line: 1 + before.iter().filter(|byte| **byte == b'\n').count(),
            what: self.what,
        }
    }
}
