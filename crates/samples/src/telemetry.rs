//! Usage of the machine and its processes in one interval.

use serde::{Deserialize, Serialize};

use crate::machine::Host;

/// Usage of the machine and its processes in one interval.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Telemetry {
    /// Start, seconds since the start of the load.
    pub t_s: f64,
    pub length_s: f64,
    /// The observed machine.
    pub host: Host,
    /// CPU of the whole machine; `None` if /proc is not readable.
    pub machine: Option<MachineUse>,
    /// The server's process; `None` if it is not on this machine.
    pub server: Option<ProcessUse>,
    /// The process of dbdyno.
    pub client: Option<ProcessUse>,
    /// The proxy between clients and server; `None` without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proxy: Option<ProcessUse>,
    /// The other programs with the most user time, busiest first, at most three, if others used more than 5 % of the
    /// CPUs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<ProgramUse>,
    /// Memory at the end of the interval.
    pub memory: Option<Memory>,
    /// The disk that holds the data directory.
    pub disk: Option<DiskUse>,
    /// All other block devices with activity, without partitions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub other_disks: Vec<DiskUse>,
    /// Each CPU that is online.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cpus: Vec<CpuTimes>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheduling: Option<Scheduling>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pressure: Option<Pressure>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paging: Option<Paging>,
    /// Each network interface with traffic.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub interfaces: Vec<InterfaceUse>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tcp: Option<TcpUse>,
    /// The control group of the server's process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cgroup: Option<CgroupUse>,
}

impl Telemetry {
    /// Every block device with activity, that of the data directory first.
    pub fn disks(&self) -> impl Iterator<Item = &DiskUse> {
        self.disk.iter().chain(&self.other_disks)
    }
}

/// Largest number of programs that are named in a sample.
pub const PROGRAMS_AT_MOST: usize = 3;

/// CPU usage of another program, over all processes with its name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProgramUse {
    /// Kernel name of the program, at most 15 bytes.
    pub name: String,
    /// User time since the last sample of programs, seconds.
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
    /// Steal: taken by the hypervisor.
    pub steal_s: f64,
    /// Idle without outstanding I/O.
    pub idle_s: f64,
}

impl MachineUse {
    /// Total time of all CPUs, seconds.
    pub fn capacity_s(&self) -> f64 {
        self.user_s + self.system_s + self.iowait_s + self.steal_s + self.idle_s
    }
}

/// Times of one CPU in one interval, seconds; zero values are omitted from the record.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct CpuTimes {
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
    /// Idle without outstanding I/O.
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
    /// Steal: taken by the hypervisor.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub steal_s: f64,
    /// Running guests; part of `user_s` and `nice_s`.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub guest_s: f64,
}

fn is_zero(seconds: &f64) -> bool {
    *seconds == 0.0
}

/// Demand for CPUs in one interval.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Scheduling {
    /// Tasks running or waiting for a CPU at the end of the interval, including the sampling task.
    pub running: Option<u32>,
    /// Tasks waiting for a disk at the end of the interval.
    pub blocked: Option<u32>,
    /// Load average over a minute at the end of the interval.
    pub load_1m: Option<f64>,
    pub context_switches: u64,
    pub interrupts: Option<u64>,
    /// Number of processes and threads created.
    pub forks: u64,
}

/// Stall times of tasks by resource (PSI), seconds of an interval.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Pressure {
    /// At least one task waited for a CPU.
    pub cpu_some_s: f64,
    /// At least one task waited for a disk.
    pub io_some_s: f64,
    /// Every non-idle task waited for a disk.
    pub io_full_s: f64,
    /// At least one task waited for memory.
    pub memory_some_s: f64,
    /// Every non-idle task waited for memory.
    pub memory_full_s: f64,
}

/// Transfers between memory and disks in one interval.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Paging {
    /// Read from block devices, bytes.
    pub in_bytes: u64,
    /// Written to block devices, bytes.
    pub out_bytes: u64,
    pub swapped_in_bytes: u64,
    pub swapped_out_bytes: u64,
    /// Page faults, including major ones.
    pub faults: u64,
    /// Page faults that had to wait for a disk.
    pub major_faults: u64,
    /// Processes killed by the kernel because of lack of memory; `None` before Linux 4.13.
    pub oom_kills: Option<u64>,
}

/// Usage of one process in one interval. `None` if it cannot be read.
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
    /// Sent to the storage layer, bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written_bytes: Option<u64>,
    /// Context switches because a thread had to wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub voluntary_switches: Option<u64>,
    /// Context switches because a CPU was taken from a thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub involuntary_switches: Option<u64>,
    /// Page faults served from memory.
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
    /// Available without swapping, as estimated by the kernel.
    pub available_bytes: u64,
    pub swap_used_bytes: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub free_bytes: Option<u64>,
    /// The page cache, including shared memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_bytes: Option<u64>,
    /// Cached blocks of devices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffers_bytes: Option<u64>,
    /// Waiting to be written to a disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dirty_bytes: Option<u64>,
    /// Being written to a disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writeback_bytes: Option<u64>,
}

/// Activity of one block device in one interval.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct DiskUse {
    /// Device name, for example `vda`.
    pub device: String,
    /// Completed reads.
    pub reads: u64,
    /// Completed writes.
    pub writes: u64,
    pub read_bytes: u64,
    pub written_bytes: u64,
    /// Time with at least one request in flight, seconds.
    pub busy_s: f64,
    /// Requests and their waiting times; `None` in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests: Option<DiskRequests>,
}

/// Requests of one block device in one interval, and their waiting times.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct DiskRequests {
    /// Time of the completed reads, including the queue, summed over the reads, seconds.
    pub read_s: f64,
    /// Time of the completed writes, including the queue, summed over the writes, seconds.
    pub write_s: f64,
    /// Integral of the requests in flight over time, seconds.
    pub queued_s: f64,
    /// Reads that were merged with others before they were issued.
    pub reads_merged: u64,
    /// Writes that were merged with others before they were issued.
    pub writes_merged: u64,
    /// Completed discards; `None` before Linux 4.18.
    pub discards: Option<u64>,
    pub discarded_bytes: Option<u64>,
    /// Time of the completed discards, summed over the discards, seconds.
    pub discard_s: Option<f64>,
    /// Completed flushes of the disk's cache; `None` before Linux 5.5. Partitions and volumes count none.
    pub flushes: Option<u64>,
    /// Time of the completed flushes, summed over the flushes, seconds.
    pub flush_s: Option<f64>,
}

impl DiskUse {
    /// Mean time of a read, seconds; `None` without reads. iostat calls it `r_await`.
    ///
    /// Source: the kernel's Documentation/admin-guide/iostats.rst, fields 1 and 4.
    pub fn read_wait_s(&self) -> Option<f64> {
        let requests = self.requests?;
        (self.reads > 0).then(|| requests.read_s / self.reads as f64)
    }

    /// Mean time of a write, seconds; `None` without writes. iostat calls it `w_await`.
    pub fn write_wait_s(&self) -> Option<f64> {
        let requests = self.requests?;
        (self.writes > 0).then(|| requests.write_s / self.writes as f64)
    }

    /// Mean time of a flush, seconds; `None` without flushes. iostat calls it `f_await`.
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

/// Traffic of one network interface in one interval.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct InterfaceUse {
    /// Name of the interface, for example `eth0`.
    pub interface: String,
    pub received_bytes: u64,
    pub received_packets: u64,
    pub sent_bytes: u64,
    pub sent_packets: u64,
    /// Damaged packets, in both directions.
    pub errors: u64,
    /// Packets dropped for lack of buffers, in both directions.
    pub drops: u64,
}

/// TCP counters of the machine in one interval.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct TcpUse {
    /// Segments sent, without retransmissions.
    pub segments_sent: u64,
    /// Segments retransmitted.
    pub retransmitted: u64,
    /// Connections that found the queue of a listening socket full.
    pub listen_overflows: Option<u64>,
    /// Connections dropped by a listening socket, for any reason.
    pub listen_drops: Option<u64>,
}

/// Usage of one control group in one interval. `None` if its kernel does not count it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CgroupUse {
    pub cpu_s: Option<f64>,
    /// Periods of the CPU limit with runnable tasks.
    pub periods: Option<u64>,
    /// Periods in which the limit was reached.
    pub throttled_periods: Option<u64>,
    /// Time that it was throttled, summed over its CPUs, seconds.
    pub throttled_s: Option<f64>,
    /// Memory at the end of the interval, page cache included, bytes.
    pub memory_bytes: Option<u64>,
    /// Number of times that it reached its memory limit.
    pub memory_limit_hits: Option<u64>,
    /// Processes of the group killed by the kernel because of lack of memory.
    pub oom_kills: Option<u64>,
    /// Read requests of its processes.
    pub reads: Option<u64>,
    /// Write requests of its processes.
    pub writes: Option<u64>,
    /// Read from block devices, bytes.
    pub read_bytes: Option<u64>,
    /// Written to block devices, bytes.
    pub written_bytes: Option<u64>,
    /// Its requests to the disks on which it is limited, counted as the kernel counts them for the limit; `None` without
    /// such a limit, and in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limited: Option<LimitedRequests>,
    /// Stall times of its tasks; `None` with version 1.
    pub pressure: Option<Pressure>,
}

/// Requests of a control group to the disks on which it is limited, in one interval.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LimitedRequests {
    pub reads: u64,
    /// Write requests, flushes included.
    pub writes: u64,
    pub read_bytes: u64,
    pub written_bytes: u64,
}

/// The cost of collecting telemetry in a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Collected {
    /// Collector: `machine` for the kernel's counters, `server` for the queries to the server.
    pub collector: String,
    /// Requested sampling interval, seconds.
    pub every_s: f64,
    /// Duration of collecting, seconds.
    pub length_s: f64,
    pub samples: u64,
    /// Samples skipped because the previous one was late.
    pub missed: u64,
    /// CPU time of the collecting thread, by its own clock, seconds.
    pub cpu_s: f64,
    /// Longest time of one sample, seconds.
    pub longest_s: f64,
}

impl Collected {
    /// Share of one CPU that collecting used; `None` if its duration was zero.
    pub fn cpu_share(&self) -> Option<f64> {
        (self.length_s > 0.0).then_some(self.cpu_s / self.length_s)
    }
}
