//! The figures of one run, over its measurement phase.

use samples::{
    Classes, CpuUse, Durations, Histogram, Host, Interval, NEW_ORDER, OperationInterval, Record,
    Totals,
};

use crate::{
    operation::{OperationFigures, StatementFigures},
    percentile::QUANTILES,
    times::Times,
};

/// The figures of one run, over its measurement phase.
///
/// Throughput is the number of operations completed during the measurement, divided by its duration. All other figures
/// are of the operations that were due in the measurement, regardless of when they completed: a backlog that is
/// completed after the stop does not count as throughput, and no wait is left out of the response times.
#[derive(Debug, Clone, PartialEq)]
pub struct RunFigures {
    pub measured_s: f64,
    /// Successful operations of all types.
    pub count: u64,
    /// Failed operations of all types.
    pub errors: u64,
    /// Requested operations per second; `None` in a closed loop.
    pub offered_per_s: Option<f64>,
    /// Successful operations per second; `None` without a measurement.
    pub throughput_per_s: Option<f64>,
    /// New-Orders per minute, including intentional rollbacks; `None` without New-Orders.
    pub new_orders_per_min: Option<f64>,
    /// Response times of all types together; operations that never completed count with their waiting time so far.
    pub response: Option<Times>,
    /// Service times, from the send; `None` in a closed loop, where they equal the response times.
    pub service: Option<Times>,
    /// Delays from the time at which a user was due to the sending of its request.
    pub send_lag: Option<Times>,
    /// The part of these delays that the client itself took, once the user was due and had a free connection; `None`
    /// in a closed loop, where it is all of them, and of older records.
    pub client_lag: Option<Times>,
    /// Statements of all operations, counted by effect.
    pub classes: Classes,
    /// Figures by load and operation, sorted.
    pub operations: Vec<OperationFigures>,
    /// Figures by load and statement, sorted; empty if operations are single statements.
    pub statements: Vec<StatementFigures>,
    /// CPU usage of the server's machine; `None` if it was not observed.
    pub server_cpu: Option<CpuUse>,
    /// CPU usage of the machine that dbdyno ran on; `None` if it was not observed.
    pub client_cpu: Option<CpuUse>,
    /// Mean number of CPUs used by the server.
    pub server_cpus: Option<f64>,
    /// Mean number of CPUs used by dbdyno.
    pub client_cpus: Option<f64>,
}

impl RunFigures {
    /// The figures of `record`, with the percentiles of every output.
    pub fn of(record: &Record) -> Self {
        Self::with_quantiles(record, &QUANTILES)
    }

    /// The figures of `record`, with these percentiles (0.99 for the 99th).
    pub fn with_quantiles(record: &Record, quantiles: &[f64]) -> Self {
        let phase = MeasuredPhase {
            intervals: record.measured_intervals().collect(),
            quantiles,
        };
        let totals = record.totals();
        let response = totals.response();
        let per_s = |count: u64| per_s(count, totals.measured_s);
        let operations = operations(record, &totals, &phase);
        let new_orders = operations.iter().find(|it| it.operation == NEW_ORDER);
        let new_orders_per_min = new_orders.and_then(|it| Some(it.throughput_per_s? * 60.0));
        let server_cpu = CpuUse::of_server(record);
        let client_cpu = CpuUse::of_client(record);
        let cpus = |share: Option<f64>, other| Some(share? * cpus_without(record, other));
        Self {
            measured_s: totals.measured_s,
            count: response.count,
            errors: totals.operations.values().map(|it| it.errors).sum(),
            offered_per_s: record.offered.as_ref().and_then(|it| it.rate_per_s),
            throughput_per_s: per_s(totals.operations.values().map(|it| it.back).sum()),
            new_orders_per_min,
            response: phase.times(&with_waits(record, response), |interval| {
                responses(interval, |_| true)
            }),
            service: phase.times(&totals.service(), |interval| {
                let services = interval.operations.iter().flat_map(|it| &it.service);
                services.map(|it| &it.histogram).collect()
            }),
            send_lag: phase.times(&totals.send_lag, |interval| {
                interval.send_lag.iter().map(|it| &it.histogram).collect()
            }),
            client_lag: phase.times(&totals.client_lag, |interval| {
                interval.client_lag.iter().map(|it| &it.histogram).collect()
            }),
            classes: totals.classes(),
            operations,
            statements: statements(&totals, &phase),
            server_cpus: cpus(server_cpu.and_then(|cpu| cpu.server), Host::Client),
            client_cpus: cpus(client_cpu.and_then(|cpu| cpu.client), Host::Server),
            server_cpu,
            client_cpu,
        }
    }

    /// A count divided by the duration of the measurement, per second; `None` without a measurement.
    pub fn per_s(&self, count: u64) -> Option<f64> {
        per_s(count, self.measured_s)
    }

    /// CPU time of dbdyno per statement, microseconds; `None` if it was not observed.
    pub fn client_us_per_statement(&self) -> Option<f64> {
        let statements = Some(self.classes.all()).filter(|statements| *statements > 0)?;
        Some(self.client_cpus? * self.measured_s * 1e6 / statements as f64)
    }
}

/// The intervals of the measured phase, and the requested percentiles.
struct MeasuredPhase<'r> {
    intervals: Vec<&'r Interval>,
    quantiles: &'r [f64],
}

impl<'r> MeasuredPhase<'r> {
    /// The figures of `all`; `of` returns the histograms of an interval.
    fn times(
        &self,
        all: &Durations,
        of: impl Fn(&'r Interval) -> Vec<&'r Histogram>,
    ) -> Option<Times> {
        let intervals: Vec<_> = self.intervals.iter().map(|it| of(it)).collect();
        Times::in_bursts(all, self.quantiles, &intervals)
    }
}

fn responses(interval: &Interval, is: impl Fn(&OperationInterval) -> bool) -> Vec<&Histogram> {
    let operations = interval.operations.iter().filter(|it| is(it));
    operations.map(|it| &it.histogram).collect()
}

fn operations(
    record: &Record,
    totals: &Totals,
    phase: &MeasuredPhase<'_>,
) -> Vec<OperationFigures> {
    let alone = totals.operations.len() == 1;
    let all = totals.operations.iter();
    let figures = all.map(|((load, operation), total)| {
        let is = |it: &OperationInterval| it.load == *load && it.operation == *operation;
        let response = total.response.clone();
        let response = if alone {
            with_waits(record, response)
        } else {
            response
        };
        OperationFigures {
            load: load.clone(),
            operation: operation.clone(),
            count: total.response.count,
            errors: total.errors,
            throughput_per_s: per_s(total.back, totals.measured_s),
            response: phase.times(&response, |interval| {
                responses(interval, |it| alone || is(it))
            }),
            service: phase.times(&total.service, |interval| {
                let services = interval.operations.iter().filter(|it| alone || is(it));
                let services = services.flat_map(|it| &it.service);
                services.map(|it| &it.histogram).collect()
            }),
        }
    });
    figures.collect()
}

fn statements(totals: &Totals, phase: &MeasuredPhase<'_>) -> Vec<StatementFigures> {
    let all = totals.statements.iter();
    let figures = all.map(|((load, statement), total)| StatementFigures {
        load: load.clone(),
        statement: statement.clone(),
        classes: total.classes,
        throughput_per_s: per_s(total.back, totals.measured_s),
        times: phase.times(&total.times, |interval| {
            let own = interval.statements.iter();
            let own = own.filter(|it| it.load == *load && it.statement == *statement);
            own.map(|it| &it.histogram).collect()
        }),
    });
    figures.collect()
}

fn per_s(count: u64, measured_s: f64) -> Option<f64> {
    (measured_s > 0.0).then(|| count as f64 / measured_s)
}

/// Response times, including the waits of operations that never completed.
fn with_waits(record: &Record, mut response: Durations) -> Durations {
    if let Some(offered) = &record.offered {
        response.add(&offered.waits);
    }
    response
}

/// CPUs of the observed machine that does not carry the other half of the run.
fn cpus_without(record: &Record, other: Host) -> f64 {
    let mut machines = record.machines.iter();
    let machine = machines.find(|machine| machine.host != other);
    machine.map_or(1.0, |machine| f64::from(machine.cpus))
}

#[cfg(test)]
mod tests;
