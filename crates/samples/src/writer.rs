//! The writer of run records.

use std::{
    fs::{File, OpenOptions, TryLockError},
    io::{self, Write},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use blame::{Blame, Blamed, is_full};

use crate::line::Line;

/// Number of attempts to lock a new record.
const LOCK_TRIES: u32 = 1000;

#[derive(Debug, thiserror::Error)]
#[error("cannot write run record {}: {source}", path.display())]
pub struct WriteError {
    pub path: PathBuf,
    pub source: io::Error,
}

impl From<WriteError> for Blamed {
    fn from(error: WriteError) -> Self {
        let full = is_full(&error.source);
        let hint = full.then(|| "free some space, then continue with --resume".to_owned());
        Self::new(Blame::Machine, error).hint(hint)
    }
}

/// Appends lines to one run record; clones write to the same file, each a complete line at a time.
#[derive(Debug, Clone)]
pub struct RecordWriter {
    path: Arc<PathBuf>,
    file: Arc<Mutex<File>>,
}

impl RecordWriter {
    /// Creates the file; an existing file is an error, so that no record is ever overwritten.
    ///
    /// The file is locked (flock) during the lifetime of this writer and its clones, so that a reader that follows the
    /// record knows whether more lines may follow. If the process is killed, the kernel releases the lock.
    pub fn create(path: &Path) -> Result<Self, WriteError> {
        let file = OpenOptions::new()
            .create_new(true)
            .append(true)
            .open(path)
            .map_err(|source| WriteError {
                path: path.to_owned(),
                source,
            })?;
        // Only a reader that is just checking for a writer can hold the lock of a new file. If the file system has no
        // locks, as some network file systems, the record is still valid.
        let _ = (0..LOCK_TRIES).any(|_| match file.try_lock() {
            Err(TryLockError::WouldBlock) => {
                std::thread::yield_now();
                false
            }
            Ok(()) | Err(TryLockError::Error(_)) => true,
        });
        Ok(Self {
            path: Arc::new(path.to_owned()),
            file: Arc::new(Mutex::new(file)),
        })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends one line in a single write, so that a crash can tear at most the last line.
    pub fn append(&self, line: &Line) -> Result<(), WriteError> {
        self.append_text(&text_of(line))
    }

    fn append_text(&self, text: &[u8]) -> Result<(), WriteError> {
        // A panicking writer has written either complete lines or nothing: the file is still valid.
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.write_all(text).map_err(|source| WriteError {
            path: self.path().to_owned(),
            source,
        })
    }
}

/// The records of one run, one for each of its loads, for lines that all of them get: those about machine and server.
#[derive(Debug, Clone)]
pub struct RunWriter(Vec<RecordWriter>);

impl RunWriter {
    pub fn new(records: Vec<RecordWriter>) -> Self {
        Self(records)
    }

    /// Appends one line to each record, see [`RecordWriter::append`].
    pub fn append(&self, line: &Line) -> Result<(), WriteError> {
        let text = text_of(line);
        self.0.iter().try_for_each(|it| it.append_text(&text))
    }
}

fn text_of(line: &Line) -> Vec<u8> {
    let mut text = serde_json::to_vec(line).expect("a line holds only maps with string keys");
    text.push(b'\n');
    text
}
