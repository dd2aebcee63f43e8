//! The report of one run: for a terminal, as JSON, as CSV.
//!
//! Every figure is for the record's measurement phase; an operation belongs to the time at which it was due.

use std::collections::BTreeMap;

use figures::{RunFigures, StatementFigures};
use samples::{ErrorCount, JudgedSteadiness, Record, ServerIdentity, Shortfall};
use serde::Serialize;

use crate::sentences::{limit::limit_in_words, observers, proxy, set_limit};

mod csv;
mod summary;
mod text;

/// The results of one run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunReport {
    /// The name of the workload.
    pub name: String,
    /// Version of the server, as it reports it.
    pub server: String,
    pub address: String,
    pub transport: String,
    /// The settings of the run, such as `rand-type` to `uniform`.
    pub settings: BTreeMap<String, String>,
    /// Seed of all randomness.
    pub seed: u64,
    /// Connections that were open.
    pub connections: u32,
    /// Connections that were requested in addition and could not be opened.
    #[serde(skip_serializing_if = "is_zero")]
    pub connections_refused: u64,
    pub loops: u32,
    /// Mechanism of the event loops.
    pub io: String,
    /// How operations became due: `closed`, `constant` or `poisson`.
    pub arrivals: String,
    /// Requested operations per second; `None` in a closed loop.
    pub offered_per_s: Option<f64>,
    /// Length of the measurement, seconds.
    pub measured_s: f64,
    /// True if the run ended before its work was done.
    #[serde(skip)]
    pub is_incomplete: bool,
    /// Completed operations per second.
    pub throughput_per_s: Option<f64>,
    /// Completed statements by class, per second.
    pub statements_per_s: Classes<f64>,
    #[serde(skip)]
    pub classes: Classes<u64>,
    /// From the scheduled start of an operation to its end.
    pub response: Times,
    /// From the send of an operation to its end; only in an open loop.
    pub service: Option<Times>,
    /// From the scheduled start to the send; only in an open loop.
    pub send_lag: Option<Times>,
    /// The statements inside the operations; empty if an operation is one statement.
    pub statements: Vec<StatementReport>,
    /// Operations that failed after all attempts.
    pub failed: u64,
    /// Failed attempts by error number.
    pub errors: Vec<ErrorCount>,
    /// The reason why the rate was not reached.
    pub shortfall: Option<Shortfall>,
    /// CPU time of the client for one statement, microseconds.
    pub client_us_per_statement: Option<f64>,
    /// Mean number of CPUs that the client used.
    pub client_cpus: Option<f64>,
    /// Mean number of CPUs that the server used.
    pub server_cpus: Option<f64>,
    /// The limit of the run, in words.
    pub limited_by: Option<String>,
    /// The limit that the experiment set on the server, in words; left out without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit_set: Option<String>,
    /// What the proxy between clients and server did, in words; left out without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proxy: Option<String>,
    /// The state of the run over its measurement, and its stalls; left out if it was not judged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steadiness: Option<JudgedSteadiness>,
    /// How the server's host was observed, in words; left out if this was not requested.
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
    /// For statements that returned rows.
    pub read: T,
    /// For statements that changed rows.
    pub write: T,
    /// For statements that did neither.
    pub other: T,
}

/// Times of one kind.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Times {
    pub count: u64,
    /// Completed during the measurement, per second.
    #[serde(skip)]
    pub per_s: f64,
    pub mean_ms: f64,
    pub min_ms: f64,
    pub max_ms: f64,
    /// Percentiles in ascending order.
    pub percentiles: Vec<PercentileValue>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PercentileValue {
    /// Its level, 0 to 100.
    pub percentile: f64,
    /// Its value, milliseconds; `None` if no operation lies beyond it.
    pub ms: Option<f64>,
    /// True if fewer than ten independent times lie beyond it (rule M09).
    pub thin: bool,
    /// Its 95 % interval inside the run, milliseconds; `None` for a bound that lies beyond all times.
    pub low_ms: Option<f64>,
    /// The upper bound, see `low_ms`.
    pub high_ms: Option<f64>,
}

/// One statement inside the operations.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StatementReport {
    pub name: String,
    /// Number of executions by class.
    pub classes: Classes<u64>,
    /// Its response times.
    pub times: Times,
}

impl Times {
    /// True if a percentile is based on few times.
    fn is_thin(&self) -> bool {
        let mut percentiles = self.percentiles.iter();
        percentiles.any(|value| value.ms.is_some() && value.thin)
    }

    /// The figures of these times, with these percentiles (0 to 100).
    fn of(
        times: Option<&figures::Times>,
        count: u64,
        per_s: Option<f64>,
        percentiles: &[f64],
    ) -> Self {
        let ms = |ns: u64| ns as f64 / 1e6;
        let measured = |(at, percentile): (usize, &f64)| {
            let of = times.map(|times| &times.percentiles[at]);
            PercentileValue {
                percentile: *percentile,
                ms: of.and_then(figures::Percentile::measured_ns).map(ms),
                thin: of.is_some_and(figures::Percentile::is_thin),
                low_ms: of.and_then(|it| it.interval_ns.0).map(ms),
                high_ms: of.and_then(|it| it.interval_ns.1).map(ms),
            }
        };
        Self {
            count,
            per_s: per_s.unwrap_or(0.0),
            mean_ms: times.map_or(0.0, |times| times.mean_ns / 1e6),
            min_ms: times.map_or(0.0, |times| ms(times.min_ns)),
            max_ms: times.map_or(0.0, |times| ms(times.max_ns)),
            percentiles: percentiles.iter().enumerate().map(measured).collect(),
        }
    }
}

fn statement(statement: &StatementFigures, percentiles: &[f64]) -> StatementReport {
    let classes = Classes::of(statement.classes);
    StatementReport {
        name: statement.statement.clone(),
        classes,
        times: Times::of(
            statement.times.as_ref(),
            statement.classes.all(),
            statement.throughput_per_s,
            percentiles,
        ),
    }
}

impl Classes<u64> {
    fn of(classes: samples::Classes) -> Self {
        Self {
            read: classes.reads,
            write: classes.writes,
            other: classes.others,
        }
    }
}

impl RunReport {
    /// The report of a record, with these percentiles (0 to 100).
    pub fn of(record: &Record, percentiles: &[f64]) -> Self {
        let quantiles: Vec<f64> = percentiles.iter().map(|it| it / 100.0).collect();
        let figures = RunFigures::with_quantiles(record, &quantiles);
        let classes = Classes::of(figures.classes);
        let per_s = |count: u64| figures.per_s(count).unwrap_or(0.0);
        let times = |times: &Option<figures::Times>, count, per_s| {
            Times::of(times.as_ref(), count, per_s, percentiles)
        };
        // In a closed loop these are the response times, and nothing was sent late.
        let of_open_loop = |kind: &Option<figures::Times>| {
            figures.offered_per_s?;
            let count = kind.as_ref().map_or(0, |times| times.count);
            Some(times(kind, count, figures.per_s(count)))
        };
        let header = &record.header;
        let server = record.servers.first();
        let text = |of: fn(&ServerIdentity) -> &String| server.map(of).cloned().unwrap_or_default();
        let offered = record.offered.as_ref();
        Self {
            name: header.experiment.clone(),
            server: text(|server| &server.version),
            address: text(|server| &server.address),
            transport: header.transport.clone(),
            settings: header.combination.clone(),
            seed: header.seed,
            connections: record.connections(),
            connections_refused: record.connections_refused(),
            loops: header.loops,
            io: header.io.clone(),
            arrivals: offered.map_or("closed".to_owned(), |offered| offered.process.clone()),
            offered_per_s: figures.offered_per_s,
            measured_s: figures.measured_s,
            is_incomplete: record.end.as_ref().is_some_and(|end| !end.complete),
            throughput_per_s: figures.throughput_per_s,
            statements_per_s: Classes {
                read: per_s(classes.read),
                write: per_s(classes.write),
                other: per_s(classes.other),
            },
            classes,
            response: times(&figures.response, figures.count, figures.throughput_per_s),
            service: of_open_loop(&figures.service),
            send_lag: of_open_loop(&figures.send_lag),
            statements: (figures.statements.iter())
                .map(|it| statement(it, percentiles))
                .collect(),
            failed: figures.errors,
            errors: record.errors.clone(),
            shortfall: offered.and_then(|offered| offered.shortfall.clone()),
            client_us_per_statement: figures.client_us_per_statement(),
            client_cpus: figures.client_cpus,
            server_cpus: figures.server_cpus,
            limited_by: limit_in_words(record),
            limit_set: set_limit::in_words(record),
            proxy: proxy::in_words(record),
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
