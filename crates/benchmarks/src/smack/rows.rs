//! The rows of a table as a stream of lines: from a generator or from a file.

use std::{
    fs::File,
    io::{self, Read},
    path::Path,
};

use bstr::ByteSlice;
use protocol::LocalSource;

use super::{
    Error,
    data_file::data_file,
    gen_data::{GenData, GenDataStream},
    table_event::{TableEvent, Watch},
};

/// Read buffer for a file, bytes.
const READ_BYTES: u64 = 1 << 20;

/// Lines of comma-separated fields.
#[derive(Debug)]
pub(super) enum RowSource {
    Generated(Box<GenDataStream>),
    File {
        file: File,
        path: std::path::PathBuf,
    },
    Empty,
}

impl RowSource {
    pub(super) fn generated(generator: &GenData) -> Self {
        Self::Generated(Box::new(generator.stream()))
    }

    pub(super) fn open(path: &Path) -> Result<Self, Error> {
        match files::open_regular(path) {
            Ok(file) => Ok(Self::File {
                file,
                path: path.to_owned(),
            }),
            Err(source) => Err(data_file(path, source)),
        }
    }

    pub(super) fn empty() -> Self {
        Self::Empty
    }

    /// Appends the next piece, which may end within a line; false at the end.
    pub(super) fn fill(&mut self, piece: &mut Vec<u8>) -> Result<bool, Error> {
        match self {
            Self::Generated(stream) => Ok(stream.fill(piece)),
            Self::File { file, path } => match file.take(READ_BYTES).read_to_end(piece) {
                Ok(bytes) => Ok(bytes > 0),
                Err(source) => Err(data_file(path, source)),
            },
            Self::Empty => Ok(false),
        }
    }
}

/// A row source for the connection that reports its progress.
pub(super) struct Watched<'w, 'e> {
    source: &'w mut RowSource,
    of: Option<u64>,
    rows: u64,
    watch: &'w mut Watch<'e>,
    failure: Option<Error>,
}

impl<'w, 'e> Watched<'w, 'e> {
    pub(super) fn new(
        source: &'w mut RowSource,
        of: Option<u64>,
        watch: &'w mut Watch<'e>,
    ) -> Self {
        Self {
            source,
            of,
            rows: 0,
            watch,
            failure: None,
        }
    }

    /// Passes an event to the observer.
    pub(super) fn tell(&mut self, event: TableEvent<'_>) {
        (self.watch)(event);
    }

    /// The error of the source, if it failed.
    pub(super) fn failure(self) -> Option<Error> {
        self.failure
    }
}

impl LocalSource for Watched<'_, '_> {
    fn fill(&mut self, buffer: &mut Vec<u8>) -> io::Result<bool> {
        let start = buffer.len();
        match self.source.fill(buffer) {
            Ok(more) => {
                let lines = buffer[start..].find_iter(b"\n").count() as u64;
                self.rows += lines;
                if lines > 0 {
                    (self.watch)(TableEvent::Sent {
                        rows: self.rows,
                        of: self.of,
                    });
                }
                Ok(more)
            }
            Err(error) => {
                let told = io::Error::other(error.to_string());
                self.failure = Some(error);
                Err(told)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_counts_lines() {
        let generator = GenData::new(50_000, b"%12-12s%n,%25-25s,%n,%d").unwrap();
        let mut source = RowSource::generated(&generator);
        let mut seen = Vec::new();
        let mut watch = |event: TableEvent<'_>| {
            if let TableEvent::Sent { rows, of } = event {
                seen.push((rows, of));
            }
        };
        let mut watched = Watched::new(&mut source, Some(50_000), &mut watch);
        let mut buffer = Vec::new();
        while watched.fill(&mut buffer).unwrap() {
            buffer.clear();
        }
        assert!(seen.len() > 1);
        assert_eq!(seen.last(), Some(&(50_000, Some(50_000))));
    }
}
