//! Why a run record cannot be read.

use std::{io, path::PathBuf};

use crate::line::FORMAT;

/// A record that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file could not be read.
    #[error("cannot read run record {}: {source}", path.display())]
    Io {
        /// The record's file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A line that is not the last one is broken.
    #[error("run record line {number} is not valid: {source}")]
    Line {
        /// Line number from 1.
        number: usize,
        /// What is wrong.
        source: serde_json::Error,
    },
    /// The first line says nothing about the run.
    #[error("run record does not begin with a run line")]
    NoHeader,
    /// Another program wrote the record.
    #[error(
        "run record has format {found}, and this dbdyno reads format {FORMAT}: take the dbdyno that its first line names (dbdyno_version)"
    )]
    Format {
        /// Format in the file.
        found: u32,
    },
}
