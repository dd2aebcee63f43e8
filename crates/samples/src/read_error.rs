//! The errors of reading a run record.

use std::{io, path::PathBuf};

use crate::line::FORMAT;

/// A record that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file could not be read.
    #[error("cannot read run record {}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
    /// A line other than the last one is invalid.
    #[error("run record line {number} is not valid: {source}")]
    Line {
        /// Line number from 1.
        number: usize,
        source: serde_json::Error,
    },
    /// The first line does not describe a run.
    #[error("run record does not begin with a run line")]
    NoHeader,
    /// The record has another format version.
    #[error(
        "run record has format {found}, and this dbdyno reads format {FORMAT}: take the dbdyno that its first line names (dbdyno_version)"
    )]
    Format {
        /// Format version in the file.
        found: u32,
    },
}
