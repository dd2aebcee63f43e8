//! Resource use of server, client and machine in the measured phase of a run, per second.

use samples::{Counters, DiskUse, Host, Peer, ProcessUse, Record, Telemetry};

/// The resource use in the measured phase.
pub(super) struct Usage<'a> {
    record: &'a Record,
    on_server: Vec<&'a Telemetry>,
    on_client: Vec<&'a Telemetry>,
    pub(super) counters: Counters<'a>,
}

impl<'a> Usage<'a> {
    /// The use in a record; `None` if nothing was measured.
    pub(super) fn of(record: &'a Record) -> Option<Self> {
        let measured = record.measured()?;
        let without = |host: Host| {
            let samples = measured.telemetry();
            samples.filter(move |sample| sample.host != host).collect()
        };
        Some(Self {
            record,
            on_server: without(Host::Client),
            on_client: without(Host::Server),
            counters: measured.counters(),
        })
    }

    /// Growth of a status variable per second; `None` if the server does not have it or was not observed.
    pub(super) fn counter(&self, name: &str) -> Option<f64> {
        self.counters.per_s(name)
    }

    /// A sum over the samples of the server's machine, per second; `None` if none has the value.
    pub(super) fn on_server(&self, value: impl Fn(&Telemetry) -> Option<f64>) -> Option<f64> {
        per_s(&self.on_server, value)
    }

    /// The same for the server's process.
    pub(super) fn of_process(&self, value: fn(&ProcessUse) -> Option<f64>) -> Option<f64> {
        self.on_server(|it| value(it.server.as_ref()?))
    }

    /// The same for the data directory's disk. An idle disk is in its samples, with zeros.
    pub(super) fn on_disk(&self, value: fn(&DiskUse) -> Option<f64>) -> Option<f64> {
        self.on_server(|it| value(it.disk.as_ref()?))
    }

    /// CPU time of the server's process, microseconds per second.
    pub(super) fn server_cpu_us(&self) -> Option<f64> {
        self.of_process(|it| Some((it.user_s + it.system_s) * 1e6))
    }

    /// Time for which the server's control group was throttled by its CPU limit, microseconds per second: 0 if the
    /// server's machine was observed and has no such limit for it.
    pub(super) fn throttled_us(&self) -> Option<f64> {
        let observed = self.on_server(|it| Some(it.cgroup.as_ref()?.throttled_s? * 1e6));
        observed.or_else(|| {
            self.server_cpu_us()?;
            let mut machines = self.record.machines.iter();
            let machine = machines.find(|machine| machine.host != Host::Client)?;
            let mut groups = machine.cgroups.iter();
            let group = groups.find(|group| group.of == Peer::Server);
            let is_limited = group.is_some_and(|group| group.cpu_limit.is_some());
            (!is_limited).then_some(0.0)
        })
    }

    /// CPU time of dbdyno, microseconds per second.
    pub(super) fn client_cpu_us(&self) -> Option<f64> {
        per_s(&self.on_client, |it| {
            it.client.map(|it| (it.user_s + it.system_s) * 1e6)
        })
    }

    /// CPU time of the proxy between clients and server, microseconds per second.
    pub(super) fn proxy_cpu_us(&self) -> Option<f64> {
        per_s(&self.on_client, |it| {
            it.proxy.map(|it| (it.user_s + it.system_s) * 1e6)
        })
    }

    /// Time in which tasks of the server's control group, or else of its machine, were stalled waiting for a disk.
    pub(super) fn disk_stall(&self) -> Option<f64> {
        let of_group = |it: &Telemetry| Some(it.cgroup.as_ref()?.pressure?.io_some_s * 1e6);
        let of_machine = |it: &Telemetry| Some(it.pressure?.io_some_s * 1e6);
        self.on_server(of_group)
            .or_else(|| self.on_server(of_machine))
    }
}

/// The sum divided by the length of the samples that have the value.
fn per_s(samples: &[&Telemetry], value: impl Fn(&Telemetry) -> Option<f64>) -> Option<f64> {
    let observed = samples
        .iter()
        .filter_map(|sample| Some((value(sample)?, sample.length_s)));
    let (sum, length_s) = observed.fold((0.0, 0.0), |(sum, length_s), (value, of_s)| {
        (sum + value, length_s + of_s)
    });
    (length_s > 0.0).then_some(sum / length_s)
}
