//! The kernel's running counters, and what lies between two readings of them.

use procfs_core::{
    CpuTime, DiskStat,
    process::{Stat, StatFlags},
};
use samples::{DiskUse, MachineUse, ProcessUse};

/// Bytes in a sector of /proc/diskstats, whatever the device's own sector size.
///
/// Source: the kernel's Documentation/block/stat.rst.
const SECTOR_BYTES: u64 = 512;

/// CPU time of the whole machine since it started, in clock ticks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MachineCounters {
    user: u64,
    system: u64,
    iowait: u64,
    steal: u64,
    idle: u64,
}

impl From<&CpuTime> for MachineCounters {
    fn from(time: &CpuTime) -> Self {
        // Guest time is left out: the kernel counts it in user and nice already.
        Self {
            user: time.user + time.nice,
            system: time.system + time.irq.unwrap_or(0) + time.softirq.unwrap_or(0),
            iowait: time.iowait.unwrap_or(0),
            steal: time.steal.unwrap_or(0),
            idle: time.idle,
        }
    }
}

impl MachineCounters {
    /// What was used since `earlier`.
    pub(crate) fn since(&self, earlier: &Self, ticks_per_s: u64) -> MachineUse {
        let seconds = |now, before| seconds_between(now, before, ticks_per_s);
        MachineUse {
            user_s: seconds(self.user, earlier.user),
            system_s: seconds(self.system, earlier.system),
            iowait_s: seconds(self.iowait, earlier.iowait),
            steal_s: seconds(self.steal, earlier.steal),
            idle_s: seconds(self.idle, earlier.idle),
        }
    }
}

/// CPU time of all threads of one process since it started, in clock ticks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ProcessCounters {
    /// When it started, in ticks after the machine: tells it from another process with its recycled id.
    started: u64,
    user: u64,
    system: u64,
    resident_bytes: u64,
}

impl ProcessCounters {
    /// `None` for a process that has ended, also if nobody waited for it yet, and for one that the kernel is
    /// taking down: its memory goes before its state changes.
    pub(crate) fn of(stat: &Stat, page_bytes: u64) -> Option<Self> {
        let is_ending = StatFlags::from_bits_retain(stat.flags).contains(StatFlags::PF_EXITING);
        let ended = is_ending || matches!(stat.state, 'Z' | 'X' | 'x');
        (!ended).then(|| Self {
            started: stat.starttime,
            user: stat.utime,
            system: stat.stime,
            resident_bytes: stat.rss * page_bytes,
        })
    }

    /// What was used since `earlier`; `None` when that was another process.
    pub(crate) fn since(&self, earlier: &Self, ticks_per_s: u64) -> Option<ProcessUse> {
        (self.started == earlier.started).then(|| ProcessUse {
            user_s: seconds_between(self.user, earlier.user, ticks_per_s),
            system_s: seconds_between(self.system, earlier.system, ticks_per_s),
            resident_bytes: self.resident_bytes,
        })
    }
}

/// What one block device did since it was attached.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DiskCounters {
    reads: u64,
    writes: u64,
    sectors_read: u64,
    sectors_written: u64,
    busy_ms: u64,
}

impl From<&DiskStat> for DiskCounters {
    fn from(stat: &DiskStat) -> Self {
        Self {
            reads: stat.reads,
            writes: stat.writes,
            sectors_read: stat.sectors_read,
            sectors_written: stat.sectors_written,
            busy_ms: stat.time_in_progress,
        }
    }
}

impl DiskCounters {
    /// What `device` did since `earlier`.
    pub(crate) fn since(&self, earlier: &Self, device: &str) -> DiskUse {
        let bytes = |now: u64, before: u64| now.saturating_sub(before) * SECTOR_BYTES;
        DiskUse {
            device: device.to_owned(),
            reads: self.reads.saturating_sub(earlier.reads),
            writes: self.writes.saturating_sub(earlier.writes),
            read_bytes: bytes(self.sectors_read, earlier.sectors_read),
            written_bytes: bytes(self.sectors_written, earlier.sectors_written),
            busy_s: seconds_between(self.busy_ms, earlier.busy_ms, 1000),
        }
    }
}

/// Seconds between two readings of a counter; 0 when it went backwards, as the kernel's iowait may.
fn seconds_between(now: u64, before: u64, units_per_s: u64) -> f64 {
    now.saturating_sub(before) as f64 / units_per_s as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use procfs_core::FromRead;

    #[test]
    fn a_counter_that_goes_backwards_counts_as_nothing() {
        assert_eq!(seconds_between(90, 100, 100), 0.0);
        let before = MachineCounters {
            user: 500,
            system: 100,
            iowait: 70,
            steal: 0,
            idle: 1000,
        };
        let now = MachineCounters {
            user: 550,
            iowait: 60,
            ..before
        };
        let used = now.since(&before, 100);
        assert_eq!((used.user_s, used.iowait_s), (0.5, 0.0));
    }

    #[test]
    fn a_process_that_is_ending_has_no_counters() {
        let stat = |state: char, flags: u32| {
            let text = format!(
                "801 (mysqld) {state} 1 1 1 0 -1 {flags} 0 0 0 0 5 5 0 0 20 0 1 0 99 1 7 1 1 1 1 1 1 0 0 0 0 0 0 0"
            );
            Stat::from_read(text.as_bytes()).unwrap()
        };
        for (state, flags, is_there) in [
            ('S', 0x0040_0100, true),
            ('R', 0x0040_0104, false),
            ('D', 0x0040_0504, false),
            ('Z', 0x0040_0100, false),
        ] {
            let counters = ProcessCounters::of(&stat(state, flags), 4096);
            assert_eq!(counters.is_some(), is_there, "{state} {flags:x}");
        }
    }

    #[test]
    fn a_recycled_process_id_is_another_process() {
        let server = ProcessCounters {
            started: 1000,
            user: 10,
            system: 10,
            resident_bytes: 4096,
        };
        let other = ProcessCounters {
            started: 2000,
            ..server
        };
        assert!(other.since(&server, 100).is_none());
        assert!(server.since(&server, 100).is_some());
    }
}
