//! The thread that reads the files of a dump, decompresses and splits them.

use std::{
    fs::File,
    io::{self, BufRead, Read},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread,
};

use files::UserText;
use reactor::channel::{Receiver, Sender, bounded};
use sqltext::refuse_foreign_text;

use crate::{
    dump_load::{error::DumpError, queue::Queue, source::Source, sql_mode::SqlMode},
    own_data::dump::{DumpHead, DumpStatement, Splitter, TAIL_BYTES},
};

/// Bytes that are read at once.
const PIECE_BYTES: u64 = 256 << 10;
/// Pieces that wait for the one who sends them.
const WAITING_AT_MOST: usize = 2;

/// What the thread hands over.
pub(super) enum ReaderEvent {
    /// The statements that end in one part of a file. One by one, a busy processor would switch threads for each of the
    /// thousands of short statements.
    Statements(Arc<Source>, Vec<ReadStatement>),
    /// The first lines say the database.
    Database(String),
    /// The file may have been cut off, in words.
    CutOff(String),
    Failed(DumpError),
}

/// A statement, and how it is to be read.
pub(super) struct ReadStatement {
    pub(super) statement: DumpStatement,
    /// Whether a backslash protects a byte in it.
    pub(super) has_backslashes: bool,
}

/// The files and how much of them was read.
#[derive(Debug)]
pub(super) struct Reading {
    files: Vec<PathBuf>,
    /// The mode before the first statement.
    mode: SqlMode,
    bytes: AtomicU64,
    bytes_expected: u64,
    text_bytes: AtomicU64,
}

impl Reading {
    /// Files with the settings of the session before the first statement.
    pub(super) fn of(files: &[PathBuf], session: &[String]) -> Self {
        let lengths = files.iter().filter_map(|path| path.metadata().ok());
        let mut mode = SqlMode::default();
        for set in session {
            mode.execute(set.as_bytes());
        }
        Self {
            files: files.to_vec(),
            mode,
            bytes: AtomicU64::new(0),
            bytes_expected: lengths.map(|metadata| metadata.len()).sum(),
            text_bytes: AtomicU64::new(0),
        }
    }

    /// Bytes of the files, compressed or not, that stand for what was read less this many bytes of text.
    pub(super) fn bytes_less(&self, text_bytes: u64) -> u64 {
        let bytes = self.bytes.load(Ordering::Relaxed) as f64;
        let all = self.text_bytes.load(Ordering::Relaxed).max(1);
        (bytes * (all.saturating_sub(text_bytes) as f64 / all as f64)) as u64
    }

    pub(super) fn bytes_expected(&self) -> u64 {
        self.bytes_expected
    }

    /// Starts the thread; it ends when the receiver is dropped.
    pub(super) fn start<'s>(
        &'s self,
        scope: &'s thread::Scope<'s, '_>,
        queue: &'s Queue<'_>,
    ) -> io::Result<Receiver<ReaderEvent>> {
        let (sender, receiver) = bounded(WAITING_AT_MOST);
        let builder = thread::Builder::new().name("dump-reader".to_owned());
        builder.spawn_scoped(scope, move || {
            let mut mode = self.mode.clone();
            for path in &self.files {
                match self.read(path, &mut mode, &sender, queue) {
                    Ok(true) => {}
                    // The receiver is gone: the load has ended.
                    Ok(false) => return,
                    Err(error) => {
                        let _ = sender.send(ReaderEvent::Failed(error));
                        return;
                    }
                }
            }
        })?;
        Ok(receiver)
    }

    fn read(
        &self,
        path: &Path,
        mode: &mut SqlMode,
        sender: &Sender<ReaderEvent>,
        queue: &Queue<'_>,
    ) -> Result<bool, DumpError> {
        let failed = |source| DumpError::Read {
            path: path.to_owned(),
            source,
        };
        let file = File::open(path).map_err(failed)?;
        let read = file.try_clone().map_err(failed)?;
        let mut input = self.open(read).map_err(failed)?;
        let source = Arc::new(Source {
            path: path.to_owned(),
            file,
            is_plain: input.is_plain(),
        });
        let mut splitter = Splitter::default();
        if has_bodies(path) {
            splitter.set_delimiter(b";\n");
        }
        // All files are one session.
        splitter.set_backslashes(mode.has_backslashes);
        let mut text = Vec::new();
        let mut head = None;
        let mut tail = Vec::new();
        loop {
            text.clear();
            // One read gives less where the input is a chain, and the first piece has to have the first lines.
            let mut piece = input.by_ref().take(PIECE_BYTES);
            let read = piece.read_to_end(&mut text).map_err(failed)?;
            if head.is_none() {
                refuse_foreign_text(path, &text).map_err(|what| DumpError::Foreign {
                    path: path.to_owned(),
                    what,
                })?;
                let database = head.insert(DumpHead::of(&text)).database.clone();
                if let Some(name) = database
                    && sender.send(ReaderEvent::Database(name)).is_err()
                {
                    return Ok(false);
                }
            }
            tail.extend_from_slice(&text[read.saturating_sub(TAIL_BYTES)..]);
            tail.drain(..tail.len().saturating_sub(TAIL_BYTES));
            self.text_bytes.fetch_add(read as u64, Ordering::Relaxed);
            if read == 0 {
                splitter.end();
            } else {
                splitter.feed(&text);
            }
            let mut statements = Vec::new();
            let end = loop {
                match splitter.next_statement() {
                    Ok(Some(statement)) => {
                        let has_backslashes = mode.has_backslashes;
                        mode.execute(&statement.text);
                        splitter.set_backslashes(mode.has_backslashes);
                        statements.push(ReadStatement {
                            statement,
                            has_backslashes,
                        });
                    }
                    Ok(None) => break Ok(()),
                    Err(source) => break Err(source),
                }
            };
            if queue.fail_if_interrupted() {
                return Ok(false);
            }
            if !statements.is_empty() {
                let piece = ReaderEvent::Statements(Arc::clone(&source), statements);
                if sender.send(piece).is_err() {
                    return Ok(false);
                }
            }
            // Those before the fault are executed, as if they had come alone.
            end.map_err(|source| DumpError::Split {
                path: path.to_owned(),
                source,
            })?;
            if read == 0 {
                let missing = head.and_then(|head| head.missing_last_line(&tail));
                let note = missing.map(|line| {
                    format!(
                        "{} does not end with \"{line}\": it may have been cut off",
                        path.display()
                    )
                });
                return Ok(note.is_none_or(|note| sender.send(ReaderEvent::CutOff(note)).is_ok()));
            }
        }
    }

    fn open(&self, file: File) -> io::Result<UserText<'_>> {
        let counted = CountingReader {
            file,
            bytes: &self.bytes,
        };
        let mut input = UserText::of(counted)?;
        if input.fill_buf()?.iter().take(512).any(|byte| *byte == 0) {
            let message = "it begins with bytes that are not SQL";
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        Ok(input)
    }
}

/// Whether a file of mydumper has triggers or routines: within them it writes `; ` at the end of a line, so that only the end
/// of a statement is a `;` there. Source: directories that mydumper wrote.
fn has_bodies(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let parts = ["-schema-triggers.sql", "-schema-post.sql"];
    parts.iter().any(|part| name.contains(part))
}

/// Counts what is read of a file.
struct CountingReader<'r> {
    file: File,
    bytes: &'r AtomicU64,
}

impl Read for CountingReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(buffer)?;
        self.bytes.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, io::Write};

    use flate2::{Compression, write::GzEncoder};

    use super::*;
    use reactor::Interrupt;

    fn read(name: &str, content: &[u8]) -> io::Result<String> {
        let directory = tempfile::tempdir()?;
        let path = directory.path().join(name);
        fs::write(&path, content)?;
        let mut text = String::new();
        Reading::of(&[], &[])
            .open(File::open(path)?)?
            .read_to_string(&mut text)?;
        Ok(text)
    }

    #[test]
    fn the_content_says_how_it_is_compressed() {
        let text = "SELECT 1;\n".repeat(50_000);
        let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
        gzip.write_all(text.as_bytes()).unwrap();
        let zstd = zstd::encode_all(text.as_bytes(), 1).unwrap();
        let contents = [text.clone().into_bytes(), gzip.finish().unwrap(), zstd];
        for content in &contents {
            assert_eq!(read("a.sql", content).unwrap(), text);
        }
        // Parts that were compressed one by one.
        for content in &contents[1..] {
            assert_eq!(read("a", &content.repeat(2)).unwrap(), text.repeat(2));
        }
    }

    /// What the reader says of a file beside its statements, and the number of these.
    fn told(content: &[u8]) -> (Vec<String>, usize) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.sql");
        fs::write(&path, content).unwrap();
        let interrupt = Interrupt::default();
        let queue = Queue::new(&interrupt, 1, 0);
        let reading = Reading::of(&[path], &[]);
        thread::scope(|scope| {
            let pieces = reading.start(scope, &queue).unwrap();
            let (mut told, mut statements) = (Vec::new(), 0);
            for piece in pieces {
                match piece {
                    ReaderEvent::Statements(_, all) => statements += all.len(),
                    ReaderEvent::Database(name) => told.push(name),
                    ReaderEvent::CutOff(note) => {
                        told.push(note.rsplit('/').next().unwrap().to_owned())
                    }
                    ReaderEvent::Failed(error) => panic!("{error}"),
                }
            }
            (told, statements)
        })
    }

    #[test]
    fn the_database_and_a_missing_last_line_are_told() {
        let head =
            "-- MySQL dump 10.13  Distrib 8.0.33\n--\n-- Host: localhost    Database: shop\n";
        let rows = "INSERT INTO t VALUES (1);\n".repeat(20_000);
        let whole = format!("{head}{rows}-- Dump completed on 2026-01-02\n");
        let cut = format!("{head}{rows}");
        let note = "a.sql does not end with \"-- Dump completed\": it may have been cut off";
        for (text, notes) in [
            (&whole, vec!["shop"]),
            (&cut, vec!["shop", note]),
            (&rows, vec![]),
        ] {
            let zstd = zstd::encode_all(text.as_bytes(), 1).unwrap();
            for content in [text.as_bytes(), &zstd] {
                assert_eq!(
                    told(content),
                    (notes.iter().map(|it| (*it).to_owned()).collect(), 20_000)
                );
            }
        }
    }

    #[test]
    fn a_file_that_ends_early_is_an_error() {
        let zstd = zstd::encode_all(&[7; 100_000][..], 1).unwrap();
        for length in [5, zstd.len() / 2, zstd.len() - 1] {
            assert!(read("a.sql.zst", &zstd[..length]).is_err(), "{length}");
        }
    }
}
