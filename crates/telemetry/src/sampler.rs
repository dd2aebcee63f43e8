//! Reads counters once per interval and says what was used since the reading before.

use std::path::PathBuf;

use procfs_core::{KernelStats, Meminfo};
use samples::{Host, Machine, Memory, Telemetry};

use crate::{
    block_device::BlockDevice,
    counters::{DiskCounters, MachineCounters, ProcessCounters},
    error::NotObserved,
    kernel::Kernel,
};

/// What is to be observed on this machine.
#[derive(Debug, Clone)]
pub struct Targets {
    /// Which half of the run this machine carries.
    pub host: Host,
    /// Process id of the server; unused with [`Host::Client`].
    pub server_pid: Option<u32>,
    /// The server's data directory; unused with [`Host::Client`].
    pub datadir: Option<PathBuf>,
}

/// Observes one machine, the server's process and dbdyno itself.
#[derive(Debug)]
pub struct Sampler {
    kernel: Kernel,
    watched: Watched,
    machine: Machine,
    last: Reading,
    last_t_s: f64,
}

/// What one reading looks at.
#[derive(Debug)]
struct Watched {
    host: Host,
    /// Forgotten as soon as the process is gone: its id may come back for another one.
    server_pid: Option<u32>,
    disk: Option<BlockDevice>,
}

/// All counters at one time.
#[derive(Debug)]
struct Reading {
    machine: Option<MachineCounters>,
    server: Option<ProcessCounters>,
    client: Option<ProcessCounters>,
    disk: Option<DiskCounters>,
    memory: Option<Memory>,
}

impl Sampler {
    /// Takes the first reading; call it when the load starts.
    pub fn new(targets: Targets) -> Self {
        let kernel = Kernel::running();
        let disk = match (&targets.datadir, targets.host) {
            (_, Host::Client) => None,
            (None, _) => Some(Err(NotObserved::DataDirectoryUnknown)),
            (Some(datadir), _) => Some(BlockDevice::holding(&kernel, datadir)),
        };
        Self::observing(kernel, targets.host, targets.server_pid, disk)
    }

    /// Takes the first reading of `kernel`; `disk` is `None` where none is to be observed.
    fn observing(
        kernel: Kernel,
        host: Host,
        server_pid: Option<u32>,
        disk: Option<Result<BlockDevice, NotObserved>>,
    ) -> Self {
        let mut missing = Vec::new();
        let disk = disk.and_then(|disk| note(disk, &mut missing));
        let mut watched = Watched {
            host,
            server_pid: server_pid.filter(|_| host != Host::Client),
            disk,
        };
        match (host, watched.server_pid) {
            (Host::Client, _) => missing.push(NotObserved::ServerHost),
            (_, None) => missing.push(NotObserved::ServerProcessUnknown),
            _ => {}
        }
        let last = Reading::take(&kernel, &mut watched, &mut missing);
        let machine = describe(&kernel, host, missing);
        Self {
            kernel,
            watched,
            machine,
            last,
            last_t_s: 0.0,
        }
    }

    /// The machine, with what could not be observed when [`Sampler::new`] looked.
    pub fn machine(&self) -> Machine {
        self.machine.clone()
    }

    /// What was used since the previous call, the first time since [`Sampler::new`].
    ///
    /// `t_s` is the time of this reading in seconds since the start of the load. What cannot be read any
    /// more is `None`; a server that went away stays `None`, even if another one takes its process id.
    pub fn sample(&mut self, t_s: f64) -> Telemetry {
        // What is missing was named at the start; what goes missing later shows as `None` in its interval.
        let now = Reading::take(&self.kernel, &mut self.watched, &mut Vec::new());
        let last = std::mem::replace(&mut self.last, now);
        let now = &self.last;
        let ticks_per_s = self.kernel.ticks_per_s;
        let process = |now: Option<ProcessCounters>, last: Option<ProcessCounters>| {
            now?.since(&last?, ticks_per_s)
        };
        let server = process(now.server, last.server);
        if server.is_none() {
            self.watched.server_pid = None;
        }
        let telemetry = Telemetry {
            t_s: self.last_t_s,
            length_s: whole_ns(t_s - self.last_t_s).max(0.0),
            host: self.watched.host,
            machine: now
                .machine
                .zip(last.machine)
                .map(|(now, last)| now.since(&last, ticks_per_s)),
            server,
            client: process(now.client, last.client),
            memory: now.memory,
            disk: match (&self.watched.disk, now.disk, last.disk) {
                (Some(disk), Some(now), Some(last)) => Some(now.since(&last, &disk.name)),
                _ => None,
            },
        };
        self.last_t_s = t_s;
        telemetry
    }
}

impl Reading {
    /// Reads everything that is watched; adds what cannot be read to `missing`.
    fn take(kernel: &Kernel, watched: &mut Watched, missing: &mut Vec<NotObserved>) -> Self {
        // One right after the other: they have to cover the same interval.
        let client = match watched.host {
            Host::Server => None,
            Host::Both | Host::Client => note(
                kernel.process("self").map_err(NotObserved::OwnProcess),
                missing,
            )
            .flatten(),
        };
        let server = watched.server_pid.and_then(|pid| {
            let counters = match kernel.process(&pid.to_string()) {
                Ok(Some(counters)) => Ok(counters),
                Ok(None) => Err(NotObserved::ServerProcessGone { pid }),
                Err(source) => Err(NotObserved::ServerProcess { pid, source }),
            };
            note(counters, missing)
        });
        if server.is_none() {
            watched.server_pid = None;
        }
        let machine = note(kernel.stats().map_err(NotObserved::MachineCpu), missing)
            .map(|stats: KernelStats| MachineCounters::from(&stats.total));
        Self {
            machine,
            server,
            client,
            disk: watched
                .disk
                .as_ref()
                .and_then(|disk| note(disk_counters(kernel, disk), missing)),
            memory: note(memory(kernel), missing),
        }
    }
}

fn disk_counters(kernel: &Kernel, disk: &BlockDevice) -> Result<DiskCounters, NotObserved> {
    let device = disk.name.clone();
    match kernel.disk(disk.major, disk.minor) {
        Ok(Some(counters)) => Ok(counters),
        Ok(None) => Err(NotObserved::DiskNotCounted { device }),
        Err(source) => Err(NotObserved::DiskCounters { device, source }),
    }
}

fn memory(kernel: &Kernel) -> Result<Memory, NotObserved> {
    let Meminfo {
        mem_total,
        mem_available,
        swap_total,
        swap_free,
        ..
    } = kernel.memory().map_err(NotObserved::Memory)?;
    Ok(Memory {
        total_bytes: mem_total,
        available_bytes: mem_available.ok_or(NotObserved::MemoryAvailable)?,
        swap_used_bytes: swap_total.saturating_sub(swap_free),
    })
}

/// The machine's identity, with everything that is `missing` put into words.
fn describe(kernel: &Kernel, host: Host, mut missing: Vec<NotObserved>) -> Machine {
    let cpu = kernel.cpu_info();
    let cpu_model = cpu.as_ref().and_then(|cpu| cpu.model_name(0));
    if cpu_model.is_none() {
        missing.push(NotObserved::CpuModel);
    }
    let flags = cpu
        .as_ref()
        .and_then(|cpu| cpu.flags(0))
        .unwrap_or_default();
    Machine {
        host,
        name: kernel.setting("hostname"),
        cpu_model: cpu_model.unwrap_or_default().to_owned(),
        cpus: kernel.stats().map_or(0, |stats| stats.cpu_time.len()) as u32,
        memory_bytes: kernel.memory().map_or(0, |memory| memory.mem_total),
        kernel: kernel.setting("osrelease"),
        virtualised: flags.contains(&"hypervisor"),
        not_observed: missing.iter().map(NotObserved::to_string).collect(),
    }
}

/// Seconds without the digits below a nanosecond, which only a subtraction of floats makes up.
fn whole_ns(seconds: f64) -> f64 {
    (seconds * 1e9).round() / 1e9
}

/// The value, or a note of why there is none.
fn note<T>(result: Result<T, NotObserved>, missing: &mut Vec<NotObserved>) -> Option<T> {
    result.map_err(|error| missing.push(error)).ok()
}

#[cfg(test)]
mod tests;
