//! The figures of one run, over its measurement phase.

use std::collections::BTreeMap;

use crate::{
    cpu_use::CpuUse,
    durations::Durations,
    line::{Interval, OperationInterval, Phase, StatementInterval},
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

/// Values that lie beyond a percentile, without which it is the time of one outlier.
const BEYOND: f64 = 10.0;

impl LatencySummary {
    /// The figures of these durations; `None` when there is none.
    pub fn of(durations: &Durations) -> Option<Self> {
        // HDR answers with the upper edge of a bucket; no percentile may lie beyond the exact maximum.
        let at = |quantile: f64| {
            let ns = durations.histogram.quantile_ns(quantile)?;
            Some(ns.clamp(durations.min_ns, durations.max_ns))
        };
        let supported = |quantile: f64| {
            let beyond = durations.count as f64 * (1.0 - quantile);
            // As far as a float counts: of 200 values ten lie beyond the 95th.
            if beyond >= BEYOND - 1e-9 {
                at(quantile)
            } else {
                None
            }
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

/// The operation that TPC-C's metric counts.
const NEW_ORDER: &str = "New-Order";

/// Adds up what belongs to one operation type.
#[derive(Default)]
struct Operation {
    errors: u64,
    /// Successful ones that came back while it was measured.
    back: u64,
    response: Durations,
    service: Durations,
}

/// Adds up what belongs to one statement.
#[derive(Default)]
struct Statement {
    classes: [u64; 3],
    /// Those that came back while it was measured.
    back: u64,
    times: Durations,
}

/// Everything that was due in the measurement.
#[derive(Default)]
struct Totals<'a> {
    operations: BTreeMap<(&'a str, &'a str), Operation>,
    statements: BTreeMap<(&'a str, &'a str), Statement>,
    send_lag: Durations,
}

impl<'a> Totals<'a> {
    /// Adds what an interval of phase `phase` holds.
    fn add(&mut self, interval: &'a Interval) {
        let measured = interval.phase == Phase::Measurement;
        self.take(
            &interval.operations,
            &interval.statements,
            measured,
            measured,
        );
        if let (true, Some(lag)) = (measured, &interval.send_lag) {
            self.send_lag.add(lag);
        }
        for carried in &interval.carried {
            let due = carried.due_in == Phase::Measurement;
            self.take(&carried.operations, &carried.statements, due, measured);
            if due {
                self.send_lag.add(&carried.send_lag);
            }
        }
    }

    /// Adds operations that were due in the measurement, or came back in it, or both.
    fn take(
        &mut self,
        operations: &'a [OperationInterval],
        statements: &'a [StatementInterval],
        due: bool,
        back: bool,
    ) {
        if !due && !back {
            return;
        }
        for part in operations {
            let key = (part.load.as_str(), part.operation.as_str());
            let total = self.operations.entry(key).or_default();
            total.back += if back { part.count } else { 0 };
            if due {
                total.errors += part.errors;
                total.response.add(&part.response());
                if let Some(service) = &part.service {
                    total.service.add(service);
                }
            }
        }
        for part in statements {
            let key = (part.load.as_str(), part.statement.as_str());
            let total = self.statements.entry(key).or_default();
            total.back += if back {
                part.reads + part.writes + part.others
            } else {
                0
            };
            if due {
                let classes = [part.reads, part.writes, part.others];
                for (sum, more) in total.classes.iter_mut().zip(classes) {
                    *sum += more;
                }
                total.times.add(&part.times());
            }
        }
    }
}

impl RunSummary {
    /// The figures of `record` over its measurement phase.
    pub fn of(record: &Record) -> Self {
        let mut measured_s = 0.0;
        let mut totals = Totals::default();
        for interval in &record.intervals {
            if interval.phase == Phase::Measurement {
                measured_s += interval.length_s;
            }
            totals.add(interval);
        }
        let per_s = |count: u64| (measured_s > 0.0).then(|| count as f64 / measured_s);
        let waits = record.offered.as_ref().map(|offered| &offered.waits);
        let alone = totals.operations.len() == 1;
        let mut all = Operation::default();
        let mut operations = Vec::with_capacity(totals.operations.len());
        for ((load, operation), total) in &totals.operations {
            all.errors += total.errors;
            all.back += total.back;
            all.response.add(&total.response);
            all.service.add(&total.service);
            let latency = match waits {
                Some(waits) if alone => with_waits(&total.response, waits),
                _ => LatencySummary::of(&total.response),
            };
            operations.push(OperationSummary {
                load: (*load).to_owned(),
                operation: (*operation).to_owned(),
                count: total.response.count,
                errors: total.errors,
                throughput_per_s: per_s(total.back),
                latency,
                service: LatencySummary::of(&total.service),
            });
        }
        let statements = totals.statements.iter();
        let statements = statements.map(|((load, statement), total)| StatementSummary {
            load: (*load).to_owned(),
            statement: (*statement).to_owned(),
            reads: total.classes[0],
            writes: total.classes[1],
            others: total.classes[2],
            throughput_per_s: per_s(total.back),
            latency: LatencySummary::of(&total.times),
        });
        Self {
            measured_s,
            count: all.response.count,
            errors: all.errors,
            offered_per_s: record
                .offered
                .as_ref()
                .and_then(|offered| offered.rate_per_s),
            throughput_per_s: per_s(all.back),
            latency: match waits {
                Some(waits) => with_waits(&all.response, waits),
                None => LatencySummary::of(&all.response),
            },
            service: LatencySummary::of(&all.service),
            send_lag: LatencySummary::of(&totals.send_lag),
            operations,
            statements: statements.collect(),
            cpu: CpuUse::of(record),
            client_cpu: CpuUse::of_client(record),
        }
    }
}

impl RunSummary {
    /// New-Orders of TPC-C per minute, those that were rolled back on purpose included; `None` where none ran.
    ///
    /// Source: TPC-C 5.11, clause 5.4.2.
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
