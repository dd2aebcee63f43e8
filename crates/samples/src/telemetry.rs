//! What the machine and the processes did in one interval.

use serde::{Deserialize, Serialize};

use crate::machine::Host;

/// What the machine and the processes did in one interval.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Telemetry {
    /// Start, seconds since the start of the load.
    pub t_s: f64,
    /// Length in seconds.
    pub length_s: f64,
    /// Which machine was observed.
    pub host: Host,
    /// The whole machine's CPU; `None` where /proc is not readable.
    pub machine: Option<MachineUse>,
    /// The server's process; `None` when it is not on this machine.
    pub server: Option<ProcessUse>,
    /// dbdyno itself.
    pub client: Option<ProcessUse>,
    /// The other programs with the most user time, busiest first, at most three, where others had more than 5 % of the CPUs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<ProgramUse>,
    /// Memory at the end of the interval.
    pub memory: Option<Memory>,
    /// The disk that holds the data directory.
    pub disk: Option<DiskUse>,
    /// Every other block device that did anything, partitions left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub other_disks: Vec<DiskUse>,
    /// Each CPU that is online.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cpus: Vec<CpuTimes>,
    /// Who wanted a CPU.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheduling: Option<Scheduling>,
    /// How long tasks of the machine stood still.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pressure: Option<Pressure>,
    /// What went between memory and disks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paging: Option<Paging>,
    /// Each network interface that moved anything.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub interfaces: Vec<InterfaceUse>,
    /// TCP of the machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tcp: Option<TcpUse>,
    /// The control group of the server's process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cgroup: Option<CgroupUse>,
}

impl Telemetry {
    /// Every block device that did anything, that of the data directory first.
    pub fn disks(&self) -> impl Iterator<Item = &DiskUse> {
        self.disk.iter().chain(&self.other_disks)
    }
}

/// What another program used, all processes of its name together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProgramUse {
    /// Its name as the kernel has it, 15 bytes at most.
    pub name: String,
    /// User time since the programs were last looked at, seconds.
    pub user_s: f64,
}

/// CPU time of the whole machine in one interval, seconds summed over all CPUs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct MachineUse {
    /// user + nice.
    pub user_s: f64,
    /// system + irq + softirq.
    pub system_s: f64,
    /// Idle with I/O outstanding.
    pub iowait_s: f64,
    /// Taken by the hypervisor.
    pub steal_s: f64,
    /// Idle.
    pub idle_s: f64,
}

impl MachineUse {
    /// Time that all CPUs had together, seconds.
    pub fn capacity_s(&self) -> f64 {
        self.user_s + self.system_s + self.iowait_s + self.steal_s + self.idle_s
    }
}

/// Times of one CPU in one interval, seconds; what is 0 is left out of the record.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct CpuTimes {
    /// Its number.
    pub cpu: u32,
    /// In user mode, guests included.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub user_s: f64,
    /// In user mode at a low priority, guests included.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub nice_s: f64,
    /// In the kernel.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub system_s: f64,
    /// Idle.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub idle_s: f64,
    /// Idle with I/O outstanding.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub iowait_s: f64,
    /// Serving interrupts.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub irq_s: f64,
    /// Serving soft interrupts.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub softirq_s: f64,
    /// Taken by the hypervisor.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub steal_s: f64,
    /// Running guests; part of `user_s` and `nice_s`.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub guest_s: f64,
}

fn is_zero(seconds: &f64) -> bool {
    *seconds == 0.0
}

/// Who wanted a CPU in one interval.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Scheduling {
    /// Tasks that ran or waited for a CPU at the end of the interval, the one that looked included.
    pub running: Option<u32>,
    /// Tasks that waited for a disk at the end of the interval.
    pub blocked: Option<u32>,
    /// Load average over a minute at the end of the interval.
    pub load_1m: Option<f64>,
    /// Switches from one task to another.
    pub context_switches: u64,
    /// Interrupts.
    pub interrupts: Option<u64>,
    /// Processes and threads that began.
    pub forks: u64,
}

/// How long tasks stood still for want of a resource, seconds of an interval.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Pressure {
    /// At least one task waited for a CPU.
    pub cpu_some_s: f64,
    /// At least one task waited for a disk.
    pub io_some_s: f64,
    /// Every task that was not idle waited for a disk.
    pub io_full_s: f64,
    /// At least one task waited for memory.
    pub memory_some_s: f64,
    /// Every task that was not idle waited for memory.
    pub memory_full_s: f64,
}

/// What went between memory and disks in one interval.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Paging {
    /// Read from block devices, bytes.
    pub in_bytes: u64,
    /// Written to block devices, bytes.
    pub out_bytes: u64,
    /// Swapped in, bytes.
    pub swapped_in_bytes: u64,
    /// Swapped out, bytes.
    pub swapped_out_bytes: u64,
    /// Page faults, the major ones included.
    pub faults: u64,
    /// Page faults that had to wait for a disk.
    pub major_faults: u64,
    /// Processes that the kernel killed for want of memory; `None` before Linux 4.13.
    pub oom_kills: Option<u64>,
}

/// What one process used in one interval. What may not be read of it is `None`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct ProcessUse {
    /// CPU seconds in user mode.
    pub user_s: f64,
    /// CPU seconds in the kernel.
    pub system_s: f64,
    /// Resident memory at the end of the interval, bytes.
    pub resident_bytes: u64,
    /// Threads at the end of the interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threads: Option<u64>,
    /// Open files and sockets at the end of the interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_files: Option<u64>,
    /// Read from storage, bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_bytes: Option<u64>,
    /// Sent towards storage, bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written_bytes: Option<u64>,
    /// Times that its threads gave their CPU away because they had to wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub voluntary_switches: Option<u64>,
    /// Times that a CPU was taken from its threads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub involuntary_switches: Option<u64>,
    /// Page faults that found their page in memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minor_faults: Option<u64>,
    /// Page faults that had to wait for a disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub major_faults: Option<u64>,
}

/// Memory of the machine, bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Memory {
    /// Physical memory.
    pub total_bytes: u64,
    /// What the kernel says could still be had without swapping.
    pub available_bytes: u64,
    /// Swap in use.
    pub swap_used_bytes: u64,
    /// Unused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub free_bytes: Option<u64>,
    /// The page cache, with what is shared in memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_bytes: Option<u64>,
    /// Blocks of devices, kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffers_bytes: Option<u64>,
    /// Waiting to be written to a disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dirty_bytes: Option<u64>,
    /// On its way to a disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writeback_bytes: Option<u64>,
}

/// What one block device did in one interval.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct DiskUse {
    /// Device name, for example `vda`.
    pub device: String,
    /// Completed reads.
    pub reads: u64,
    /// Completed writes.
    pub writes: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// Time with at least one request in flight, seconds.
    pub busy_s: f64,
    /// Requests and what they waited; `None` in records of before they were read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests: Option<DiskRequests>,
}

/// The requests of one block device in one interval, and what they waited.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct DiskRequests {
    /// Time of the completed reads, queue included, summed over them, seconds.
    pub read_s: f64,
    /// Time of the completed writes, likewise.
    pub write_s: f64,
    /// Requests in flight, summed over the time, seconds.
    pub queued_s: f64,
    /// Reads that were merged with others before they went out.
    pub reads_merged: u64,
    /// Writes that were merged with others before they went out.
    pub writes_merged: u64,
    /// Completed discards; `None` before Linux 4.18.
    pub discards: Option<u64>,
    /// Bytes discarded.
    pub discarded_bytes: Option<u64>,
    /// Time of the completed discards, summed over them, seconds.
    pub discard_s: Option<f64>,
    /// Completed flushes of the disk's cache; `None` before Linux 5.5. A partition and a volume count none.
    pub flushes: Option<u64>,
    /// Time of the completed flushes, summed over them, seconds.
    pub flush_s: Option<f64>,
}

impl DiskUse {
    /// Mean time of a read, seconds; `None` when there was none. iostat calls it `r_await`.
    ///
    /// Source: the kernel's Documentation/admin-guide/iostats.rst, fields 1 and 4.
    pub fn read_wait_s(&self) -> Option<f64> {
        let requests = self.requests?;
        (self.reads > 0).then(|| requests.read_s / self.reads as f64)
    }

    /// Mean time of a write, seconds; `None` when there was none. iostat calls it `w_await`.
    pub fn write_wait_s(&self) -> Option<f64> {
        let requests = self.requests?;
        (self.writes > 0).then(|| requests.write_s / self.writes as f64)
    }

    /// Mean time of a flush, seconds; `None` when there was none. iostat calls it `f_await`.
    pub fn flush_wait_s(&self) -> Option<f64> {
        let requests = self.requests?;
        let flushes = requests.flushes.filter(|flushes| *flushes > 0)?;
        Some(requests.flush_s? / flushes as f64)
    }

    /// Mean number of requests in flight in an interval of `length_s`. iostat calls it `aqu-sz`.
    pub fn queue_length(&self, length_s: f64) -> Option<f64> {
        (length_s > 0.0).then_some(self.requests?.queued_s / length_s)
    }

    /// Share of an interval of `length_s` with at least one request in flight, 0 to 1. iostat calls it `%util`.
    pub fn utilisation(&self, length_s: f64) -> Option<f64> {
        (length_s > 0.0).then_some((self.busy_s / length_s).min(1.0))
    }
}

/// What went through one network interface in one interval.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct InterfaceUse {
    /// Its name, as `eth0`.
    pub interface: String,
    /// Received.
    pub received_bytes: u64,
    /// Received.
    pub received_packets: u64,
    /// Sent.
    pub sent_bytes: u64,
    /// Sent.
    pub sent_packets: u64,
    /// Packets that were broken, in both directions.
    pub errors: u64,
    /// Packets that were thrown away for want of room, in both directions.
    pub drops: u64,
}

/// TCP of the machine in one interval.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct TcpUse {
    /// Segments sent, those that were sent again left out.
    pub segments_sent: u64,
    /// Segments that had to be sent again.
    pub retransmitted: u64,
    /// Connections that found the queue of a listening socket full.
    pub listen_overflows: Option<u64>,
    /// Connections that a listening socket dropped, whatever the reason.
    pub listen_drops: Option<u64>,
}

/// What one control group used in one interval. What its kernel does not count is `None`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CgroupUse {
    /// CPU time, seconds.
    pub cpu_s: Option<f64>,
    /// Periods of its CPU limit that began with something to run.
    pub periods: Option<u64>,
    /// Periods in which the limit was reached.
    pub throttled_periods: Option<u64>,
    /// Time that it was held back, seconds; summed over its CPUs.
    pub throttled_s: Option<f64>,
    /// Memory at the end of the interval, page cache included, bytes.
    pub memory_bytes: Option<u64>,
    /// Times that it ran against its memory limit.
    pub memory_limit_hits: Option<u64>,
    /// Processes of it that the kernel killed for want of memory.
    pub oom_kills: Option<u64>,
    /// Reads of its processes.
    pub reads: Option<u64>,
    /// Writes of its processes.
    pub writes: Option<u64>,
    /// Read from block devices, bytes.
    pub read_bytes: Option<u64>,
    /// Written to block devices, bytes.
    pub written_bytes: Option<u64>,
    /// How long its tasks stood still; with version 1 there is none.
    pub pressure: Option<Pressure>,
}

/// What collecting telemetry cost in a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Collected {
    /// Who collected: `machine` for the kernel's counters, `server` for what the server was asked.
    pub collector: String,
    /// Time from sample to sample that was asked for, seconds.
    pub every_s: f64,
    /// How long it went on, seconds.
    pub length_s: f64,
    /// Samples taken.
    pub samples: u64,
    /// Samples left out because the one before came too late.
    pub missed: u64,
    /// CPU time of collecting, by the collecting thread's own clock, seconds.
    pub cpu_s: f64,
    /// The longest that one sample took, seconds.
    pub longest_s: f64,
}

impl Collected {
    /// Share of one CPU that collecting took; `None` when it did not last.
    pub fn cpu_share(&self) -> Option<f64> {
        (self.length_s > 0.0).then_some(self.cpu_s / self.length_s)
    }
}
