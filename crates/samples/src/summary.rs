//! The figures of one run, over its measurement phase.

use crate::{
    cpu_use::CpuUse, durations::Durations, known_load::NEW_ORDER, percentile::is_supported,
    reader::Record,
};

/// The figures of one run, over its measurement phase.
///
/// Throughput is what came back while it was measured, divided by that time. All other figures are of the operations
/// that were due in the measurement, whenever they came back: a backlog that is worked off after the stop makes no
/// throughput, and no wait is left out of the response times.
#[derive(Debug, Clone, PartialEq)]
pub struct RunSummary {
    /// Length of the measurement, seconds.
    pub measured_s: f64,
    /// Successful operations of all types.
    pub count: u64,
    /// Failed operations of all types.
    pub errors: u64,
    /// Operations per second that were asked for; `None` in a closed loop.
    pub offered_per_s: Option<f64>,
    /// Successful operations per second; `None` when nothing was measured.
    pub throughput_per_s: Option<f64>,
    /// Response times of all types together; those that never came back count with the time that they had waited.
    pub latency: Option<LatencySummary>,
    /// Service times, from the send; `None` in a closed loop, where they are the response times.
    pub service: Option<LatencySummary>,
    /// From the moment at which a user was due to the moment at which its request went out.
    pub send_lag: Option<LatencySummary>,
    /// Figures by load and operation, sorted.
    pub operations: Vec<OperationSummary>,
    /// Figures by load and statement, sorted; empty where operations are single statements.
    pub statements: Vec<StatementSummary>,
    /// CPU of the machine, the server's where both were observed; `None` when no machine was.
    pub cpu: Option<CpuUse>,
    /// CPU of the machine that dbdyno ran on; `None` when it was not observed.
    pub client_cpu: Option<CpuUse>,
}

/// The figures of one operation type.
#[derive(Debug, Clone, PartialEq)]
pub struct OperationSummary {
    /// Name of the load.
    pub load: String,
    /// Operation type.
    pub operation: String,
    /// Successful operations.
    pub count: u64,
    /// Failed operations.
    pub errors: u64,
    /// Successful operations per second; `None` when nothing was measured.
    pub throughput_per_s: Option<f64>,
    /// Response times; `None` when no operation succeeded. Those that never came back are in it only where the run
    /// has no other operation type.
    pub latency: Option<LatencySummary>,
    /// Service times, from the send; `None` in a closed loop.
    pub service: Option<LatencySummary>,
}

/// The figures of one statement.
#[derive(Debug, Clone, PartialEq)]
pub struct StatementSummary {
    /// Name of the load.
    pub load: String,
    /// Statement.
    pub statement: String,
    /// Statements that returned rows.
    pub reads: u64,
    /// Statements that changed rows.
    pub writes: u64,
    /// Statements that did neither.
    pub others: u64,
    /// Statements per second; `None` when nothing was measured.
    pub throughput_per_s: Option<f64>,
    /// Their times.
    pub latency: Option<LatencySummary>,
}

/// Times in nanoseconds: response times count from the scheduled start.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LatencySummary {
    /// Arithmetic mean.
    pub mean_ns: f64,
    /// Exact minimum.
    pub min_ns: u64,
    /// Exact maximum.
    pub max_ns: u64,
    /// Median; this and each other percentile is `None` with fewer than 10 values beyond it (rule M09).
    pub p50_ns: Option<u64>,
    /// 95th percentile.
    pub p95_ns: Option<u64>,
    /// 99th percentile.
    pub p99_ns: Option<u64>,
    /// 99.9th percentile.
    pub p999_ns: Option<u64>,
}

impl LatencySummary {
    /// The figures of these durations; `None` when there is none.
    pub fn of(durations: &Durations) -> Option<Self> {
        // HDR answers with the upper edge of a bucket; no percentile may lie beyond the exact maximum.
        let at = |quantile: f64| {
            let ns = durations.histogram.quantile_ns(quantile)?;
            Some(ns.clamp(durations.min_ns, durations.max_ns))
        };
        let supported = |quantile: f64| {
            is_supported(durations.count as f64, quantile)
                .then(|| at(quantile))
                .flatten()
        };
        Some(Self {
            mean_ns: durations.mean_ns()?,
            min_ns: durations.min_ns,
            max_ns: durations.max_ns,
            p50_ns: supported(0.5),
            p95_ns: supported(0.95),
            p99_ns: supported(0.99),
            p999_ns: supported(0.999),
        })
    }
}

impl RunSummary {
    /// The figures of `record` over its measurement phase.
    pub fn of(record: &Record) -> Self {
        let totals = record.totals();
        let measured_s = totals.measured_s;
        let per_s = |count: u64| (measured_s > 0.0).then(|| count as f64 / measured_s);
        let waits = record.offered.as_ref().map(|offered| &offered.waits);
        let alone = totals.operations.len() == 1;
        let operations = totals.operations.iter();
        let operations = operations.map(|((load, operation), total)| OperationSummary {
            load: load.clone(),
            operation: operation.clone(),
            count: total.response.count,
            errors: total.errors,
            throughput_per_s: per_s(total.back),
            latency: match waits {
                Some(waits) if alone => with_waits(&total.response, waits),
                _ => LatencySummary::of(&total.response),
            },
            service: LatencySummary::of(&total.service),
        });
        let statements = totals.statements.iter();
        let statements = statements.map(|((load, statement), total)| StatementSummary {
            load: load.clone(),
            statement: statement.clone(),
            reads: total.classes.reads,
            writes: total.classes.writes,
            others: total.classes.others,
            throughput_per_s: per_s(total.back),
            latency: LatencySummary::of(&total.times),
        });
        let response = totals.response();
        Self {
            measured_s,
            count: response.count,
            errors: totals.operations.values().map(|it| it.errors).sum(),
            offered_per_s: record
                .offered
                .as_ref()
                .and_then(|offered| offered.rate_per_s),
            throughput_per_s: per_s(totals.operations.values().map(|it| it.back).sum()),
            latency: match waits {
                Some(waits) => with_waits(&response, waits),
                None => LatencySummary::of(&response),
            },
            service: LatencySummary::of(&totals.service()),
            send_lag: LatencySummary::of(&totals.send_lag),
            operations: operations.collect(),
            statements: statements.collect(),
            cpu: CpuUse::of(record),
            client_cpu: CpuUse::of_client(record),
        }
    }
}

impl RunSummary {
    /// New-Orders per minute, those that were rolled back on purpose included; `None` where none ran.
    pub fn new_orders_per_min(&self) -> Option<f64> {
        let mut operations = self.operations.iter();
        let new_orders = operations.find(|operation| operation.operation == NEW_ORDER)?;
        Some(new_orders.throughput_per_s? * 60.0)
    }
}

/// Response times, and the waits of those that never came back.
fn with_waits(response: &Durations, waits: &Durations) -> Option<LatencySummary> {
    let mut all = response.clone();
    all.add(waits);
    LatencySummary::of(&all)
}

#[cfg(test)]
mod tests;
