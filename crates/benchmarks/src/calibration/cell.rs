//! One measurement of a calibration.

use std::{fmt, sync::Arc, time::Duration};

use blame::{Blame, Blamed};
use experiment::{LoadSpec, PlannedLoad};
use load::{Arrivals, LoadListener, Termination, WarmUp};
use reactor::Interrupt;
use runs::{Context, Driver, LoadRules, NullProcess, calibration::StatementRate};
use samples::{
    Durations, Histogram, Host, Interval, Machine, Phase, PhaseMark, ProcessUse, Transport,
};
use settings::{Chosen, OptionTable, Value, defaults};
use telemetry::{Sampler, Targets};

use crate::oltp::{self, IgnoredErrors, OltpLoad, Plan, Script, Settings};

/// Parameters of one measurement.
#[derive(Debug, Clone)]
pub struct Cell {
    /// Over the unix socket; otherwise over TCP.
    pub is_unix: bool,
    /// As prepared statements; otherwise as text.
    pub is_prepared: bool,
    /// Number of connections.
    pub connections: u32,
    /// Number of event loops.
    pub loops: u32,
    /// Schedule of the queries.
    pub arrivals: Arrivals,
    /// Length of the measurement.
    pub duration: Duration,
}

/// Result of one measurement.
#[derive(Debug, Clone)]
pub struct Figures {
    /// What was measured.
    pub cell: Cell,
    /// The machine.
    pub machine: Machine,
    /// Rate of succeeded queries.
    pub queries_per_s: f64,
    /// CPU time per query; `None` if the process was not observed or no query returned.
    pub client_cpu_us: Option<f64>,
    /// The same of the null server.
    pub server_cpu_us: Option<f64>,
    /// Memory of dbdyno at the end.
    pub client_resident_bytes: Option<u64>,
    /// Memory of the null server at the end.
    pub server_resident_bytes: Option<u64>,
    /// Median response time.
    pub p50_us: Option<f64>,
    /// 99th percentile of the response times.
    pub p99_us: Option<f64>,
    /// Median time from the moment at which a user was due to the send.
    pub send_lag_p50_us: Option<f64>,
    /// The same as the 99th percentile.
    pub send_lag_p99_us: Option<f64>,
    /// Mean time to open a connection.
    pub connect_us: f64,
}

impl Cell {
    /// Transport of the queries.
    pub fn transport(&self) -> Transport {
        if self.is_unix {
            Transport::UnixSocket
        } else {
            Transport::TcpLoopback
        }
    }

    /// `prepared` or `text`.
    pub fn statements(&self) -> &'static str {
        if self.is_prepared { "prepared" } else { "text" }
    }

    /// Requested queries per second, in an open loop.
    pub fn rate(&self) -> Option<f64> {
        self.arrivals.rate_per_s()
    }

    /// Its load, as an experiment has it.
    fn load(&self) -> PlannedLoad {
        let mut values = defaults(OltpLoad.options());
        let mode = if self.is_prepared { "auto" } else { "disable" };
        values.set("script", Value::Choice("point_select"));
        values.set("db_ps_mode", Value::Choice(mode));
        let source = Chosen {
            kind: &OltpLoad as _,
            values,
        };
        PlannedLoad {
            spec: LoadSpec {
                arrivals: self.arrivals,
                warmup: WarmUp::For(self.duration / 4),
                loops: Some(self.loops),
                ..LoadSpec::closed(source, self.connections, self.duration)
            },
            seed: 0,
        }
    }

    /// Drives the load and measures its cost.
    pub(super) fn measure(
        self,
        server: &NullProcess,
        interrupt: &Interrupt,
    ) -> Result<Figures, Blamed> {
        let sampler = Sampler::new(Targets {
            host: Host::Both,
            server_pid: Some(server.pid()),
            datadir: None,
        });
        let machine = sampler.machine();
        let mut tally = Tally::new(sampler);
        let endpoint = server.endpoint(self.is_unix);
        let settings = Settings {
            is_prepared: self.is_prepared,
            connections: self.connections,
            ..Settings::default()
        };
        let plan = Arc::new(Plan::new(
            Script::PointSelect,
            settings,
            IgnoredErrors::Numbers(Vec::new()),
        ));
        let group = oltp::group(&plan, &endpoint);
        let load = self.load();
        let rules = LoadRules {
            interval: self.duration / 4,
            ..LoadRules::of_command(&load.spec)
        };
        let context = Context::silent(interrupt.clone());
        let driver = Driver::unrecorded(endpoint, &load, rules, &context);
        // The first error ends it, without the retries of a benchmark.
        let outcome = driver.drive(driver.load(group), &mut tally)?;
        match &outcome.ended {
            Termination::Planned => {}
            Termination::Interrupted => return Err(Blamed::new(Blame::Interrupted, "interrupted")),
            Termination::ServerLost(failure) | Termination::Failed { failure, .. } => {
                let message = format!("the null server failed: {failure}");
                return Err(Blamed::new(Blame::Server, message));
            }
        }
        let opened: u64 = outcome.connects.iter().map(|it| it.count).sum();
        let opening_ns: u64 = outcome.connects.iter().map(|it| it.sum_ns).sum();
        Ok(tally.figures(
            self,
            machine,
            opening_ns as f64 / 1e3 / opened.max(1) as f64,
        ))
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (transport, statements) = (self.transport(), self.statements());
        write!(
            f,
            "{transport}, {statements}, {} connections",
            self.connections
        )?;
        match self.rate() {
            Some(rate) => write!(f, ", {rate} queries/s requested"),
            None => Ok(()),
        }
    }
}

/// Totals over the measurement.
struct Tally {
    sampler: Sampler,
    elapsed_s: f64,
    rate: StatementRate,
    queries: u64,
    response: Histogram,
    send_lag: Histogram,
    client: ProcessUse,
    server: Option<ProcessUse>,
}

impl Tally {
    fn new(sampler: Sampler) -> Self {
        Self {
            sampler,
            elapsed_s: 0.0,
            rate: StatementRate::default(),
            queries: 0,
            response: Histogram::new(),
            send_lag: Histogram::new(),
            client: ProcessUse::default(),
            server: None,
        }
    }

    fn figures(self, cell: Cell, machine: Machine, connect_us: f64) -> Figures {
        let us = |histogram: &Histogram, quantile| {
            histogram.quantile_ns(quantile).map(|ns| ns as f64 / 1e3)
        };
        let cpu_us = |used: &ProcessUse| {
            let seconds = used.user_s + used.system_s;
            (self.queries > 0).then(|| seconds * 1e6 / self.queries as f64)
        };
        Figures {
            cell,
            machine,
            queries_per_s: self.rate.per_s().unwrap_or(0.0),
            client_cpu_us: cpu_us(&self.client),
            server_cpu_us: self.server.as_ref().and_then(cpu_us),
            client_resident_bytes: Some(self.client.resident_bytes).filter(|bytes| *bytes > 0),
            server_resident_bytes: self.server.map(|used| used.resident_bytes),
            p50_us: us(&self.response, 0.5),
            p99_us: us(&self.response, 0.99),
            send_lag_p50_us: us(&self.send_lag, 0.5),
            send_lag_p99_us: us(&self.send_lag, 0.99),
            connect_us,
        }
    }
}

impl LoadListener for Tally {
    fn connected(&mut self, _open: u64, _total: u64) {}

    fn started(&mut self) {
        // The time before the start is not counted.
        self.sampler.sample(&|| 0.0);
    }

    fn phase(&mut self, _mark: PhaseMark) {}

    fn interval(&mut self, interval: Interval) {
        self.elapsed_s = interval.t_s + interval.length_s;
        let elapsed_s = self.elapsed_s;
        let used = self.sampler.sample(&|| elapsed_s);
        if interval.phase != Phase::Measurement {
            return;
        }
        self.rate.add(&interval);
        self.queries += interval.succeeded();
        for operation in &interval.operations {
            self.response.add(&operation.histogram);
        }
        if let Some(Durations { histogram, .. }) = &interval.send_lag {
            self.send_lag.add(histogram);
        }
        if let Some(used) = used.client {
            add(&mut self.client, used);
        }
        if let Some(used) = used.server {
            add(self.server.get_or_insert_default(), used);
        }
    }
}

/// Adds the CPU time, and keeps the memory of the last sample.
fn add(sum: &mut ProcessUse, more: ProcessUse) {
    sum.user_s += more.user_s;
    sum.system_s += more.system_s;
    sum.resident_bytes = more.resident_bytes;
}
