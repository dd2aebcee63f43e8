//! The resource use of one process.

use std::{collections::BTreeMap, fs, io::ErrorKind};

use procfs_core::{
    FromRead, ProcError,
    process::{Io, Stat, StatFlags},
};
use samples::ProcessUse;

use crate::{
    error::{NotObserved, note},
    kernel::{Kernel, difference, difference_of, seconds_between},
};

/// Switches are counted per thread: with more threads than this, adding them up would cost too much.
const THREADS_AT_MOST: u64 = 256;

/// The use of a process and its threads since it started.
#[derive(Debug, Clone)]
pub(crate) struct ProcessCounters {
    /// Start time in clock ticks since boot: distinguishes it from another process with the same, recycled id.
    started: u64,
    user_ticks: u64,
    system_ticks: u64,
    resident_bytes: u64,
    threads: u64,
    minor_faults: u64,
    major_faults: u64,
    open_files: Option<u64>,
    io: Option<(u64, u64)>,
    /// Voluntary and involuntary switches by thread.
    switches: Option<BTreeMap<u32, (u64, u64)>>,
}

impl ProcessCounters {
    /// Memory that is in use, bytes.
    pub(crate) fn resident_bytes(&self) -> u64 {
        self.resident_bytes
    }

    /// Reads a process (`self` or its id), called `name` in `missing`; `None` when it has ended.
    pub(crate) fn read(
        kernel: &Kernel,
        process: &str,
        name: &'static str,
        missing: &mut Vec<NotObserved>,
    ) -> Result<Option<Self>, ProcError> {
        let stat = match Stat::from_file(kernel.path(&format!("proc/{process}/stat"))) {
            Ok(stat) => stat,
            Err(ProcError::NotFound(_)) => return Ok(None),
            Err(error) => return Err(error),
        };
        let Some(mut counters) = Self::of(&stat, kernel.page_bytes) else {
            return Ok(None);
        };
        let part = |what| move |source| NotObserved::ProcessPart { name, what, source };
        let io = Io::from_file(kernel.path(&format!("proc/{process}/io")));
        counters.io = note(io.map_err(part("bytes read and written")), missing)
            .map(|io| (io.read_bytes, io.write_bytes));
        let files = open_files(kernel, process);
        counters.open_files = note(files.map_err(part("open files")), missing);
        let threads = counters.threads;
        let switches = if threads > THREADS_AT_MOST {
            Err(NotObserved::TooManyThreads { name, threads })
        } else {
            switches(kernel, process).map_err(part("context switches"))
        };
        counters.switches = note(switches, missing);
        Ok(Some(counters))
    }

    /// `None` for a process that has ended, even if it has not been reaped, and for one that the kernel is ending: its
    /// memory is freed before its state changes.
    fn of(stat: &Stat, page_bytes: u64) -> Option<Self> {
        let is_ending = StatFlags::from_bits_retain(stat.flags).contains(StatFlags::PF_EXITING);
        let ended = is_ending || matches!(stat.state, 'Z' | 'X' | 'x');
        (!ended).then(|| Self {
            started: stat.starttime,
            user_ticks: stat.utime,
            system_ticks: stat.stime,
            resident_bytes: stat.rss * page_bytes,
            threads: stat.num_threads.try_into().unwrap_or(0),
            minor_faults: stat.minflt,
            major_faults: stat.majflt,
            open_files: None,
            io: None,
            switches: None,
        })
    }

    /// The use since `earlier`; `None` when that was another process.
    pub(crate) fn since(&self, earlier: &Self, ticks_per_s: u64) -> Option<ProcessUse> {
        let (read, written) = self.io.unzip();
        let (read_before, written_before) = earlier.io.unzip();
        let switches = self.switches.as_ref().zip(earlier.switches.as_ref());
        let switches = switches.map(|(now, before)| switches_between(now, before));
        (self.started == earlier.started).then(|| ProcessUse {
            user_s: seconds_between(self.user_ticks, earlier.user_ticks, ticks_per_s),
            system_s: seconds_between(self.system_ticks, earlier.system_ticks, ticks_per_s),
            resident_bytes: self.resident_bytes,
            threads: Some(self.threads),
            open_files: self.open_files,
            read_bytes: difference_of(read, read_before),
            written_bytes: difference_of(written, written_before),
            voluntary_switches: switches.map(|(voluntary, _)| voluntary),
            involuntary_switches: switches.map(|(_, involuntary)| involuntary),
            minor_faults: Some(difference(self.minor_faults, earlier.minor_faults)),
            major_faults: Some(difference(self.major_faults, earlier.major_faults)),
        })
    }
}

/// A thread that started in between counts in full; the last switches of one that ended are lost.
fn switches_between(
    now: &BTreeMap<u32, (u64, u64)>,
    before: &BTreeMap<u32, (u64, u64)>,
) -> (u64, u64) {
    now.iter()
        .fold((0, 0), |sum, (thread, (voluntary, other))| {
            let (voluntary_before, other_before) = before.get(thread).copied().unwrap_or_default();
            (
                sum.0 + difference(*voluntary, voluntary_before),
                sum.1 + difference(*other, other_before),
            )
        })
}

fn open_files(kernel: &Kernel, process: &str) -> Result<u64, ProcError> {
    let directory = kernel.path(&format!("proc/{process}/fd"));
    Ok(fs::read_dir(directory)?.count() as u64)
}

/// Voluntary and involuntary switches by thread: /proc/PID/status has only those of the main thread.
fn switches(kernel: &Kernel, process: &str) -> Result<BTreeMap<u32, (u64, u64)>, ProcError> {
    let tasks = kernel.path(&format!("proc/{process}/task"));
    let mut switches = BTreeMap::new();
    for task in fs::read_dir(tasks)? {
        let task = task?;
        let Some(thread) = task.file_name().to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        match fs::read_to_string(task.path().join("status")) {
            Ok(text) => switches.insert(thread, switches_in(&text).unwrap_or_default()),
            // It ended meanwhile.
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            Err(error) if error.raw_os_error() == Some(NO_SUCH_PROCESS) => continue,
            Err(error) => return Err(error.into()),
        };
    }
    Ok(switches)
}

/// ESRCH: the error for a process's file when the process ended after the file was opened.
const NO_SUCH_PROCESS: i32 = 3;

/// The two lines of /proc/PID/task/TID/status that count switches; its other forty lines are skipped.
fn switches_in(status: &str) -> Option<(u64, u64)> {
    let count = |name| {
        let line = status
            .lines()
            .rev()
            .find_map(|line| line.strip_prefix(name))?;
        line.trim().parse().ok()
    };
    Some((
        count("voluntary_ctxt_switches:")?,
        count("nonvoluntary_ctxt_switches:")?,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counters(state: char, flags: u32) -> Option<ProcessCounters> {
        let text = format!(
            "801 (mysqld) {state} 1 1 1 0 -1 {flags} 0 0 0 0 5 5 0 0 20 0 1 0 99 1 7 1 1 1 1 1 1 0 0 0 0 0 0 0"
        );
        ProcessCounters::of(&Stat::from_read(text.as_bytes()).unwrap(), 4096)
    }

    #[test]
    fn a_process_that_is_ending_has_no_counters() {
        for (state, flags, is_there) in [
            ('S', 0x0040_0100, true),
            ('R', 0x0040_0104, false),
            ('D', 0x0040_0504, false),
            ('Z', 0x0040_0100, false),
        ] {
            assert_eq!(
                counters(state, flags).is_some(),
                is_there,
                "{state} {flags:x}"
            );
        }
    }

    #[test]
    fn a_recycled_process_id_is_another_process() {
        let server = counters('S', 0x0040_0100).unwrap();
        let other = ProcessCounters {
            started: 2000,
            ..server.clone()
        };
        assert!(other.since(&server, 100).is_none());
        assert!(server.since(&server, 100).is_some());
    }

    #[test]
    fn switches_add_up_over_threads_that_come_and_go() {
        let before = BTreeMap::from([(1, (10, 1)), (2, (100, 50))]);
        let now = BTreeMap::from([(1, (14, 2)), (3, (7, 0))]);
        assert_eq!(switches_between(&now, &before), (4 + 7, 1));
        let status =
            "Name:\tmysqld\nvoluntary_ctxt_switches:\t150\nnonvoluntary_ctxt_switches:\t545\n";
        assert_eq!(switches_in(status), Some((150, 545)));
        assert_eq!(switches_in("Name:\tmysqld\n"), None);
    }
}
