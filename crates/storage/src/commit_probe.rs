//! The commit probe: what a durable commit costs, by the calls that a server makes for it.
//!
//! With `sync_binlog=1` and `innodb_flush_log_at_trx_commit=1` a server writes its redo log and flushes it (`fdatasync`), then
//! appends the transaction to the binary log and flushes that. Sizes and writes are those of strace on one connection that
//! inserts rows: MariaDB 10.11, MySQL 9.7. fio cannot alternate two files.
//!
//! Of several writers, those that wait share one pair of writes and flushes, as in the group commit of the server.

use std::{
    fs::{File, OpenOptions},
    io::{self, Write},
    sync::{Condvar, Mutex, PoisonError},
    thread,
    time::Duration,
};

use hdrhistogram::Histogram;
use reactor::{Instant, Interrupt, system_now};
use samples::{CommitResult, CommitSequence, Latency};

use crate::{
    aligned::AlignedBuffer,
    error::Error,
    redo_log::{RedoLog, is_direct},
    test_file::TestFile,
};

/// A transaction in the binary log, bytes.
fn event_bytes(sequence: CommitSequence) -> usize {
    match sequence {
        CommitSequence::Mariadb => 210,
        CommitSequence::Mysql => 380,
    }
}

/// The binary log begins anew at this size, bytes: it must not fill the disk.
const BINLOG_AT_MOST: u64 = 64 << 20;
/// The number of an error that has none: an input or output error.
const EIO: i32 = 5;
/// More writers than this are no probe of a disk.
pub(crate) const WRITERS_AT_MOST: u32 = 512;

/// Commits with a number of writers for a fixed time, by the calls of a server. The first signal ends the probe with an error.
pub fn commit_probe(
    test: &TestFile,
    sequence: CommitSequence,
    direct: bool,
    writers: u32,
    duration: Duration,
    interrupt: &Interrupt,
) -> Result<CommitResult, Error> {
    let writers = writers.clamp(1, WRITERS_AT_MOST);
    let logs = Logs::create(test, sequence, direct, writers)?;
    let group = Group {
        standing: Mutex::new(CommitProgress::default()),
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
    let spans = spans.map_err(Error::io("commit to the logs in", test.directory()))?;
    if interrupt.is_raised() {
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
        sequence,
        elapsed_s,
        commits: commit.len(),
        groups: logs.redo_spans.len(),
        redo_direct: direct && is_direct(sequence),
        commit: latency(&commit),
        redo: latency(&logs.redo_spans),
        binlog: latency(&logs.binlog_spans),
        device_flushes: None,
        machine_cpu: None,
    })
}

const BINLOG: &str = "binlog.dat";

/// Both logs, and how long their writes and flushes took.
#[derive(Debug)]
struct Logs {
    redo: RedoLog,
    binlog: File,
    event_bytes: usize,
    events: Vec<u8>,
    binlog_bytes: u64,
    redo_spans: Histogram<u64>,
    binlog_spans: Histogram<u64>,
}

impl Logs {
    /// The redo log is written whole before, as a server's is; the binary log is empty.
    fn create(
        test: &TestFile,
        sequence: CommitSequence,
        direct: bool,
        writers: u32,
    ) -> Result<Self, Error> {
        let path = test.path(BINLOG);
        let binlog = OpenOptions::new()
            .append(true)
            .create(true)
            .open(&path)
            .and_then(|file| file.set_len(0).map(|()| file));
        // One group is at most a commit of each writer.
        let event_bytes = event_bytes(sequence);
        let events = AlignedBuffer::random(writers as usize * event_bytes, 4);
        Ok(Self {
            redo: RedoLog::create(test, sequence, direct, writers)?,
            binlog: binlog.map_err(Error::io("write", &path))?,
            event_bytes,
            events: events.bytes().to_vec(),
            binlog_bytes: 0,
            redo_spans: histogram(),
            binlog_spans: histogram(),
        })
    }

    /// Makes a group of commits durable.
    fn flush(&mut self, commits: u64) -> io::Result<()> {
        let begun = system_now();
        self.redo.flush(commits)?;
        let between = system_now();
        let bytes = commits as usize * self.event_bytes;
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
struct CommitProgress {
    /// Commits that were asked for.
    asked: u64,
    /// Commits that are durable.
    durable: u64,
    is_flushing: bool,
    /// A failure ends all writers, each with its number.
    failure: Option<i32>,
}

/// Writers that commit together.
struct Group {
    standing: Mutex<CommitProgress>,
    ended: Condvar,
    logs: Mutex<Logs>,
}

impl Group {
    /// One writer: a commit after the other. Returns how long each took.
    fn write_until(&self, until: Instant, interrupt: &Interrupt) -> io::Result<Histogram<u64>> {
        let mut spans = histogram();
        let mut begun = system_now();
        while begun < until && !interrupt.is_raised() {
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
            if let Some(number) = standing.failure {
                return Err(io::Error::from_raw_os_error(number));
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
            if let Err(error) = &flushed {
                standing.failure = Some(error.raw_os_error().unwrap_or(EIO));
            }
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
    use crate::redo_log::REDO;
    use std::fs;

    #[test]
    fn every_commit_is_in_both_logs() {
        let place = tempfile::tempdir().unwrap();
        let test = TestFile::claim(place.path()).unwrap();
        let time = Duration::from_millis(200);
        let interrupt = Interrupt::default();
        let cases = [
            (CommitSequence::Mariadb, 1, 210),
            (CommitSequence::Mariadb, 8, 210),
            (CommitSequence::Mysql, 1, 380),
            (CommitSequence::Mysql, 8, 380),
        ];
        for (sequence, writers, event) in cases {
            // A disk that is busy with other tests may need longer for a single commit.
            let probe =
                |time| commit_probe(&test, sequence, false, writers, time, &interrupt).unwrap();
            let times = (0..).map(|doubled| time * 2_u32.pow(doubled));
            let result = times.map(probe).find(|it| it.commits > 0).unwrap();
            assert_eq!(result.sequence, sequence);
            let written = fs::metadata(test.path(BINLOG)).unwrap().len();
            assert_eq!(written, result.commits * event);
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
    fn an_interruption_ends_it() {
        let place = tempfile::tempdir().unwrap();
        let test = TestFile::claim(place.path()).unwrap();
        let hour = Duration::from_secs(3600);
        let sequence = CommitSequence::Mysql;
        let interrupt = Interrupt::default();
        interrupt.raise();
        let ended = commit_probe(&test, sequence, false, 4, hour, &interrupt);
        assert!(matches!(ended, Err(Error::Interrupted)));
    }
}
