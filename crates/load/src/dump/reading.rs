//! The thread that reads the files of a dump, decompresses and splits them.

use std::{
    fs::File,
    io::{self, BufRead, Read},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc,
    },
    thread,
};

use files::HandedOver;
use workload::{
    own_data::dump::{DumpStatement, Splitter},
    sql_script::refuse_foreign_text,
};

use crate::dump::{error::DumpError, queue::Queue, source::Source, sql_mode::SqlMode};

/// Bytes that are read at once.
const PIECE_BYTES: usize = 256 << 10;
/// Statements that wait for the one who sends them.
const WAITING_AT_MOST: usize = 2;

/// What the thread hands over.
pub(super) enum Piece {
    /// The file, a statement, and whether a backslash protects a byte in it.
    Statement(Arc<Source>, DumpStatement, bool),
    Failed(DumpError),
}

/// The files and how much of them was read.
#[derive(Debug)]
pub(super) struct Reading {
    files: Vec<PathBuf>,
    bytes: AtomicU64,
    bytes_expected: u64,
    text_bytes: AtomicU64,
}

impl Reading {
    pub(super) fn of(files: &[PathBuf]) -> Self {
        let lengths = files.iter().filter_map(|path| path.metadata().ok());
        Self {
            files: files.to_vec(),
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
    ) -> io::Result<mpsc::Receiver<Piece>> {
        let (sender, receiver) = mpsc::sync_channel(WAITING_AT_MOST);
        let builder = thread::Builder::new().name("dump-reader".to_owned());
        builder.spawn_scoped(scope, move || {
            let mut mode = SqlMode::default();
            for path in &self.files {
                match self.read(path, &mut mode, &sender, queue) {
                    Ok(true) => {}
                    // The receiver is gone: the load has ended.
                    Ok(false) => return,
                    Err(error) => {
                        let _ = sender.send(Piece::Failed(error));
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
        sender: &mpsc::SyncSender<Piece>,
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
        let mut piece = vec![0; PIECE_BYTES];
        let mut is_first = true;
        loop {
            let read = input.read(&mut piece).map_err(failed)?;
            if std::mem::take(&mut is_first) {
                refuse_foreign_text(path, &piece[..read]).map_err(|what| DumpError::Foreign {
                    path: path.to_owned(),
                    what,
                })?;
            }
            self.text_bytes.fetch_add(read as u64, Ordering::Relaxed);
            if read == 0 {
                splitter.end();
            } else {
                splitter.feed(&piece[..read]);
            }
            loop {
                let next = splitter
                    .next_statement()
                    .map_err(|source| DumpError::Split {
                        path: path.to_owned(),
                        source,
                    })?;
                let Some(statement) = next else { break };
                let has_backslashes = mode.has_backslashes;
                mode.execute(&statement.text);
                splitter.set_backslashes(mode.has_backslashes);
                if queue.has_failed() {
                    return Ok(false);
                }
                let piece = Piece::Statement(Arc::clone(&source), statement, has_backslashes);
                if sender.send(piece).is_err() {
                    return Ok(false);
                }
            }
            if read == 0 {
                return Ok(true);
            }
        }
    }

    fn open(&self, file: File) -> io::Result<HandedOver<'_>> {
        let counted = Counted {
            file,
            bytes: &self.bytes,
        };
        let mut input = HandedOver::of(counted)?;
        if input.fill_buf()?.iter().take(512).any(|byte| *byte == 0) {
            let message = "it begins with bytes that are no SQL";
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
struct Counted<'r> {
    file: File,
    bytes: &'r AtomicU64,
}

impl Read for Counted<'_> {
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

    fn read(name: &str, content: &[u8]) -> io::Result<String> {
        let directory = tempfile::tempdir()?;
        let path = directory.path().join(name);
        fs::write(&path, content)?;
        let mut text = String::new();
        Reading::of(&[])
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

    #[test]
    fn a_file_that_ends_early_is_an_error() {
        let zstd = zstd::encode_all(&[7; 100_000][..], 1).unwrap();
        for length in [5, zstd.len() / 2, zstd.len() - 1] {
            assert!(read("a.sql.zst", &zstd[..length]).is_err(), "{length}");
        }
    }
}
