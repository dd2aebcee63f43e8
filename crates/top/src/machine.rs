//! The figures of a machine and its processes in one interval.

use samples::{DiskUse, Host, Telemetry};

use crate::timeline::Moment;

/// The figures of one machine in one interval; unobserved ones are `None`.
#[derive(Debug, Clone)]
pub(crate) struct MachineMoment {
    start_s: f64,
    length_s: f64,
    pub(crate) host: Host,
    /// Number of logical CPUs, from the sum of their times.
    pub(crate) cpus: Option<f64>,
    pub(crate) cpu: Option<CpuShares>,
    /// CPU time of the server's process per elapsed time: 1 is one CPU.
    pub(crate) server_cpus: Option<f64>,
    /// The same for the dbdyno that runs the load.
    pub(crate) client_cpus: Option<f64>,
    pub(crate) server_resident_bytes: Option<f64>,
    pub(crate) server_threads: Option<f64>,
    /// Used share of the memory, 0 to 1.
    pub(crate) memory_used: Option<f64>,
    pub(crate) swap_used_bytes: Option<f64>,
    /// Number of tasks that ran or waited for a CPU.
    pub(crate) running: Option<f64>,
    pub(crate) context_switches_per_s: Option<f64>,
    /// Share of the time in which a task waited for a CPU, 0 to 1.
    pub(crate) cpu_pressure: Option<f64>,
    /// The same for a disk.
    pub(crate) io_pressure: Option<f64>,
    /// The disk of the data directory; if unknown, the sum of all disks.
    pub(crate) disk: Option<DiskMoment>,
    /// Every disk with activity.
    pub(crate) disks: Vec<DiskMoment>,
    pub(crate) interfaces: Vec<InterfaceMoment>,
}

/// Shares of the CPU capacity of a machine, 0 to 1.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CpuShares {
    pub(crate) user: f64,
    pub(crate) system: f64,
    pub(crate) iowait: f64,
    pub(crate) steal: f64,
}

impl CpuShares {
    /// The used share.
    pub(crate) fn busy(&self) -> f64 {
        self.user + self.system
    }
}

/// The figures of a disk in one interval.
#[derive(Debug, Clone, Default)]
pub(crate) struct DiskMoment {
    pub(crate) device: String,
    pub(crate) reads_per_s: f64,
    pub(crate) writes_per_s: f64,
    pub(crate) read_bytes_per_s: f64,
    pub(crate) written_bytes_per_s: f64,
    pub(crate) flushes_per_s: Option<f64>,
    /// Share of the time with a request in flight, 0 to 1.
    pub(crate) busy: Option<f64>,
    pub(crate) queue: Option<f64>,
    pub(crate) read_wait_ns: Option<f64>,
    pub(crate) write_wait_ns: Option<f64>,
}

/// Traffic of a network interface in one interval.
#[derive(Debug, Clone)]
pub(crate) struct InterfaceMoment {
    pub(crate) interface: String,
    pub(crate) received_bytes_per_s: f64,
    pub(crate) sent_bytes_per_s: f64,
    pub(crate) packets_per_s: f64,
    /// Corrupt or dropped packets.
    pub(crate) bad_packets_per_s: f64,
}

impl Moment for MachineMoment {
    fn start_s(&self) -> f64 {
        self.start_s
    }

    fn length_s(&self) -> f64 {
        self.length_s
    }
}

impl MachineMoment {
    /// The figures in a line of a record; `None` for an interval without length.
    pub(crate) fn of(telemetry: &Telemetry) -> Option<Self> {
        let length_s = telemetry.length_s;
        if length_s <= 0.0 {
            return None;
        }
        let cpu_s = telemetry
            .machine
            .map(|cpu| cpu.user_s + cpu.system_s + cpu.iowait_s + cpu.steal_s + cpu.idle_s)
            .filter(|all| *all > 0.0);
        let cpu = telemetry.machine.zip(cpu_s).map(|(cpu, all)| CpuShares {
            user: cpu.user_s / all,
            system: cpu.system_s / all,
            iowait: cpu.iowait_s / all,
            steal: cpu.steal_s / all,
        });
        let memory = telemetry.memory.filter(|memory| memory.total_bytes > 0);
        let scheduling = telemetry.scheduling;
        let server = telemetry.server;
        let disks = telemetry.disks().map(|disk| DiskMoment::of(disk, length_s));
        Some(Self {
            start_s: telemetry.t_s,
            length_s,
            host: telemetry.host,
            cpus: cpu_s.map(|all| all / length_s),
            cpu,
            server_cpus: server.map(|it| (it.user_s + it.system_s) / length_s),
            client_cpus: telemetry
                .client
                .map(|it| (it.user_s + it.system_s) / length_s),
            server_resident_bytes: server.map(|it| it.resident_bytes as f64),
            server_threads: server.and_then(|it| Some(it.threads? as f64)),
            memory_used: memory
                .map(|memory| 1.0 - memory.available_bytes as f64 / memory.total_bytes as f64),
            swap_used_bytes: memory.map(|memory| memory.swap_used_bytes as f64),
            running: scheduling.and_then(|it| Some(f64::from(it.running?))),
            context_switches_per_s: scheduling.map(|it| it.context_switches as f64 / length_s),
            cpu_pressure: telemetry.pressure.map(|it| it.cpu_some_s / length_s),
            io_pressure: telemetry.pressure.map(|it| it.io_some_s / length_s),
            disk: telemetry
                .disk
                .as_ref()
                .map(|disk| DiskMoment::of(disk, length_s)),
            disks: disks.collect(),
            interfaces: telemetry
                .interfaces
                .iter()
                .map(|it| InterfaceMoment {
                    interface: it.interface.clone(),
                    received_bytes_per_s: it.received_bytes as f64 / length_s,
                    sent_bytes_per_s: it.sent_bytes as f64 / length_s,
                    packets_per_s: (it.received_packets + it.sent_packets) as f64 / length_s,
                    bad_packets_per_s: (it.errors + it.drops) as f64 / length_s,
                })
                .collect(),
        })
    }
}

impl DiskMoment {
    fn of(disk: &DiskUse, length_s: f64) -> Self {
        let per_s = |count: u64| count as f64 / length_s;
        Self {
            device: disk.device.clone(),
            reads_per_s: per_s(disk.reads),
            writes_per_s: per_s(disk.writes),
            read_bytes_per_s: per_s(disk.read_bytes),
            written_bytes_per_s: per_s(disk.written_bytes),
            flushes_per_s: disk.requests.and_then(|it| it.flushes).map(per_s),
            busy: disk.utilisation(length_s),
            queue: disk.queue_length(length_s),
            read_wait_ns: disk.read_wait_s().map(|wait_s| wait_s * 1e9),
            write_wait_ns: disk.write_wait_s().map(|wait_s| wait_s * 1e9),
        }
    }
}
