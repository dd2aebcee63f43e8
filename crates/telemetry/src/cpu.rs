//! CPU times of the machine and of each CPU, and the demand for CPUs.

use procfs_core::{CpuTime, ExplicitSystemInfo, FromRead, FromReadSI, KernelStats, LoadAverage};
use samples::{CpuTimes, MachineUse, Scheduling};

use crate::{
    error::{NotObserved, note},
    kernel::{Kernel, difference, seconds_between},
};

/// The counters of /proc/stat since the machine started.
#[derive(Debug, Clone)]
pub(crate) struct CpuCounters {
    machine: Ticks,
    /// By CPU number; the numbers have gaps where a CPU is offline.
    cpus: Vec<(u32, Ticks)>,
    context_switches: u64,
    interrupts: Option<u64>,
    forks: u64,
    running: Option<u32>,
    blocked: Option<u32>,
    load_1m: Option<f64>,
}

/// CPU time since the machine started, in clock ticks.
#[derive(Debug, Clone, Copy, Default)]
struct Ticks {
    user: u64,
    nice: u64,
    system: u64,
    idle: u64,
    iowait: u64,
    irq: u64,
    softirq: u64,
    steal: u64,
    guest: u64,
}

impl From<&CpuTime> for Ticks {
    fn from(time: &CpuTime) -> Self {
        Self {
            user: time.user,
            nice: time.nice,
            system: time.system,
            idle: time.idle,
            iowait: time.iowait.unwrap_or(0),
            irq: time.irq.unwrap_or(0),
            softirq: time.softirq.unwrap_or(0),
            steal: time.steal.unwrap_or(0),
            guest: time.guest.unwrap_or(0) + time.guest_nice.unwrap_or(0),
        }
    }
}

impl Ticks {
    fn since(&self, earlier: &Self, cpu: u32, ticks_per_s: u64) -> CpuTimes {
        let seconds = |now, before| seconds_between(now, before, ticks_per_s);
        CpuTimes {
            cpu,
            user_s: seconds(self.user, earlier.user),
            nice_s: seconds(self.nice, earlier.nice),
            system_s: seconds(self.system, earlier.system),
            idle_s: seconds(self.idle, earlier.idle),
            iowait_s: seconds(self.iowait, earlier.iowait),
            irq_s: seconds(self.irq, earlier.irq),
            softirq_s: seconds(self.softirq, earlier.softirq),
            steal_s: seconds(self.steal, earlier.steal),
            guest_s: seconds(self.guest, earlier.guest),
        }
    }
}

impl CpuCounters {
    /// Reads the counters; adds unreadable ones to `missing`.
    pub(crate) fn read(kernel: &Kernel, missing: &mut Vec<NotObserved>) -> Option<Self> {
        let constants = ExplicitSystemInfo {
            boot_time_secs: 0,
            ticks_per_second: kernel.ticks_per_s,
            page_size: kernel.page_bytes,
            is_little_endian: cfg!(target_endian = "little"),
        };
        let read = || {
            let text = kernel.text("proc/stat")?;
            let stats = KernelStats::from_read(text.as_bytes(), &constants)?;
            Ok((text, stats))
        };
        let (text, stats) = note(read().map_err(NotObserved::MachineCpu), missing)?;
        let load = LoadAverage::from_file(kernel.path("proc/loadavg"))
            .map_err(|source| NotObserved::counters("load average", source));
        Some(Self {
            machine: Ticks::from(&stats.total),
            cpus: cpu_numbers(&text)
                .zip(stats.cpu_time.iter().map(Ticks::from))
                .collect(),
            context_switches: stats.ctxt,
            interrupts: interrupts(&text),
            forks: stats.processes,
            running: stats.procs_running,
            blocked: stats.procs_blocked,
            // The file has two digits, which a 32-bit float printed as a 64-bit one does not show.
            load_1m: note(load, missing).map(|load| (f64::from(load.one) * 100.0).round() / 100.0),
        })
    }

    /// Number of CPUs that are online.
    pub(crate) fn cpus(&self) -> u32 {
        self.cpus.len() as u32
    }

    /// CPU time of the whole machine since `earlier`.
    ///
    /// Guest time is left out: the kernel counts it in user and nice already.
    pub(crate) fn machine_since(&self, earlier: &Self, ticks_per_s: u64) -> MachineUse {
        let used = self.machine.since(&earlier.machine, 0, ticks_per_s);
        MachineUse {
            user_s: used.user_s + used.nice_s,
            system_s: used.system_s + used.irq_s + used.softirq_s,
            iowait_s: used.iowait_s,
            steal_s: used.steal_s,
            idle_s: used.idle_s,
        }
    }

    /// CPU times since `earlier` of the CPUs that were online at both readings.
    pub(crate) fn cpus_since(&self, earlier: &Self, ticks_per_s: u64) -> Vec<CpuTimes> {
        let times = self.cpus.iter().filter_map(|(cpu, now)| {
            let (_, before) = earlier.cpus.iter().find(|(number, _)| number == cpu)?;
            Some(now.since(before, *cpu, ticks_per_s))
        });
        times.collect()
    }

    /// The demand for CPUs since `earlier`.
    pub(crate) fn scheduling_since(&self, earlier: &Self) -> Scheduling {
        Scheduling {
            running: self.running,
            blocked: self.blocked,
            load_1m: self.load_1m,
            context_switches: difference(self.context_switches, earlier.context_switches),
            interrupts: self
                .interrupts
                .zip(earlier.interrupts)
                .map(|(now, before)| difference(now, before)),
            forks: difference(self.forks, earlier.forks),
        }
    }
}

/// The numbers of the `cpu0 ...` lines of /proc/stat, in their order.
fn cpu_numbers(text: &str) -> impl Iterator<Item = u32> {
    text.lines()
        .filter_map(|line| line.strip_prefix("cpu")?.split(' ').next()?.parse().ok())
}

/// All interrupts: the first number of the `intr` line of /proc/stat.
fn interrupts(text: &str) -> Option<u64> {
    let counts = text.lines().find_map(|line| line.strip_prefix("intr "))?;
    counts.split(' ').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_that_goes_backwards_counts_as_nothing() {
        let before = Ticks {
            user: 500,
            iowait: 70,
            ..Ticks::default()
        };
        let now = Ticks {
            user: 550,
            iowait: 60,
            ..before
        };
        let used = now.since(&before, 0, 100);
        assert_eq!((used.user_s, used.iowait_s), (0.5, 0.0));
    }

    #[test]
    fn cpus_keep_their_numbers_when_one_is_offline() {
        let text = "cpu  9 0 0 0\ncpu0 4 0 0 0\ncpu2 5 0 0 0\nintr 77 1 2\nctxt 1\n";
        assert_eq!(cpu_numbers(text).collect::<Vec<_>>(), [0, 2]);
        assert_eq!(interrupts(text), Some(77));
        assert_eq!(interrupts("ctxt 1\n"), None);
    }
}
