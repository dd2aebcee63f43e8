//! The redo log of the commit probe: the writes that a server makes for its commits, as strace shows them.
//!
//! ```text
//! MariaDB 10.11   pwrite64(ib_logfile0, 4096 bytes, the same block for some commits)        past the page cache
//! MySQL 9.7       pwrite64(#ib_redo6, 1024, 232448)  pwrite64(#ib_redo6, 512, 233472)       through the page cache
//! ```
//!
//! MySQL writes the blocks of 512 bytes that are complete and then the one that is not, which the next commit writes again.
//! Where an area of 8 KiB (`innodb_log_write_ahead_size`) begins, it writes the whole area, so that the page cache has to read
//! nothing.

use std::{
    fs::{File, OpenOptions},
    io,
    os::unix::fs::{FileExt, OpenOptionsExt},
};

use rustix::fs::OFlags;
use samples::CommitSequence;

use crate::{
    aligned::{ALIGNMENT, AlignedBuffer},
    error::Error,
    test_file::TestFile,
};

pub(crate) const REDO: &str = "redo.dat";
/// Its size, bytes.
pub(crate) const SIZE: u64 = 16 << 20;
/// A block of MariaDB, bytes, and the commits that one takes.
const BLOCK: u64 = 4096;
const COMMITS_PER_BLOCK: u64 = 10;
/// A block of MySQL, an area that it writes ahead, and what one commit adds to the log; bytes.
const SMALL_BLOCK: u64 = 512;
const AREA: u64 = 8192;
const COMMIT: u64 = 870;

/// The file, and where its next commit goes.
#[derive(Debug)]
pub(crate) struct RedoLog {
    file: File,
    sequence: CommitSequence,
    buffer: AlignedBuffer,
    /// Commits so far (MariaDB), or bytes since the begin of the file (MySQL).
    at: u64,
}

impl RedoLog {
    /// Writes it whole before the first commit, as that of a server is.
    pub(crate) fn create(
        test: &TestFile,
        sequence: CommitSequence,
        direct: bool,
        writers: u32,
    ) -> Result<Self, Error> {
        let path = test.path(REDO);
        let failed = |error| Error::io("write", &path)(error);
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true);
        if direct && is_direct(sequence) {
            options.custom_flags(OFlags::DIRECT.bits().cast_signed());
        }
        let file = options.open(&path).map_err(failed)?;
        let unit = AlignedBuffer::random(1 << 18, 2);
        let size = unit.bytes().len() as u64;
        for number in 0..SIZE / size {
            file.write_all_at(unit.bytes(), number * size)
                .map_err(failed)?;
        }
        file.sync_all().map_err(failed)?;
        // One group is at most a commit of each writer.
        let largest = match sequence {
            CommitSequence::Mariadb => (u64::from(writers) / COMMITS_PER_BLOCK + 2) * BLOCK,
            CommitSequence::Mysql => u64::from(writers) * COMMIT + 3 * AREA,
        };
        let largest = (largest as usize).next_multiple_of(ALIGNMENT);
        Ok(Self {
            file,
            sequence,
            buffer: AlignedBuffer::random(largest, 3),
            at: 0,
        })
    }

    /// Makes a group of commits durable.
    pub(crate) fn flush(&mut self, commits: u64) -> io::Result<()> {
        let writes = match self.sequence {
            CommitSequence::Mariadb => self.writes_of_mariadb(commits),
            CommitSequence::Mysql => self.writes_of_mysql(commits),
        };
        for (begin, length) in writes.into_iter().filter(|(_, length)| *length > 0) {
            let bytes = &self.buffer.bytes()[..length as usize];
            self.file.write_all_at(bytes, begin)?;
        }
        self.file.sync_data()
    }

    /// The blocks that the group touches, in one write.
    fn writes_of_mariadb(&mut self, commits: u64) -> [(u64, u64); 2] {
        let blocks = SIZE / BLOCK;
        let first = self.at / COMMITS_PER_BLOCK;
        self.at += commits;
        let last = (self.at - 1) / COMMITS_PER_BLOCK;
        // A group that passes the end of the log goes to its begin as a whole.
        let count = (last - first + 1).min(blocks);
        let begin = match first % blocks {
            begin if begin + count <= blocks => begin,
            _ => 0,
        };
        [(begin * BLOCK, count * BLOCK), (0, 0)]
    }

    /// The complete blocks, then the one that is not, or all areas that begin.
    fn writes_of_mysql(&mut self, commits: u64) -> [(u64, u64); 2] {
        if self.at + commits * COMMIT + AREA > SIZE {
            self.at = 0;
        }
        let first = self.at / SMALL_BLOCK * SMALL_BLOCK;
        let area = self.at.next_multiple_of(AREA);
        self.at += commits * COMMIT;
        if self.at > area {
            let areas = (self.at - area).next_multiple_of(AREA);
            return [(first, area - first), (area, areas)];
        }
        let last = self.at / SMALL_BLOCK * SMALL_BLOCK;
        [(first, last - first), (last, SMALL_BLOCK)]
    }
}

/// Whether the server writes its redo log past the page cache.
pub(crate) fn is_direct(sequence: CommitSequence) -> bool {
    sequence == CommitSequence::Mariadb
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(test: &TestFile, sequence: CommitSequence) -> RedoLog {
        RedoLog::create(test, sequence, false, 100).unwrap()
    }

    #[test]
    fn mariadb_writes_one_block_for_ten_commits() {
        let place = tempfile::tempdir().unwrap();
        let test = TestFile::claim(place.path()).unwrap();
        let mut log = log(&test, CommitSequence::Mariadb);
        let writes: Vec<_> = (0..11).map(|_| log.writes_of_mariadb(1)[0]).collect();
        assert_eq!(writes[..10], [(0, 4096); 10]);
        assert_eq!(writes[10], (4096, 4096));
        assert_eq!(log.writes_of_mariadb(20)[0], (4096, 3 * 4096));
    }

    #[test]
    fn mysql_writes_complete_blocks_and_the_next_one() {
        let place = tempfile::tempdir().unwrap();
        let test = TestFile::claim(place.path()).unwrap();
        let mut log = log(&test, CommitSequence::Mysql);
        assert_eq!(log.writes_of_mysql(1), [(0, 0), (0, 8192)]);
        assert_eq!(log.writes_of_mysql(1), [(512, 1024), (1536, 512)]);
        log.at = 232_448 + 300;
        assert_eq!(log.writes_of_mysql(1), [(232_448, 1024), (233_472, 512)]);
        // As the trace has it where an area begins.
        log.at = 229_376 - 500;
        assert_eq!(log.writes_of_mysql(1), [(228_864, 512), (229_376, 8192)]);
        log.at = 229_376;
        assert_eq!(log.writes_of_mysql(20), [(229_376, 0), (229_376, 24_576)]);
        // As much as the trace: 2.1 KB for a commit.
        log.at = 0;
        let all: Vec<_> = (0..1_000).flat_map(|_| log.writes_of_mysql(1)).collect();
        let bytes: u64 = all.iter().map(|it| it.1).sum();
        assert!((1_900..2_300).contains(&(bytes / 1_000)), "{bytes}");
    }

    #[test]
    fn the_log_wraps() {
        let place = tempfile::tempdir().unwrap();
        let test = TestFile::claim(place.path()).unwrap();
        for sequence in [CommitSequence::Mariadb, CommitSequence::Mysql] {
            let mut log = log(&test, sequence);
            log.at = match sequence {
                CommitSequence::Mariadb => SIZE / BLOCK * COMMITS_PER_BLOCK - 15,
                CommitSequence::Mysql => SIZE - 20_000,
            };
            for commits in [1, 100, 1] {
                log.flush(commits).unwrap();
            }
            let written = std::fs::metadata(test.path(REDO)).unwrap().len();
            assert_eq!(written, SIZE);
        }
    }
}
