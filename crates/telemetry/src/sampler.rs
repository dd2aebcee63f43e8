//! Reads counters once per interval and returns the use since the previous reading.

use std::path::PathBuf;

use samples::{Changed, Host, Machine, Peer, Storage, Telemetry};

use crate::{
    block_device::{BlockDevice, look_again},
    cgroup::Cgroups,
    cpu::CpuCounters,
    error::{NotObserved, note},
    kernel::Kernel,
    machine::{changes, describe},
    process::ProcessCounters,
    programs::OtherPrograms,
    reading::{Reading, Watched},
    storage::{Directory, storage},
};

/// The observed targets on this machine.
#[derive(Debug, Clone)]
pub struct Targets {
    /// Which side of the run this machine has.
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
    storage: Option<Storage>,
    last: Reading,
    programs: OtherPrograms,
}

impl Sampler {
    /// Takes the first reading; call it at the start of the load.
    pub fn new(targets: Targets) -> Self {
        let kernel = Kernel::running();
        let disk = match (&targets.datadir, targets.host) {
            (_, Host::Client) => None,
            (None, _) => Some(Err(NotObserved::DataDirectoryUnknown)),
            (Some(datadir), _) => Some(BlockDevice::holding(&kernel, datadir)),
        };
        Self::observing(kernel, targets.host, targets.server_pid, disk)
    }

    /// Takes the first reading of `kernel`; `disk` is `None` if none is observed.
    fn observing(
        kernel: Kernel,
        host: Host,
        server_pid: Option<u32>,
        disk: Option<Result<BlockDevice, NotObserved>>,
    ) -> Self {
        let mut missing = Vec::new();
        let disk = disk.and_then(|disk| note(disk, &mut missing));
        let server_pid = server_pid.filter(|_| host != Host::Client);
        let mut watched = Watched {
            host,
            server_pid,
            disk,
            cgroups: server_pid.and_then(|pid| Cgroups::of(&kernel, &pid.to_string())),
            ..Watched::default()
        };
        match (host, watched.server_pid) {
            (Host::Client, _) => missing.push(NotObserved::ServerHost),
            (_, None) => missing.push(NotObserved::ServerProcessUnknown),
            _ => {}
        }
        let last = Reading::take(&kernel, &mut watched, &mut missing, &|| 0.0);
        let counters = last.cpu.machine.as_ref();
        let cpus = counters.map_or(0, CpuCounters::cpus);
        let machine = describe(
            &kernel,
            host,
            cpus,
            (server_pid, watched.cgroups.as_ref()),
            missing,
        );
        Self {
            programs: OtherPrograms::new(&kernel),
            kernel,
            watched,
            machine,
            storage: None,
            last,
        }
    }

    /// Records that this load uses no server: [`Sampler::machine`] then no longer lists its process as unobserved.
    pub fn has_no_server(&mut self) {
        self.is_not_missing(&NotObserved::ServerProcessUnknown);
    }

    /// A program that dbdyno runs to drive the load is a part of the client.
    pub fn client_runs(&mut self, pid: u32) {
        self.watched.worker_pid = Some(pid);
    }

    /// The server was restarted and has this process now: its use counts from here on, without what its start took.
    pub fn server_runs(&mut self, pid: u32) {
        if self.watched.host == Host::Client {
            return;
        }
        let name = pid.to_string();
        let counters = ProcessCounters::read(&self.kernel, &name, "the server", &mut Vec::new());
        let server = counters.ok().flatten();
        self.watched.server_pid = server.as_ref().map(|_| pid);
        self.last.cpu.server = server;
    }

    /// The proxy between clients and server.
    pub fn proxy_runs(&mut self, pid: u32) {
        self.watched.proxy_pid = Some(pid);
    }

    /// The machine, with everything that [`Sampler::new`] could not observe.
    pub fn machine(&self) -> Machine {
        self.machine.clone()
    }

    /// Records that an observer runs on the server's host: [`Sampler::machine`] then no longer lists it as unobserved.
    pub fn server_host_is_observed(&mut self) {
        self.is_not_missing(&NotObserved::ServerHost);
    }

    fn is_not_missing(&mut self, what: &NotObserved) {
        let what = what.to_string();
        self.machine.not_observed.retain(|listed| *listed != what);
    }

    /// The storage of the directories that the server writes to; `None` with [`Host::Client`].
    pub fn storage(&mut self, directories: Vec<Directory>) -> Option<Storage> {
        if self.watched.host == Host::Client {
            return None;
        }
        let found = storage(&self.kernel, self.watched.host, &directories);
        self.storage = Some(found.clone());
        Some(found)
    }

    /// The differences from the values of [`Sampler::machine`] and [`Sampler::storage`].
    pub fn changes(&self) -> Vec<Changed> {
        let host = self.watched.host;
        let cpus = CpuCounters::read(&self.kernel, &mut Vec::new());
        let cpus = cpus.map_or(self.machine.cpus, |cpus| cpus.cpus());
        let groups = self.watched.cgroups.as_ref();
        // The group of a server that has ended is removed with it, which is not a change of a limit.
        let groups = groups.filter(|_| self.watched.server_pid.is_some());
        let mut machine = describe(&self.kernel, host, cpus, (None, groups), Vec::new());
        if groups.is_none() {
            let of_server = self
                .machine
                .cgroups
                .iter()
                .filter(|it| it.of == Peer::Server);
            machine.cgroups.extend(of_server.cloned());
        }
        let storage = self.storage.clone().map(|mut storage| {
            for device in &mut storage.devices {
                look_again(&self.kernel, device);
            }
            storage
        });
        changes(
            host,
            (&self.machine, self.storage.as_ref()),
            (&machine, storage.as_ref()),
        )
    }

    /// The use since the previous call, or since [`Sampler::new`] at the first call.
    ///
    /// `now_s` is the clock in seconds since the start of the load: the sample ends when its CPU times were read, which on
    /// an overloaded machine may be later than the call. Values that can no longer be read are `None`; those of a server
    /// that has ended stay `None`, even if another one gets its process id.
    pub fn sample(&mut self, now_s: &dyn Fn() -> f64) -> Telemetry {
        // Values missing at the start are listed there; values missing later show as `None` in their interval.
        let now = Reading::take(&self.kernel, &mut self.watched, &mut Vec::new(), now_s);
        let last = std::mem::replace(&mut self.last, now);
        let ticks_per_s = self.kernel.ticks_per_s;
        let mut telemetry = Telemetry {
            t_s: last.t_s,
            length_s: whole_ns(self.last.t_s - last.t_s).max(0.0),
            ..self.last.since(&last, &self.watched, ticks_per_s)
        };
        telemetry.programs = self.programs.since(&self.kernel, &telemetry, &self.watched);
        if telemetry.server.is_none() {
            self.watched.server_pid = None;
        }
        telemetry
    }
}

/// Seconds rounded to a nanosecond, which removes the rounding errors of the subtraction.
fn whole_ns(seconds: f64) -> f64 {
    (seconds * 1e9).round() / 1e9
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod kernels;
