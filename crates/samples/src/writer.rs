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
///
/// After a line that could not be written, as on a full disk, no later one is: it would stand behind the torn one, also
/// when there is space again, and a record torn in its middle cannot be read.
#[derive(Debug, Clone)]
pub struct RecordWriter {
    path: Arc<PathBuf>,
    appended: Arc<Mutex<Appended>>,
}

#[derive(Debug)]
struct Appended {
    file: File,
    /// The error of the line that could not be written.
    failed: Option<io::Error>,
}

impl Appended {
    fn append(&mut self, text: &[u8]) -> io::Result<()> {
        if let Some(error) = &self.failed {
            return Err(again(error));
        }
        self.file.write_all(text).inspect_err(|error| {
            self.failed = Some(again(error));
        })
    }
}

/// The same error, which the standard library cannot clone.
fn again(error: &io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(code) => io::Error::from_raw_os_error(code),
        None => error.kind().into(),
    }
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
            appended: Arc::new(Mutex::new(Appended { file, failed: None })),
        })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends one line in a single write, so that a crash can tear at most the last line.
    ///
    /// # Errors
    ///
    /// The line could not be written, or an earlier one could not.
    pub fn append(&self, line: &Line) -> Result<(), WriteError> {
        self.append_text(&text_of(line))
    }

    fn append_text(&self, text: &[u8]) -> Result<(), WriteError> {
        // A panicking writer has written either complete lines or nothing: the file is still valid.
        let mut appended = self.appended.lock().unwrap_or_else(PoisonError::into_inner);
        appended.append(text).map_err(|source| WriteError {
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

    /// Appends one line to each record, see [`RecordWriter::append`], also to those behind one that refuses it.
    ///
    /// # Errors
    ///
    /// The first one of the records.
    pub fn append(&self, line: &Line) -> Result<(), WriteError> {
        let text = text_of(line);
        self.0
            .iter()
            .map(|it| it.append_text(&text))
            .fold(Ok(()), Result::and)
    }
}

fn text_of(line: &Line) -> Vec<u8> {
    let mut text = serde_json::to_vec(line).expect("a line holds only maps with string keys");
    text.push(b'\n');
    text
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::end::End;

    fn end() -> Line {
        Line::End(End {
            t_s: 2.0,
            complete: true,
            why: "as planned".to_owned(),
        })
    }

    /// A writer whose disk is full: half of a line got onto it.
    fn torn(path: &Path) -> RecordWriter {
        let writer = RecordWriter::create(path).unwrap();
        {
            let mut appended = writer.appended.lock().unwrap();
            appended.file.write_all(b"{\"line\":\"run\",").unwrap();
            let disk = std::mem::replace(&mut appended.file, File::create("/dev/full").unwrap());
            let full = appended.append(&text_of(&end())).unwrap_err();
            assert!(is_full(&full));
            appended.file = disk;
        }
        writer
    }

    #[test]
    fn behind_a_torn_line_none_is_written_even_if_there_is_space_again() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("run-0001.jsonl");
        let writer = torn(&path);
        let refused = writer.clone().append(&end()).unwrap_err();
        assert!(is_full(&refused.source), "{refused}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "{\"line\":\"run\",");
    }

    #[test]
    fn a_line_for_all_records_reaches_those_behind_a_full_one() {
        let directory = tempfile::tempdir().unwrap();
        let [full, other] = ["1", "2"].map(|it| directory.path().join(it));
        let records = vec![torn(&full), RecordWriter::create(&other).unwrap()];
        let error = RunWriter::new(records).append(&end()).unwrap_err();
        assert_eq!(error.path, full);
        assert_eq!(fs::read(&other).unwrap(), text_of(&end()));
    }
}
