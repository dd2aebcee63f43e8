//! A statement with rows on its way to a connection.

use std::{os::unix::fs::FileExt, sync::Arc};

use crate::dump_load::{columns::TableColumns, error::DumpError, source::Source, spool::Spooled};

/// A statement with rows.
#[derive(Debug)]
pub(super) struct Job {
    /// File and line.
    pub(super) place: String,
    pub(super) text: JobText,
    pub(super) columns: Arc<TableColumns>,
    /// Number of the settings that hold for it.
    pub(super) sets: usize,
}

/// Where the text of a statement is.
#[derive(Debug)]
pub(super) enum JobText {
    /// In memory.
    Kept(Vec<u8>),
    /// In a file that is not compressed. It is read once more when it is sent: rows that wait take no memory, so that the
    /// dump can be read far enough ahead for each connection to have a table of its own.
    InFile {
        source: Arc<Source>,
        at: u64,
        bytes: usize,
    },
    /// In a file of ours, so that a compressed dump can be read ahead as far.
    Spooled(Spooled),
}

impl JobText {
    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::Kept(text) => text.len(),
            Self::InFile { bytes, .. } => *bytes,
            Self::Spooled(text) => text.bytes(),
        }
    }

    /// The text, by way of a buffer where it is in a file.
    pub(super) fn get<'t>(&'t self, buffer: &'t mut Vec<u8>) -> Result<&'t [u8], DumpError> {
        match self {
            Self::Kept(text) => Ok(text),
            Self::InFile { source, at, bytes } => {
                buffer.resize(*bytes, 0);
                let read = source.file.read_exact_at(buffer, *at);
                let failed = |error| DumpError::Read {
                    path: source.path.clone(),
                    source: error,
                };
                read.map_err(failed)?;
                Ok(buffer)
            }
            Self::Spooled(text) => {
                text.read(buffer)?;
                Ok(buffer)
            }
        }
    }
}
