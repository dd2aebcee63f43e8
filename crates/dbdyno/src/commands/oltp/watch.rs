//! The lines printed during a run, at the report interval.

use std::sync::Arc;

use benchmarks::oltp::{
    Plan,
    layout::{self as sysbench, Intermediate, Rates},
};
use load::Observer;
use samples::{Durations, Interval, Phase, PhaseMark};

use super::options::Format;

/// Prints the intermediate lines of a run.
pub(super) struct Watcher {
    pub(super) plan: Arc<Plan>,
    pub(super) format: Format,
    /// Seconds between two lines; 0 for none.
    pub(super) every_s: u64,
    /// Which percentile a line tells, 0 for none.
    pub(super) percentile: f64,
    pub(super) is_open_loop: bool,
    /// Since the last line.
    pub(super) pending: Pending,
}

/// What happened since the last line.
#[derive(Default)]
pub(super) struct Pending {
    length_s: f64,
    /// Reads, writes, others.
    classes: [u64; 3],
    response: Durations,
    /// Restarts that earlier lines told.
    restarts_told: u64,
    /// Events that wait and events in flight, at the end.
    queue: (u64, u64),
}

impl Pending {
    fn add(&mut self, interval: &Interval, connections: u32) {
        self.length_s += interval.length_s;
        let carried = interval.carried.iter();
        let operations = carried.clone().flat_map(|part| &part.operations);
        for operation in interval.operations.iter().chain(operations) {
            self.response.add(&operation.response());
        }
        let statements = carried.flat_map(|part| &part.statements);
        for statement in interval.statements.iter().chain(statements) {
            self.classes[0] += statement.reads;
            self.classes[1] += statement.writes;
            self.classes[2] += statement.others;
        }
        if let Some(pace) = &interval.pace {
            let in_flight = (pace.busy * f64::from(connections)).round() as u64;
            self.queue = (pace.waiting, in_flight);
        }
    }
}

impl Watcher {
    fn line(&mut self, t_s: f64) {
        let restarts = self.plan.restarts();
        let pending = &self.pending;
        let per_s = |count: u64| count as f64 / pending.length_s;
        let [reads, writes, others] = if self.plan.statements().is_empty() {
            [pending.response.count, 0, 0]
        } else {
            pending.classes
        };
        let quantile = pending
            .response
            .histogram
            .quantile_ns(self.percentile / 100.0);
        let latency_ns = quantile.map_or(0, |ns| {
            ns.clamp(pending.response.min_ns, pending.response.max_ns)
        });
        let now = Intermediate {
            t_s,
            threads: self.plan.settings().connections,
            rates: Rates {
                events: per_s(pending.response.count),
                reads: per_s(reads),
                writes: per_s(writes),
                others: per_s(others),
                errors: per_s(restarts - pending.restarts_told),
                reconnects: 0.0,
            },
            percentile: self.percentile,
            latency_ms: if self.percentile > 0.0 {
                latency_ns as f64 / 1e6
            } else {
                0.0
            },
            queue: self.is_open_loop.then_some(pending.queue),
        };
        let line = sysbench::intermediate(&now);
        match self.format {
            Format::Sysbench | Format::Text => print!("{line}"),
            // Their output is one document.
            Format::Json | Format::Csv => eprint!("{line}"),
        }
        self.pending = Pending {
            restarts_told: restarts,
            ..Pending::default()
        };
    }
}

impl Observer for Watcher {
    fn connected(&mut self, _open: u64, _total: u64) {}

    fn started(&mut self) {
        if self.format == Format::Sysbench {
            print!("{}", sysbench::started());
        }
    }

    fn phase(&mut self, _mark: PhaseMark) {}

    fn interval(&mut self, interval: Interval) {
        if self.every_s == 0 || interval.phase == Phase::Drain {
            return;
        }
        self.pending
            .add(&interval, self.plan.settings().connections);
        let t_s = interval.t_s + interval.length_s;
        if self.pending.length_s >= self.every_s as f64 - 0.001 {
            self.line(t_s);
        }
    }
}
