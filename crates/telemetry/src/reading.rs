//! A reading of all counters, and the difference of two readings.

use std::collections::BTreeMap;

use samples::{Host, Memory, ProcessUse, Telemetry};

use crate::{
    block_device::{BlockDevice, Number, is_stacked},
    cgroup::{CgroupCounters, Cgroups},
    cpu::CpuCounters,
    disk::{DiskCounters, Partitions},
    error::{NotObserved, note},
    kernel::Kernel,
    memory::{PagingCounters, memory},
    network::{InterfaceCounters, TcpCounters},
    pressure::PressureCounters,
    process::ProcessCounters,
    timed_reading::read_in_time,
};

/// The targets of one reading.
#[derive(Debug, Default)]
pub(crate) struct Watched {
    pub(crate) host: Host,
    /// Cleared as soon as the process has ended: its id may be reused.
    pub(crate) server_pid: Option<u32>,
    /// A program that dbdyno runs to drive the load: a part of the client.
    pub(crate) worker_pid: Option<u32>,
    /// The proxy between clients and server.
    pub(crate) proxy_pid: Option<u32>,
    pub(crate) disk: Option<BlockDevice>,
    /// The control groups of the server's process.
    pub(crate) cgroups: Option<Cgroups>,
    pub(crate) partitions: Partitions,
    pub(crate) stacked: BTreeMap<Number, bool>,
}

/// All counters at one time.
#[derive(Debug)]
pub(crate) struct Reading {
    /// The time at which the CPU times were read, seconds since the start of the load.
    pub(crate) t_s: f64,
    pub(crate) cpu: CpuReading,
    disks: Option<DiskCounters>,
    memory: Option<Memory>,
    paging: Option<PagingCounters>,
    pressure: Option<PressureCounters>,
    interfaces: Option<InterfaceCounters>,
    tcp: Option<TcpCounters>,
    cgroup: Option<CgroupCounters>,
}

/// The CPU times of the machine and of the watched processes, which cover the same interval.
#[derive(Debug)]
pub(crate) struct CpuReading {
    pub(crate) machine: Option<CpuCounters>,
    pub(crate) server: Option<ProcessCounters>,
    client: Option<ProcessCounters>,
    worker: Option<ProcessCounters>,
    proxy: Option<ProcessCounters>,
}

/// The use of two processes together.
fn sum(one: Option<ProcessUse>, other: Option<ProcessUse>) -> Option<ProcessUse> {
    let (one, other) = match (one, other) {
        (Some(one), Some(other)) => (one, other),
        (one, other) => return one.or(other),
    };
    let both = |of: fn(&ProcessUse) -> Option<u64>| Some(of(&one)? + of(&other)?);
    Some(ProcessUse {
        user_s: one.user_s + other.user_s,
        system_s: one.system_s + other.system_s,
        resident_bytes: one.resident_bytes + other.resident_bytes,
        threads: both(|it| it.threads),
        open_files: both(|it| it.open_files),
        read_bytes: both(|it| it.read_bytes),
        written_bytes: both(|it| it.written_bytes),
        voluntary_switches: both(|it| it.voluntary_switches),
        involuntary_switches: both(|it| it.involuntary_switches),
        minor_faults: both(|it| it.minor_faults),
        major_faults: both(|it| it.major_faults),
    })
}

impl CpuReading {
    /// Reads one right after the other; adds unreadable values to `missing`.
    fn read(kernel: &Kernel, watched: &mut Watched, missing: &mut Vec<NotObserved>) -> Self {
        let client = match watched.host {
            Host::Server => None,
            Host::Both | Host::Client => {
                let counters = ProcessCounters::read(kernel, "self", "dbdyno's process", missing);
                note(counters.map_err(NotObserved::OwnProcess), missing).flatten()
            }
        };
        let server = watched.server_pid.and_then(|pid| {
            let counters =
                match ProcessCounters::read(kernel, &pid.to_string(), "the server", missing) {
                    Ok(Some(counters)) => Ok(counters),
                    Ok(None) => Err(NotObserved::ServerProcessGone { pid }),
                    Err(source) => Err(NotObserved::ServerProcess { pid, source }),
                };
            note(counters, missing)
        });
        if server.is_none() {
            watched.server_pid = None;
        }
        let mut own = |pid: Option<u32>, what| {
            let read = ProcessCounters::read(kernel, &pid?.to_string(), what, missing);
            // It ends with the load, which is no gap.
            read.ok().flatten()
        };
        let worker = own(watched.worker_pid, "the worker");
        let proxy = own(watched.proxy_pid, "the proxy");
        Self {
            // Last, so that the time of the reading is that of these counters.
            machine: CpuCounters::read(kernel, missing),
            server,
            client,
            worker,
            proxy,
        }
    }
}

impl Reading {
    /// Reads everything that is watched; adds unreadable values to `missing`. `now_s` is the clock of the load.
    pub(crate) fn take(
        kernel: &Kernel,
        watched: &mut Watched,
        missing: &mut Vec<NotObserved>,
        now_s: &dyn Fn() -> f64,
    ) -> Self {
        let (cpu, t_s) = read_in_time(now_s, || CpuReading::read(kernel, watched, missing));
        let pressure = PressureCounters::of_machine(kernel)
            .map_err(|source| NotObserved::counters("pressure (PSI)", source));
        let disk = watched.disk.as_ref();
        let stacked = &mut watched.stacked;
        let mut is_stacked = |number| {
            let is_known = stacked.entry(number);
            *is_known.or_insert_with(|| is_stacked(kernel, number))
        };
        Self {
            t_s,
            cpu,
            disks: DiskCounters::read(kernel, &mut watched.partitions, disk, missing),
            memory: note(memory(kernel), missing),
            paging: note(PagingCounters::read(kernel), missing),
            pressure: note(pressure, missing),
            interfaces: note(InterfaceCounters::read(kernel), missing),
            tcp: note(TcpCounters::read(kernel), missing),
            cgroup: watched
                .cgroups
                .as_ref()
                .map(|groups| groups.read(kernel, &mut is_stacked)),
        }
    }

    /// The activity since `earlier`; the caller provides `t_s` and `length_s`.
    pub(crate) fn since(&self, earlier: &Self, watched: &Watched, ticks_per_s: u64) -> Telemetry {
        let process = |now: &Option<ProcessCounters>, before: &Option<ProcessCounters>| {
            now.as_ref()?.since(before.as_ref()?, ticks_per_s)
        };
        let (own, before) = (&self.cpu, &earlier.cpu);
        let cpu = own.machine.as_ref().zip(before.machine.as_ref());
        let disks = self.disks.as_ref().zip(earlier.disks.as_ref());
        let disk = watched.disk.as_ref();
        let interfaces = self.interfaces.as_ref().zip(earlier.interfaces.as_ref());
        let cgroup = self.cgroup.as_ref().zip(earlier.cgroup.as_ref());
        Telemetry {
            host: watched.host,
            machine: cpu.map(|(now, before)| now.machine_since(before, ticks_per_s)),
            server: process(&own.server, &before.server),
            client: sum(
                process(&own.client, &before.client),
                process(&own.worker, &before.worker),
            ),
            proxy: process(&own.proxy, &before.proxy),
            memory: self.memory,
            disk: disks.and_then(|(now, before)| now.disk_since(before, disk?)),
            other_disks: disks
                .map(|(now, before)| now.others_since(before, disk))
                .unwrap_or_default(),
            cpus: cpu
                .map(|(now, before)| now.cpus_since(before, ticks_per_s))
                .unwrap_or_default(),
            scheduling: cpu.map(|(now, before)| now.scheduling_since(before)),
            pressure: self
                .pressure
                .zip(earlier.pressure)
                .map(|(now, before)| now.since(&before)),
            paging: self
                .paging
                .zip(earlier.paging)
                .map(|(now, before)| now.since(&before)),
            interfaces: interfaces
                .map(|(now, before)| now.since(before))
                .unwrap_or_default(),
            tcp: self
                .tcp
                .zip(earlier.tcp)
                .map(|(now, before)| now.since(&before)),
            cgroup: cgroup.map(|(now, before)| now.since(before)),
            ..Telemetry::default()
        }
    }
}
