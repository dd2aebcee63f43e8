//! The report of one run: for a terminal, as JSON, as CSV.
//!
//! Every figure is one of the record's measurement phase; operations count where they were due.

use std::collections::BTreeMap;

use audit::independent_beyond;
use samples::{
    Durations, ErrorCount, Host, Record, RunSummary, Shortfall, Steadiness, Totals, are_enough,
    is_supported,
};
use serde::Serialize;

use crate::{limit::limit_in_words, observers};

mod csv;
mod text;

/// What one run measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunReport {
    /// What ran.
    pub name: String,
    /// Version of the server, as it says.
    pub server: String,
    /// Its address.
    pub address: String,
    /// How the clients reached it.
    pub transport: String,
    /// What the run was asked to do, such as `rand-type` to `uniform`.
    pub settings: BTreeMap<String, String>,
    /// Seed of all randomness.
    pub seed: u64,
    /// Connections that were open.
    pub connections: u32,
    /// Connections that were asked for beside them, and could not be opened.
    #[serde(skip_serializing_if = "is_zero")]
    pub connections_refused: u64,
    /// Event loops.
    pub loops: u32,
    /// Mechanism of the event loops.
    pub io: String,
    /// How operations came to be due: `closed`, `constant` or `poisson`.
    pub arrivals: String,
    /// Operations per second that were asked for; none in a closed loop.
    pub offered_per_s: Option<f64>,
    /// Length of the measurement, seconds.
    pub measured_s: f64,
    /// Operations per second that came back.
    pub throughput_per_s: Option<f64>,
    /// Statements that came back, by class and second.
    pub statements_per_s: Classes<f64>,
    /// From the scheduled start of an operation to its end.
    pub response: Times,
    /// From the send of an operation to its end; only in an open loop.
    pub service: Option<Times>,
    /// From the scheduled start to the send; only in an open loop.
    pub send_lag: Option<Times>,
    /// The statements inside the operations; none where an operation is one statement.
    pub statements: Vec<StatementReport>,
    /// Operations that failed for good.
    pub failed: u64,
    /// Failed attempts by number.
    pub errors: Vec<ErrorCount>,
    /// Why the rate was not reached.
    pub shortfall: Option<Shortfall>,
    /// CPU time of the client for one statement, microseconds.
    pub client_us_per_statement: Option<f64>,
    /// CPUs that the client used, in the mean.
    pub client_cpus: Option<f64>,
    /// CPUs that the server used, in the mean.
    pub server_cpus: Option<f64>,
    /// What limited the run, in words.
    pub limited_by: Option<String>,
    /// What the run did over its measurement, and its stalls; left out where it was not judged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steadiness: Option<Steadiness>,
    /// How the server's host was observed, in words; left out where nobody was asked to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_host: Option<String>,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
pub(crate) fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// A value for each class of statements.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Classes<T> {
    /// Returned rows.
    pub read: T,
    /// Changed rows.
    pub write: T,
    /// Did neither.
    pub other: T,
}

/// Times of one kind.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Times {
    /// How many.
    pub count: u64,
    /// The mean, milliseconds.
    pub mean_ms: f64,
    /// The shortest, milliseconds.
    pub min_ms: f64,
    /// The longest, milliseconds.
    pub max_ms: f64,
    /// Percentiles in ascending order.
    pub percentiles: Vec<PercentileValue>,
}

/// One percentile.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PercentileValue {
    /// Which one, 0 to 100.
    pub percentile: f64,
    /// Its value, milliseconds; none with fewer than ten independent times beyond it (rule M09).
    pub ms: Option<f64>,
}

/// One statement inside the operations.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StatementReport {
    /// Its name.
    pub name: String,
    /// How often it did what.
    pub classes: Classes<u64>,
    /// How long it took.
    pub times: Times,
}

/// CPUs of the observed machine that is not the one of the other half of the run.
fn cpus(record: &Record, other: Host) -> f64 {
    let mut machines = record.machines.iter();
    let machine = machines.find(|machine| machine.host != other);
    machine.map_or(1.0, |machine| f64::from(machine.cpus))
}

impl Times {
    /// Without the percentiles that rest on a few bursts of a record's operations.
    fn without_bursts(mut self, record: &Record) -> Self {
        for value in &mut self.percentiles {
            let quantile = value.percentile / 100.0;
            let is_end = quantile <= 0.0 || quantile >= 1.0;
            let is_burst = || !are_enough(independent_beyond(record, quantile));
            if !is_end && quantile >= 0.5 && is_burst() {
                value.ms = None;
            }
        }
        self
    }

    /// True where a percentile is left out.
    fn leaves_out(&self) -> bool {
        self.count > 0 && self.percentiles.iter().any(|value| value.ms.is_none())
    }

    fn of(durations: &Durations, percentiles: &[f64]) -> Self {
        Self {
            count: durations.count,
            mean_ms: durations.mean_ns().unwrap_or(0.0) / 1e6,
            min_ms: durations.min_ns as f64 / 1e6,
            max_ms: durations.max_ns as f64 / 1e6,
            percentiles: percentiles
                .iter()
                .map(|percentile| PercentileValue {
                    percentile: *percentile,
                    ms: is_supported(durations.count as f64, *percentile / 100.0)
                        .then(|| percentile_ms(durations, *percentile)),
                })
                .collect(),
        }
    }
}

/// A percentile (0 to 100) in milliseconds, never beyond the exact minimum and maximum; 0 where there is no time.
pub(crate) fn percentile_ms(durations: &Durations, percentile: f64) -> f64 {
    let ns = durations.histogram.quantile_ns(percentile / 100.0);
    let ns = ns.map_or(0, |ns| ns.clamp(durations.min_ns, durations.max_ns));
    ns as f64 / 1e6
}

/// The statements by name; those of several loads together.
fn statements(totals: &Totals, percentiles: &[f64]) -> Vec<StatementReport> {
    let mut by_name: BTreeMap<&str, (samples::Classes, Durations)> = BTreeMap::new();
    for ((_, name), statement) in &totals.statements {
        let (classes, times) = by_name.entry(name).or_default();
        *classes += statement.classes;
        times.add(&statement.times);
    }
    let reports = by_name
        .into_iter()
        .map(|(name, (classes, times))| StatementReport {
            name: name.to_owned(),
            classes: Classes {
                read: classes.reads,
                write: classes.writes,
                other: classes.others,
            },
            times: Times::of(&times, percentiles),
        });
    reports.collect()
}

impl RunReport {
    /// The report of a record, with these percentiles (0 to 100).
    pub fn of(record: &Record, percentiles: &[f64]) -> Self {
        let summary = RunSummary::of(record);
        let totals = record.totals();
        let is_open = summary.offered_per_s.is_some();
        let times = |durations: &Durations| Times::of(durations, percentiles);
        let classes = totals.classes();
        let per_s = |count: u64| {
            if summary.measured_s > 0.0 {
                count as f64 / summary.measured_s
            } else {
                0.0
            }
        };
        let statements_count = classes.all();
        let client_cpus = summary.client_cpu.and_then(|cpu| cpu.client);
        let client_cpus = client_cpus.map(|share| share * cpus(record, Host::Server));
        let server_cpus = summary.cpu.and_then(|cpu| cpu.server);
        let header = &record.header;
        let server = record.servers.first();
        let offered = record.offered.as_ref();
        Self {
            name: header.experiment.clone(),
            server: server
                .map(|server| server.version.clone())
                .unwrap_or_default(),
            address: server
                .map(|server| server.address.clone())
                .unwrap_or_default(),
            transport: header.transport.clone(),
            settings: header.combination.clone(),
            seed: header.seed,
            connections: record.connections(),
            connections_refused: record.connections_refused(),
            loops: header.loops,
            io: header.io.clone(),
            arrivals: offered.map_or("closed".to_owned(), |offered| offered.process.clone()),
            offered_per_s: summary.offered_per_s,
            measured_s: summary.measured_s,
            throughput_per_s: summary.throughput_per_s,
            statements_per_s: Classes {
                read: per_s(classes.reads),
                write: per_s(classes.writes),
                other: per_s(classes.others),
            },
            response: times(&totals.response()).without_bursts(record),
            service: is_open.then(|| times(&totals.service())),
            send_lag: is_open.then(|| times(&totals.send_lag)),
            statements: statements(&totals, percentiles),
            failed: summary.errors,
            errors: record.errors.clone(),
            shortfall: offered.and_then(|offered| offered.shortfall.clone()),
            client_us_per_statement: client_cpus
                .filter(|_| statements_count > 0)
                .map(|cpus| cpus * summary.measured_s * 1e6 / statements_count as f64),
            client_cpus,
            server_cpus: server_cpus.map(|share| share * cpus(record, Host::Client)),
            limited_by: limit_in_words(record),
            steadiness: record.steadiness.clone(),
            server_host: observers::in_words(record),
        }
    }

    /// The report as one JSON object; times in milliseconds.
    pub fn json(&self) -> String {
        let text = serde_json::to_string_pretty(self);
        text.expect("a report has only names and numbers") + "\n"
    }
}

#[cfg(test)]
mod tests;
