//! Appends lines to a run record.

use std::{
    fs::{File, OpenOptions, TryLockError},
    io::{self, Write},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use crate::line::Line;

/// How often the lock of a new record is tried.
const LOCK_TRIES: u32 = 1000;

/// The record could not be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write run record {}: {source}", path.display())]
pub struct WriteError {
    /// The record's file.
    pub path: PathBuf,
    /// What the system said.
    pub source: io::Error,
}

/// Appends lines to one run record; clones write to the same file, whole lines at a time.
#[derive(Debug, Clone)]
pub struct RecordWriter {
    path: Arc<PathBuf>,
    file: Arc<Mutex<File>>,
}

impl RecordWriter {
    /// Creates the file; one that exists already is an error, so that no record is ever overwritten.
    ///
    /// The file is locked (flock) as long as this writer or a clone of it lives, so that who follows the record knows
    /// whether more may come: the lock of a process that is killed goes with it.
    pub fn create(path: &Path) -> Result<Self, WriteError> {
        let file = OpenOptions::new()
            .create_new(true)
            .append(true)
            .open(path)
            .map_err(|source| WriteError {
                path: path.to_owned(),
                source,
            })?;
        // Nobody else has a new file but one who asked in this moment whether it is written to. Without locks, as on
        // some network file systems, the record is as good.
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

    /// The record's file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends one line in one write, so that a crash tears at most the last line.
    pub fn append(&self, line: &Line) -> Result<(), WriteError> {
        let mut text = serde_json::to_vec(line).expect("a line holds only maps with string keys");
        text.push(b'\n');
        // A writer that panicked has written whole lines or nothing: the file is still good.
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.write_all(&text).map_err(|source| WriteError {
            path: self.path().to_owned(),
            source,
        })
    }
}
