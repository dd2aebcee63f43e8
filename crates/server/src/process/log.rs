//! The server's own log.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Length of the part of the log that is read from its end, bytes.
const TAIL_BYTES: u64 = 64 * 1024;

pub(crate) fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .append(true)
        .create(true)
        .mode(0o640)
        .open(path)
}

/// Its length in bytes; 0 when there is none yet.
pub(crate) fn length(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |metadata| metadata.len())
}

/// The last lines of the part after the first `from` bytes.
pub(crate) fn tail(path: &Path, from: u64, lines: usize) -> String {
    let read = || -> io::Result<Vec<u8>> {
        let mut file = File::open(path)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(from.max(length.saturating_sub(TAIL_BYTES))))?;
        let mut bytes = Vec::new();
        file.take(TAIL_BYTES).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    // The log only adds to another error; an unreadable log adds nothing.
    let bytes = read().unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let all: Vec<&str> = text.lines().collect();
    all[all.len().saturating_sub(lines)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn the_tail_begins_after_the_given_length() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("server.log");
        assert_eq!((length(&path), tail(&path, 0, 5)), (0, String::new()));
        let mut log = open(&path).unwrap();
        log.write_all(b"one\ntwo\n").unwrap();
        let from = length(&path);
        log.write_all(b"three\nfour\n").unwrap();
        assert_eq!(tail(&path, 0, 3), "two\nthree\nfour");
        assert_eq!(tail(&path, from, 3), "three\nfour");
        log.write_all(&b"x\n".repeat(100_000)).unwrap();
        assert_eq!(tail(&path, 0, 2), "x\nx");
    }
}
