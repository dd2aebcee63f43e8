//! A file without a name in which rows of compressed dumps wait for a connection.

use std::{
    fs::File,
    io,
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use rustix::fs::{FallocateFlags, fallocate, fstatvfs};

use crate::dump::error::DumpError;

/// Places begin at a multiple of this many bytes: a file system takes whole blocks back. Most have blocks of 4 KiB.
const BLOCK: u64 = 4096;
/// Of what is free in the file system it takes at most one of so many parts.
const SHARE_OF_FREE: u64 = 4;

/// The file. What was taken out of it takes no room in the file system any more.
#[derive(Debug)]
pub(super) struct Spool {
    directory: PathBuf,
    file: File,
    room: u64,
    used: AtomicU64,
    end: AtomicU64,
    /// It takes no more: it cannot be written, or the file system does not take blocks back.
    is_closed: AtomicBool,
}

/// A text in the file; its room is free again when it is dropped.
#[derive(Debug)]
pub(super) struct Spooled {
    spool: Arc<Spool>,
    at: u64,
    bytes: usize,
}

impl Spool {
    /// An empty file in this directory for at most so many bytes, and at most a share of what is free there.
    pub(super) fn make(directory: &Path, room: u64) -> io::Result<Self> {
        let file = tempfile::tempfile_in(directory)?;
        let space = fstatvfs(&file)?;
        let free = space.f_bavail * space.f_frsize;
        Ok(Self {
            directory: directory.to_owned(),
            file,
            room: room.min(free / SHARE_OF_FREE),
            used: AtomicU64::new(0),
            end: AtomicU64::new(0),
            is_closed: AtomicBool::new(false),
        })
    }

    /// Puts a text into it; `None` where there is no room. One thread calls it.
    pub(super) fn put(self: &Arc<Self>, text: &[u8]) -> Option<Spooled> {
        let blocks = blocks(text.len());
        let is_full = self.used.load(Ordering::Relaxed) + blocks > self.room;
        if is_full || self.is_closed.load(Ordering::Relaxed) {
            return None;
        }
        let at = self.end.load(Ordering::Relaxed);
        if self.file.write_all_at(text, at).is_err() {
            // Others have filled the disk.
            self.is_closed.store(true, Ordering::Relaxed);
            return None;
        }
        self.end.store(at + blocks, Ordering::Relaxed);
        self.used.fetch_add(blocks, Ordering::Relaxed);
        Some(Spooled {
            spool: Arc::clone(self),
            at,
            bytes: text.len(),
        })
    }
}

impl Spooled {
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Reads the text into a buffer in place of what that has.
    pub(super) fn read(&self, buffer: &mut Vec<u8>) -> Result<(), DumpError> {
        buffer.resize(self.bytes, 0);
        let read = self.spool.file.read_exact_at(buffer, self.at);
        read.map_err(|source| DumpError::Spool {
            directory: self.spool.directory.clone(),
            source,
        })
    }
}

impl Drop for Spooled {
    fn drop(&mut self) {
        let blocks = blocks(self.bytes);
        let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        match fallocate(&self.spool.file, flags, self.at, blocks) {
            Ok(()) => {
                self.spool.used.fetch_sub(blocks, Ordering::Relaxed);
            }
            // Not every file system can.
            Err(_) => self.spool.is_closed.store(true, Ordering::Relaxed),
        }
    }
}

/// Bytes of the blocks of a text.
fn blocks(bytes: usize) -> u64 {
    (bytes as u64).next_multiple_of(BLOCK)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use super::*;

    #[test]
    fn texts_come_out_as_they_went_in_and_leave_no_block() {
        let directory = tempfile::tempdir().unwrap();
        let spool = Arc::new(Spool::make(directory.path(), 1 << 20).unwrap());
        let texts: Vec<Vec<u8>> = (1..=9).map(|byte| vec![byte; 10_000]).collect();
        let mut spooled: Vec<Spooled> = texts.iter().map(|it| spool.put(it).unwrap()).collect();
        let mut buffer = vec![7; 50_000];
        // The neighbours of a text that is gone stay as they are.
        drop(spooled.remove(4));
        for (text, at) in [(3, 3), (5, 4)] {
            spooled[at].read(&mut buffer).unwrap();
            assert_eq!(buffer, texts[text]);
        }
        drop(spooled);
        assert_eq!(spool.file.metadata().unwrap().blocks(), 0);
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
    }

    #[test]
    fn no_more_than_its_room_is_taken() {
        let directory = tempfile::tempdir().unwrap();
        let spool = Arc::new(Spool::make(directory.path(), 3 * BLOCK).unwrap());
        let first = spool.put(&[1; 5000]).unwrap();
        assert!(spool.put(&[2; 5000]).is_none());
        drop(first);
        assert!(spool.put(&[3; 5000]).is_some());
    }
}
