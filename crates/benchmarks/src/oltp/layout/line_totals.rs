//! Totals since the last intermediate line, and the figures of the next one.

use samples::{Durations, Interval};

use super::{Intermediate, Rates};
use crate::oltp::plan::Plan;

/// Totals since the last intermediate line.
#[derive(Default)]
pub struct LineTotals {
    length_s: f64,
    /// Reads, writes, others.
    classes: [u64; 3],
    response: Durations,
    /// Restarts in earlier lines.
    restarts_before: u64,
    /// Events that wait and events in flight, at the end.
    queue: (u64, u64),
}

impl LineTotals {
    /// Length of the added intervals, seconds.
    pub fn length_s(&self) -> f64 {
        self.length_s
    }

    /// Adds an interval of a load with this number of connections.
    pub fn add(&mut self, interval: &Interval, connections: u32) {
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

    /// The line at `t_s`, seconds since the start, with this percentile (0 to 100; 0 for none). The totals begin anew.
    pub fn take(
        &mut self,
        plan: &Plan,
        t_s: f64,
        percentile: f64,
        is_open_loop: bool,
    ) -> Intermediate {
        let restarts = plan.restarts();
        let per_s = |count: u64| count as f64 / self.length_s;
        let [reads, writes, others] = if plan.statements().is_empty() {
            [self.response.count, 0, 0]
        } else {
            self.classes
        };
        let quantile = self.response.histogram.quantile_ns(percentile / 100.0);
        let latency_ns =
            quantile.map_or(0, |ns| ns.clamp(self.response.min_ns, self.response.max_ns));
        let line = Intermediate {
            t_s,
            threads: plan.settings().connections,
            rates: Rates {
                events: per_s(self.response.count),
                reads: per_s(reads),
                writes: per_s(writes),
                others: per_s(others),
                errors: per_s(restarts - self.restarts_before),
                reconnects: 0.0,
            },
            percentile,
            latency_ms: if percentile > 0.0 {
                latency_ns as f64 / 1e6
            } else {
                0.0
            },
            queue: is_open_loop.then_some(self.queue),
        };
        *self = Self {
            restarts_before: restarts,
            ..Self::default()
        };
        line
    }
}

#[cfg(test)]
mod tests {
    use samples::{Histogram, OperationInterval, Pace, Phase, ReturnedRows};

    use super::*;
    use crate::oltp::{plan::IgnoredErrors, script::Script, settings::Settings};

    /// A second with ten events of a millisecond, three waiting events and half of the connections in use.
    fn second() -> Interval {
        let mut histogram = Histogram::new();
        (0..10).for_each(|_| histogram.record(1_000_000));
        Interval {
            t_s: 0.0,
            length_s: 1.0,
            phase: Phase::Measurement,
            stage: None,
            slice: None,
            operations: vec![OperationInterval {
                load: "oltp".to_owned(),
                operation: "point_select".to_owned(),
                count: 10,
                errors: 0,
                sum_ns: 10_000_000,
                min_ns: 1_000_000,
                max_ns: 1_000_000,
                histogram,
                service: None,
                returned: ReturnedRows::default(),
            }],
            statements: Vec::new(),
            send_lag: None,
            client_lag: None,
            pace: Some(Pace {
                due: 10,
                waiting: 3,
                waiting_max: 3,
                busy: 0.5,
                loop_cpu: 0.1,
                loop_delay_max_ns: 0,
            }),
            carried: Vec::new(),
        }
    }

    #[test]
    fn a_line_has_the_rates_since_the_line_before() {
        let settings = Settings {
            connections: 4,
            ..Settings::default()
        };
        let ignored = IgnoredErrors::Numbers(Vec::new());
        let plan = Plan::new(Script::PointSelect, settings, ignored);
        let mut totals = LineTotals::default();
        totals.add(&second(), 4);
        totals.add(&second(), 4);
        let line = totals.take(&plan, 2.0, 95.0, true);
        let expected = Intermediate {
            t_s: 2.0,
            threads: 4,
            rates: Rates {
                events: 10.0,
                reads: 10.0,
                ..Rates::default()
            },
            percentile: 95.0,
            latency_ms: 1.0,
            queue: Some((3, 2)),
        };
        assert_eq!(line, expected);
        assert_eq!(totals.length_s(), 0.0);
        totals.add(&second(), 4);
        let line = totals.take(&plan, 3.0, 0.0, false);
        assert_eq!((line.rates.events, line.latency_ms), (10.0, 0.0));
        assert_eq!(line.queue, None);
    }
}
