//! A file without a name in which rows of compressed dumps wait for a connection.

use std::{
    collections::BTreeMap,
    fs::File,
    io,
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use rustix::fs::fstatvfs;

use crate::dump_load::error::DumpError;

/// Places begin at a multiple of this many bytes, so that one text is not written over a part of a page of another.
const BLOCK: u64 = 4096;
/// It takes at most what is free in the file system divided by this.
const SHARE_OF_FREE: u64 = 4;

/// The file. The place of a text is used again once its rows are in: giving its blocks back instead took more CPU
/// (bench/RESULTS.md, "A dump against its bounds").
#[derive(Debug)]
pub(super) struct Spool {
    directory: PathBuf,
    file: File,
    room: u64,
    places: Mutex<Places>,
}

/// What is free in the file.
#[derive(Debug, Default)]
struct Places {
    /// Begin and length of the parts before the end; no two of them touch.
    free: BTreeMap<u64, u64>,
    end: u64,
    /// It cannot be written: others have filled the disk.
    is_closed: bool,
}

/// A text in the file.
#[derive(Debug)]
pub(super) struct Spooled {
    spool: Arc<Spool>,
    at: u64,
    bytes: usize,
}

impl Places {
    /// A place for a number of bytes, the first one that is long enough; `None` where the file would be longer than `room`.
    fn take(&mut self, bytes: u64, room: u64) -> Option<u64> {
        let mut free = self.free.iter();
        if let Some((&at, &length)) = free.find(|(_, length)| **length >= bytes) {
            self.free.remove(&at);
            if length > bytes {
                self.free.insert(at + bytes, length - bytes);
            }
            return Some(at);
        }
        let at = self.end;
        if self.is_closed || at + bytes > room {
            return None;
        }
        self.end += bytes;
        Some(at)
    }

    fn give_back(&mut self, at: u64, bytes: u64) {
        let (mut begin, mut end) = (at, at + bytes);
        if let Some((&before, &length)) = self.free.range(..at).next_back()
            && before + length == at
        {
            self.free.remove(&before);
            begin = before;
        }
        if let Some(length) = self.free.remove(&end) {
            end += length;
        }
        self.free.insert(begin, end - begin);
    }
}

impl Spool {
    /// An empty file in this directory for at most `room` bytes, and at most a share of what is free there.
    pub(super) fn make(directory: &Path, room: u64) -> io::Result<Self> {
        let file = tempfile::tempfile_in(directory)?;
        let space = fstatvfs(&file)?;
        let free = space.f_bavail * space.f_frsize;
        Ok(Self {
            directory: directory.to_owned(),
            file,
            room: room.min(free / SHARE_OF_FREE),
            places: Mutex::default(),
        })
    }

    /// Puts a text into it; `None` where there is no room.
    pub(super) fn put(self: &Arc<Self>, text: &[u8]) -> Option<Spooled> {
        let at = self.places().take(blocks(text.len()), self.room)?;
        if self.file.write_all_at(text, at).is_err() {
            // The place is lost: the next one may be the one that the disk has no room for.
            self.places().is_closed = true;
            return None;
        }
        Some(Spooled {
            spool: Arc::clone(self),
            at,
            bytes: text.len(),
        })
    }

    fn places(&self) -> MutexGuard<'_, Places> {
        // No code panics while it holds the lock.
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
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
        self.spool.places().give_back(self.at, blocks(self.bytes));
    }
}

/// Bytes of the blocks of a text.
fn blocks(bytes: usize) -> u64 {
    (bytes as u64).next_multiple_of(BLOCK)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_come_out_as_they_went_in() {
        let directory = tempfile::tempdir().unwrap();
        let spool = Arc::new(Spool::make(directory.path(), 1 << 20).unwrap());
        let texts: Vec<Vec<u8>> = (1..=9).map(|byte| vec![byte; 10_000]).collect();
        let mut spooled: Vec<Spooled> = texts.iter().map(|it| spool.put(it).unwrap()).collect();
        // The place of one that is gone is taken by another one.
        drop(spooled.remove(4));
        spooled.push(spool.put(&[10; 5000]).unwrap());
        spooled.push(spool.put(&[11; 3000]).unwrap());
        let mut buffer = vec![7; 50_000];
        let read: Vec<(u8, usize)> = (spooled.iter())
            .map(|it| {
                it.read(&mut buffer).unwrap();
                assert!(buffer.iter().all(|byte| *byte == buffer[0]));
                (buffer[0], buffer.len())
            })
            .collect();
        let kept = [1, 2, 3, 4, 6, 7, 8, 9].map(|byte| (byte, 10_000));
        assert_eq!(read, [&kept[..], &[(10, 5000), (11, 3000)]].concat());
        assert_eq!(spool.file.metadata().unwrap().len(), 8 * 3 * BLOCK + 10_000);
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

    #[test]
    fn places_that_touch_become_one() {
        let mut places = Places::default();
        let taken: Vec<u64> = (0..5).filter_map(|_| places.take(2, 10)).collect();
        assert_eq!(taken, [0, 2, 4, 6, 8]);
        for at in [2, 6, 4] {
            places.give_back(at, 2);
        }
        assert_eq!(places.free, BTreeMap::from([(2, 6)]));
        assert_eq!(places.take(5, 10), Some(2));
        assert_eq!(places.take(2, 10), None);
        assert_eq!(places.take(1, 10), Some(7));
        assert!(places.free.is_empty());
    }
}
