//! The commit probe: what a durable commit costs, by the calls that a server makes for it.
//!
//! MariaDB 10.11 with `sync_binlog=1` and `innodb_flush_log_at_trx_commit=1` writes the current 4 KiB block of the redo log,
//! opened for direct I/O, and flushes it (`fdatasync`), then appends some 210 bytes to the binary log and flushes that; the
//! same block is written again and again until it is full. Source: strace of MariaDB 10.11. fio cannot alternate two files.
//!
//! Of several writers, those that wait share one pair of writes and flushes, as in the group commit of the server.

use std::{
    fs::{File, OpenOptions},
    io::{self, Write},
    os::unix::fs::{FileExt, OpenOptionsExt},
    sync::{
        Condvar, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use hdrhistogram::Histogram;
use reactor::{Instant, system_now};
use rustix::fs::OFlags;
use samples::{CommitResult, Latency};

use crate::{aligned::AlignedBuffer, error::Error, test_file::TestFile};

/// A block of the redo log, bytes.
const BLOCK: usize = 4096;
/// Blocks of the redo log: 16 MiB.
const BLOCKS: u64 = 4096;
/// Commits that one block of the redo log takes.
const COMMITS_PER_BLOCK: u64 = 10;
/// A transaction in the binary log, bytes.
const EVENT: usize = 210;
/// The binary log begins anew at this size, bytes: it must not fill the disk.
const BINLOG_AT_MOST: u64 = 64 << 20;
/// More writers than this are no probe of a disk.
pub(crate) const WRITERS_AT_MOST: u32 = 512;

/// Commits with a number of writers for a fixed time. The first signal ends the probe with an error.
pub fn commit_probe(
    test: &TestFile,
    direct: bool,
    writers: u32,
    duration: Duration,
    interrupt: &AtomicBool,
) -> Result<CommitResult, Error> {
    let writers = writers.clamp(1, WRITERS_AT_MOST);
    let logs = Logs::create(test, direct, writers)?;
    let group = Group {
        standing: Mutex::new(Standing::default()),
        ended: Condvar::new(),
        logs: Mutex::new(logs),
    };
    let begun = system_now();
    let until = begun + duration;
    let spans = thread::scope(|scope| {
        let threads: Vec<_> = (0..writers)
            .map(|_| scope.spawn(|| group.write_until(until, interrupt)))
            .collect();
        let joined = threads.into_iter().map(|it| {
            it.join()
                .unwrap_or_else(|_| Err(io::Error::other("a writer panicked")))
        });
        joined.collect::<Result<Vec<_>, _>>()
    });
    let elapsed_s = (system_now() - begun).as_secs_f64();
    let path = test.path(REDO);
    let spans = spans.map_err(Error::io("commit to", &path))?;
    if interrupt.load(Ordering::Relaxed) {
        return Err(Error::Interrupted);
    }
    let mut commit = histogram();
    for one in &spans {
        commit.add(one).expect("all have the same bounds");
    }
    let logs = group.logs.into_inner();
    let logs = logs.unwrap_or_else(PoisonError::into_inner);
    Ok(CommitResult {
        writers,
        elapsed_s,
        commits: commit.len(),
        groups: logs.redo_spans.len(),
        redo_direct: direct,
        commit: latency(&commit),
        redo: latency(&logs.redo_spans),
        binlog: latency(&logs.binlog_spans),
        device_flushes: None,
    })
}

const REDO: &str = "redo.dat";
const BINLOG: &str = "binlog.dat";

/// Both logs, and how long their writes and flushes took.
#[derive(Debug)]
struct Logs {
    redo: File,
    binlog: File,
    blocks: AlignedBuffer,
    events: Vec<u8>,
    /// Commits so far: the place in the redo log.
    committed: u64,
    binlog_bytes: u64,
    redo_spans: Histogram<u64>,
    binlog_spans: Histogram<u64>,
}

impl Logs {
    /// The redo log is written whole before, as a server's is; the binary log is empty.
    fn create(test: &TestFile, direct: bool, writers: u32) -> Result<Self, Error> {
        let path = test.path(REDO);
        let failed = |error| Error::io("write", &path)(error);
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true);
        if direct {
            options.custom_flags(OFlags::DIRECT.bits().cast_signed());
        }
        let redo = options.open(&path).map_err(failed)?;
        let unit = AlignedBuffer::random(64 * BLOCK, 2);
        for number in 0..BLOCKS / 64 {
            redo.write_all_at(unit.bytes(), number * unit.bytes().len() as u64)
                .map_err(failed)?;
        }
        redo.sync_all().map_err(failed)?;
        let path = test.path(BINLOG);
        let binlog = OpenOptions::new()
            .append(true)
            .create(true)
            .open(&path)
            .and_then(|file| file.set_len(0).map(|()| file));
        // One group is at most a commit of each writer.
        let blocks = u64::from(writers) / COMMITS_PER_BLOCK + 2;
        Ok(Self {
            redo,
            binlog: binlog.map_err(Error::io("write", &path))?,
            blocks: AlignedBuffer::random(blocks as usize * BLOCK, 3),
            events: AlignedBuffer::random(writers as usize * EVENT, 4)
                .bytes()
                .to_vec(),
            committed: 0,
            binlog_bytes: 0,
            redo_spans: histogram(),
            binlog_spans: histogram(),
        })
    }

    /// Makes a group of commits durable.
    fn flush(&mut self, commits: u64) -> io::Result<()> {
        let begun = system_now();
        let first = self.committed / COMMITS_PER_BLOCK;
        self.committed += commits;
        let last = (self.committed - 1) / COMMITS_PER_BLOCK;
        // A group that passes the end of the log goes to its begin as a whole.
        let count = (last - first + 1).min(BLOCKS);
        let at = match first % BLOCKS {
            at if at + count <= BLOCKS => at,
            _ => 0,
        };
        let blocks = &self.blocks.bytes()[..count as usize * BLOCK];
        self.redo.write_all_at(blocks, at * BLOCK as u64)?;
        self.redo.sync_data()?;
        let between = system_now();
        let bytes = commits as usize * EVENT;
        self.binlog.write_all(&self.events[..bytes])?;
        self.binlog.sync_data()?;
        let ended = system_now();
        self.redo_spans.saturating_record(span_ns(begun, between));
        self.binlog_spans.saturating_record(span_ns(between, ended));
        self.binlog_bytes += bytes as u64;
        if self.binlog_bytes > BINLOG_AT_MOST {
            self.binlog.set_len(0)?;
            self.binlog_bytes = 0;
        }
        Ok(())
    }
}

/// Who waits for what.
#[derive(Debug, Default)]
struct Standing {
    /// Commits that were asked for.
    asked: u64,
    /// Commits that are durable.
    durable: u64,
    is_flushing: bool,
    /// A failure ends all.
    failed: bool,
}

/// Writers that commit together.
struct Group {
    standing: Mutex<Standing>,
    ended: Condvar,
    logs: Mutex<Logs>,
}

impl Group {
    /// One writer: a commit after the other. Returns how long each took.
    fn write_until(&self, until: Instant, interrupt: &AtomicBool) -> io::Result<Histogram<u64>> {
        let mut spans = histogram();
        let mut begun = system_now();
        while begun < until && !interrupt.load(Ordering::Relaxed) {
            self.commit()?;
            let ended = system_now();
            spans.saturating_record(span_ns(begun, ended));
            begun = ended;
        }
        Ok(spans)
    }

    /// Returns when one commit more is durable; the first of those who wait flushes for all.
    fn commit(&self) -> io::Result<()> {
        let mut standing = self.standing.lock().unwrap_or_else(PoisonError::into_inner);
        standing.asked += 1;
        let mine = standing.asked;
        loop {
            if standing.failed {
                return Err(io::Error::other("another writer failed"));
            }
            if standing.durable >= mine {
                return Ok(());
            }
            if standing.is_flushing {
                let waited = self.ended.wait(standing);
                standing = waited.unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            standing.is_flushing = true;
            let (from, to) = (standing.durable, standing.asked);
            drop(standing);
            let mut logs = self.logs.lock().unwrap_or_else(PoisonError::into_inner);
            let flushed = logs.flush(to - from);
            drop(logs);
            standing = self.standing.lock().unwrap_or_else(PoisonError::into_inner);
            standing.is_flushing = false;
            standing.durable = to;
            standing.failed |= flushed.is_err();
            self.ended.notify_all();
            flushed?;
        }
    }
}

/// From a nanosecond to ten minutes, three digits; recording does not allocate.
fn histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, 600_000_000_000, 3).expect("the bounds are valid")
}

fn span_ns(begun: Instant, ended: Instant) -> u64 {
    ended.as_ns().saturating_sub(begun.as_ns())
}

/// The figures of a histogram of nanoseconds.
pub(crate) fn latency(spans: &Histogram<u64>) -> Latency {
    Latency {
        mean_ns: spans.mean(),
        p50_ns: spans.value_at_quantile(0.5),
        p95_ns: spans.value_at_quantile(0.95),
        p99_ns: spans.value_at_quantile(0.99),
        p999_ns: spans.value_at_quantile(0.999),
        max_ns: spans.max(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    static NO_INTERRUPT: AtomicBool = AtomicBool::new(false);

    #[test]
    fn every_commit_is_in_both_logs() {
        let place = tempfile::tempdir().unwrap();
        let test = TestFile::claim(place.path()).unwrap();
        let time = Duration::from_millis(200);
        for writers in [1, 8] {
            let result = commit_probe(&test, false, writers, time, &NO_INTERRUPT).unwrap();
            assert!(result.commits >= u64::from(writers));
            let written = fs::metadata(test.path(BINLOG)).unwrap().len();
            assert_eq!(written, result.commits * EVENT as u64);
            assert_eq!(fs::metadata(test.path(REDO)).unwrap().len(), 16 << 20);
            assert!(result.groups <= result.commits);
            if writers == 1 {
                assert_eq!(result.groups, result.commits);
                let parts = result.redo.mean_ns + result.binlog.mean_ns;
                assert!(result.commit.mean_ns >= parts * 0.99, "{result:?}");
            }
        }
    }

    #[test]
    fn the_redo_log_wraps() {
        let place = tempfile::tempdir().unwrap();
        let test = TestFile::claim(place.path()).unwrap();
        let mut logs = Logs::create(&test, false, 100).unwrap();
        logs.committed = BLOCKS * COMMITS_PER_BLOCK - 15;
        for commits in [1, 100, 1] {
            logs.flush(commits).unwrap();
        }
        assert_eq!(fs::metadata(test.path(REDO)).unwrap().len(), 16 << 20);
    }

    #[test]
    fn an_interruption_ends_it() {
        let place = tempfile::tempdir().unwrap();
        let test = TestFile::claim(place.path()).unwrap();
        let hour = Duration::from_secs(3600);
        let ended = commit_probe(&test, false, 4, hour, &AtomicBool::new(true));
        assert!(matches!(ended, Err(Error::Interrupted)));
    }
}
