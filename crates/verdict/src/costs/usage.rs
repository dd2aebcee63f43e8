//! What server, client and machine used in the measured phase of a run, by second.

use samples::{DiskUse, Host, ProcessUse, Record, ServerStatus, Telemetry};

/// What was used in the measured phase.
pub(super) struct Usage<'a> {
    record: &'a Record,
    on_server: Vec<&'a Telemetry>,
    on_client: Vec<&'a Telemetry>,
    status: Vec<&'a ServerStatus>,
}

/// A counter that begins with one of these hands rows over.
const HANDLER_READS: &str = "Handler_read_";

impl<'a> Usage<'a> {
    /// `None` where nothing was measured.
    pub(super) fn of(record: &'a Record) -> Option<Self> {
        let (begin_s, end_s) = record.measured_window_s()?;
        let is_within = |t_s: f64, length_s: f64| {
            let middle_s = t_s + length_s / 2.0;
            begin_s <= middle_s && middle_s <= end_s
        };
        let samples = record.telemetry.iter();
        let samples: Vec<&Telemetry> = samples
            .filter(|sample| is_within(sample.t_s, sample.length_s))
            .collect();
        let without = |host: Host| {
            let samples = samples.iter().copied();
            samples.filter(move |sample| sample.host != host).collect()
        };
        let status = record.server_status.iter();
        Some(Self {
            record,
            on_server: without(Host::Client),
            on_client: without(Host::Server),
            status: status
                .filter(|status| is_within(status.t_s, status.length_s))
                .collect(),
        })
    }

    /// How often the server was asked for its counters.
    pub(super) fn looks_per_s(&self) -> f64 {
        let length_s: f64 = self.status.iter().map(|status| status.length_s).sum();
        match length_s > 0.0 {
            true => self.status.len() as f64 / length_s,
            false => 0.0,
        }
    }

    /// Growth of a status variable; `None` where the server has none of this name, or was not asked.
    pub(super) fn counter(&self, name: &str) -> Option<f64> {
        let mut all = self.record.server_status.iter();
        let is_known = all.any(|status| status.counters.contains_key(name));
        is_known.then(|| self.growth(|counter| counter == name))?
    }

    fn growth(&self, is_meant: impl Fn(&str) -> bool) -> Option<f64> {
        let length_s: f64 = self.status.iter().map(|status| status.length_s).sum();
        let counters = self.status.iter().flat_map(|status| &status.counters);
        let grown: f64 = counters
            .filter(|(name, _)| is_meant(name))
            .map(|(_, grown)| grown)
            .sum();
        // The sum of nothing is -0.
        (length_s > 0.0).then_some((grown + 0.0) / length_s)
    }

    /// Rows that InnoDB handed over; where the server does not count these, rows of any engine but temporary tables;
    /// then calls to the engines, of which dbdyno's own questions about the status are a part.
    pub(super) fn rows_read(&self) -> Option<f64> {
        let counted = self.counter("Innodb_rows_read");
        counted.or_else(|| self.counter("Rows_read")).or_else(|| {
            self.counter("Handler_read_key")?;
            self.growth(|name| name.starts_with(HANDLER_READS))
        })
    }

    /// A sum over the samples of the server's machine, by second; `None` where none has the value.
    pub(super) fn on_server(&self, value: impl Fn(&Telemetry) -> Option<f64>) -> Option<f64> {
        per_s(&self.on_server, value)
    }

    /// The same of the server's process.
    pub(super) fn of_process(&self, value: fn(&ProcessUse) -> Option<f64>) -> Option<f64> {
        self.on_server(|it| value(it.server.as_ref()?))
    }

    /// The same of the data directory's disk. A disk that does nothing is in its samples, with zeros.
    pub(super) fn on_disk(&self, value: fn(&DiskUse) -> Option<f64>) -> Option<f64> {
        self.on_server(|it| value(it.disk.as_ref()?))
    }

    /// CPU time of the server's process, microseconds by second.
    pub(super) fn server_cpu_us(&self) -> Option<f64> {
        self.of_process(|it| Some((it.user_s + it.system_s) * 1e6))
    }

    /// Time that the server's control group was held back by its CPU limit, microseconds by second: none where the
    /// server's machine was looked at and has no such limit for it.
    pub(super) fn throttled_us(&self) -> Option<f64> {
        let observed = self.on_server(|it| Some(it.cgroup.as_ref()?.throttled_s? * 1e6));
        observed.or_else(|| {
            self.server_cpu_us()?;
            let mut machines = self.record.machines.iter();
            let machine = machines.find(|machine| machine.host != Host::Client)?;
            let mut groups = machine.cgroups.iter();
            let group = groups.find(|group| group.of == "server");
            let is_limited = group.is_some_and(|group| group.cpu_limit.is_some());
            (!is_limited).then_some(0.0)
        })
    }

    /// CPU time of dbdyno, microseconds by second.
    pub(super) fn client_cpu_us(&self) -> Option<f64> {
        per_s(&self.on_client, |it| {
            it.client.map(|it| (it.user_s + it.system_s) * 1e6)
        })
    }

    /// Time in which tasks of the server's control group, or else of its machine, stood still for a disk.
    pub(super) fn disk_stall(&self) -> Option<f64> {
        let of_group = |it: &Telemetry| Some(it.cgroup.as_ref()?.pressure?.io_some_s * 1e6);
        let of_machine = |it: &Telemetry| Some(it.pressure?.io_some_s * 1e6);
        self.on_server(of_group)
            .or_else(|| self.on_server(of_machine))
    }
}

/// By the length of the samples that have the value.
fn per_s(samples: &[&Telemetry], value: impl Fn(&Telemetry) -> Option<f64>) -> Option<f64> {
    let observed = samples
        .iter()
        .filter_map(|sample| Some((value(sample)?, sample.length_s)));
    let (sum, length_s) = observed.fold((0.0, 0.0), |(sum, length_s), (value, of_s)| {
        (sum + value, length_s + of_s)
    });
    (length_s > 0.0).then_some(sum / length_s)
}
