//! A reader for run records that may still be written to.

use std::{
    fs::{File, TryLockError},
    io::{self, Read},
    path::{Path, PathBuf},
};

use crate::{
    line::{FORMAT, Line},
    line_reader::too_long,
    read_error::ReadError,
};

/// A run record from its beginning, and the lines appended to it.
#[derive(Debug)]
pub struct RecordTail {
    path: PathBuf,
    file: File,
    /// The part of an incomplete line that has been read.
    begun: Vec<u8>,
    /// Number of complete lines so far.
    lines: usize,
    /// True once the run line, which is the first one, has been read.
    has_header: bool,
}

/// Largest number of bytes per read.
const READ_AT_ONCE: u64 = 64 << 10;

impl RecordTail {
    pub fn open(path: &Path) -> Result<Self, ReadError> {
        let file = files::open_regular(path).map_err(|source| failed(path, source))?;
        Ok(Self {
            path: path.to_owned(),
            file,
            begun: Vec::new(),
            lines: 0,
            has_header: false,
        })
    }

    /// Whether the process that writes the record is alive; `None` if the file system has no locks. A record that its
    /// dbdyno did not lock, or that is just being created, seems to have no writer.
    pub fn is_written(&self) -> Option<bool> {
        match self.file.try_lock_shared() {
            Ok(()) => {
                // Closing the file releases the lock at the latest.
                let _ = self.file.unlock();
                Some(false)
            }
            Err(TryLockError::WouldBlock) => Some(true),
            Err(TryLockError::Error(_)) => None,
        }
    }

    /// Lines completed since the last call, in the first call since the beginning of the record; empty if there are
    /// none. An incomplete line waits for the next call. A call returns a part of the lines, so that a long record need
    /// not be in memory as a whole.
    ///
    /// The errors are those of [`crate::Record::read`]: an invalid line, a first line that is not a run line, a newer
    /// format.
    pub fn lines(&mut self) -> Result<Vec<Line>, ReadError> {
        loop {
            let read = Read::by_ref(&mut self.file)
                .take(READ_AT_ONCE)
                .read_to_end(&mut self.begun)
                .map_err(|source| failed(&self.path, source))?;
            let lines = self.whole_lines()?;
            if !lines.is_empty() || read == 0 {
                return Ok(lines);
            }
        }
    }

    /// The complete lines of the data read so far.
    fn whole_lines(&mut self) -> Result<Vec<Line>, ReadError> {
        let Some(end) = self.begun.iter().rposition(|byte| *byte == b'\n') else {
            self.check_begun()?;
            return Ok(Vec::new());
        };
        let whole: Vec<u8> = self.begun.drain(..=end).collect();
        let mut lines = Vec::new();
        for text in whole[..end].split(|byte| *byte == b'\n') {
            self.lines += 1;
            if text.is_empty() {
                continue;
            }
            let line = serde_json::from_slice(text).map_err(|source| ReadError::Line {
                number: self.lines,
                source,
            })?;
            match &line {
                Line::Run(header) if header.format != FORMAT => {
                    let found = header.format;
                    return Err(ReadError::Format { found });
                }
                Line::Run(_) => self.has_header = true,
                _ if !self.has_header => return Err(ReadError::NoHeader),
                _ => {}
            }
            lines.push(line);
        }
        self.check_begun()?;
        Ok(lines)
    }

    /// An error if the incomplete line can never become valid: there is no need to wait for its end.
    fn check_begun(&self) -> Result<(), ReadError> {
        let number = self.lines + 1;
        if let Some(error) = too_long(self.begun.len(), number) {
            return Err(error);
        }
        if self.has_header || self.begun.is_empty() {
            return Ok(());
        }
        match serde_json::from_slice::<Line>(&self.begun) {
            Err(source) if !source.is_eof() => Err(ReadError::Line { number, source }),
            _ => Ok(()),
        }
    }
}

fn failed(path: &Path, source: io::Error) -> ReadError {
    ReadError::Io {
        path: path.to_owned(),
        source,
    }
}

#[cfg(test)]
mod tests {
    use std::{fs::OpenOptions, io::Write};

    use super::*;
    use crate::RecordWriter;

    const RUN: &str = r#"{"line":"run","format":1,"dbdyno_version":"0.1.0","experiment":"quick","experiment_sha256":"","seed":7,"run":1,"block":1,"combination":{},"started_at":"2026-11-21T09:00:00Z","connections":8,"loops":4,"io":"epoll","transport":"unix socket"}"#;
    const END: &str = r#"{"line":"end","t_s":2.0,"complete":true,"why":"as planned"}"#;

    #[test]
    fn lines_come_when_they_are_whole() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("record.jsonl");
        let mut file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&path)
            .unwrap();
        let mut tail = RecordTail::open(&path).unwrap();
        assert_eq!(tail.lines().unwrap(), []);
        let (begin, rest) = END.split_at(20);
        write!(file, "{RUN}\n{begin}").unwrap();
        let lines = tail.lines().unwrap();
        assert!(matches!(lines.as_slice(), [Line::Run(_)]), "{lines:?}");
        assert_eq!(tail.lines().unwrap(), []);
        writeln!(file, "{rest}").unwrap();
        let lines = tail.lines().unwrap();
        assert!(matches!(lines.as_slice(), [Line::End(_)]), "{lines:?}");
    }

    #[test]
    fn a_long_record_comes_in_pieces() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("record.jsonl");
        let count = 3 * READ_AT_ONCE as usize / END.len();
        let text = format!("{RUN}\n\n{}", format!("{END}\n").repeat(count));
        std::fs::write(&path, text).unwrap();
        let mut tail = RecordTail::open(&path).unwrap();
        let mut pieces = Vec::new();
        loop {
            let lines = tail.lines().unwrap();
            assert!(tail.begun.capacity() < 2 * READ_AT_ONCE as usize + END.len());
            if lines.is_empty() {
                break;
            }
            pieces.push(lines.len());
        }
        assert!(pieces.len() >= 3, "{pieces:?}");
        assert_eq!(pieces.iter().sum::<usize>(), 1 + count);
    }

    #[test]
    fn what_is_no_record_is_an_error() {
        let directory = tempfile::tempdir().unwrap();
        let lines_of = |text: &str| {
            let path = directory.path().join("record.jsonl");
            std::fs::write(&path, text).unwrap();
            RecordTail::open(&path).unwrap().lines()
        };
        assert!(matches!(
            lines_of(&format!("{END}\n")),
            Err(ReadError::NoHeader)
        ));
        assert!(matches!(
            lines_of(&format!("{RUN}\nnonsense\n")),
            Err(ReadError::Line { number: 2, .. })
        ));
        let newer = RUN.replace(r#""format":1"#, r#""format":99"#);
        assert!(matches!(
            lines_of(&format!("{newer}\n")),
            Err(ReadError::Format { found: 99 })
        ));
        assert!(RecordTail::open(&directory.path().join("none")).is_err());
        // Also without the end of a line, and after an empty one.
        for nonsense in ["nonsense", "\0\0\0", "[1,2", "{\"line\":\"dance\"}"] {
            assert!(
                matches!(lines_of(nonsense), Err(ReadError::Line { number: 1, .. })),
                "{nonsense}"
            );
        }
        assert!(matches!(
            lines_of(&format!("\n{END}\n")),
            Err(ReadError::NoHeader)
        ));
        for cut in 0..RUN.len() {
            assert_eq!(lines_of(&RUN[..cut]).unwrap(), [], "{cut}");
        }
    }

    #[test]
    fn a_record_is_written_as_long_as_its_writer_lives() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("record.jsonl");
        let writer = RecordWriter::create(&path).unwrap();
        let tail = RecordTail::open(&path).unwrap();
        assert_eq!(tail.is_written(), Some(true));
        let other = writer.clone();
        drop(writer);
        assert_eq!(tail.is_written(), Some(true));
        drop(other);
        assert_eq!(tail.is_written(), Some(false));
        assert_eq!(tail.is_written(), Some(false), "asking holds no lock");
    }
}
