//! The measured phase of a run: the one place that says which intervals, samples and readings belong to it.

use crate::{
    line::{Interval, Phase},
    reader::Record,
    server_activity::ServerStatus,
    telemetry::Telemetry,
};

/// Counters of the calls that hand a row over.
const HANDLER_READS: [&str; 9] = [
    "Handler_read_first",
    "Handler_read_key",
    "Handler_read_last",
    "Handler_read_next",
    "Handler_read_prev",
    "Handler_read_retry",
    "Handler_read_rnd",
    "Handler_read_rnd_deleted",
    "Handler_read_rnd_next",
];

/// The measured phase of a run.
#[derive(Debug, Clone, Copy)]
pub struct Measured<'r> {
    record: &'r Record,
    begin_s: f64,
    end_s: f64,
}

impl Record {
    /// The measured phase; `None` where nothing was measured.
    pub fn measured(&self) -> Option<Measured<'_>> {
        let (begin_s, end_s) = self.measured_window_s()?;
        Some(Measured {
            record: self,
            begin_s,
            end_s,
        })
    }

    /// Begin and end of the measured phase, seconds since the start of the load; `None` when there was none.
    pub fn measured_window_s(&self) -> Option<(f64, f64)> {
        let mut measured = self.measured_intervals();
        let first = measured.next()?;
        let last = measured.next_back().unwrap_or(first);
        Some((first.t_s, last.t_s + last.length_s))
    }

    /// The intervals of the measured phase.
    pub fn measured_intervals(&self) -> impl DoubleEndedIterator<Item = &Interval> {
        let intervals = self.intervals.iter();
        intervals.filter(|interval| interval.phase == Phase::Measurement)
    }
}

impl<'r> Measured<'r> {
    /// Its begin and end, seconds since the start of the load.
    pub fn window_s(&self) -> (f64, f64) {
        (self.begin_s, self.end_s)
    }

    /// True where the middle of some time lies in it: that is when a sample belongs to it.
    pub fn holds(&self, t_s: f64, length_s: f64) -> bool {
        let middle_s = t_s + length_s / 2.0;
        (self.begin_s..=self.end_s).contains(&middle_s)
    }

    /// What machines and processes did in it.
    pub fn telemetry(self) -> impl Iterator<Item = &'r Telemetry> {
        let samples = self.record.telemetry.iter();
        samples.filter(move |it| it.length_s > 0.0 && self.holds(it.t_s, it.length_s))
    }

    /// What the server counted in it.
    pub fn counters(self) -> Counters<'r> {
        let readings = self.record.server_status.iter();
        let readings: Vec<_> = readings
            .filter(|it| it.length_s > 0.0 && self.holds(it.t_s, it.length_s))
            .collect();
        Counters {
            length_s: readings.iter().map(|it| it.length_s).sum(),
            readings,
            all: &self.record.server_status,
        }
    }
}

/// What the server counted in the measured phase.
#[derive(Debug, Clone)]
pub struct Counters<'r> {
    readings: Vec<&'r ServerStatus>,
    length_s: f64,
    all: &'r [ServerStatus],
}

impl<'r> Counters<'r> {
    /// The readings, in order of time; empty where the server was not asked.
    pub fn readings(&self) -> &[&'r ServerStatus] {
        &self.readings
    }

    /// Time that they cover, seconds.
    pub fn length_s(&self) -> f64 {
        self.length_s
    }

    /// Readings per second; 0 where there are none.
    pub fn looks_per_s(&self) -> f64 {
        if self.length_s > 0.0 {
            self.readings.len() as f64 / self.length_s
        } else {
            0.0
        }
    }

    /// By how much a counter grew; 0 for one that did not, or that the server does not have.
    pub fn growth(&self, name: &str) -> f64 {
        let grown = self.readings.iter().filter_map(|it| it.counters.get(name));
        // The sum of nothing is -0.
        grown.sum::<f64>() + 0.0
    }

    /// The same per second; `None` where the server was not asked.
    pub fn growth_per_s(&self, name: &str) -> Option<f64> {
        (self.length_s > 0.0).then(|| self.growth(name) / self.length_s)
    }

    /// The same; `None` also where the server has no counter of this name.
    pub fn per_s(&self, name: &str) -> Option<f64> {
        let mut all = self.all.iter();
        let is_known = all.any(|status| status.counters.contains_key(name));
        is_known.then(|| self.growth_per_s(name))?
    }

    /// [`rows_read`] per second.
    pub fn rows_read_per_s(&self) -> Option<f64> {
        rows_read(|name| self.per_s(name))
    }
}

/// Rows read, out of the counters that a server has: those that InnoDB handed over; where the server does not count
/// these, rows of any engine but temporary tables; then calls to the engines, of which dbdyno's own questions about the
/// status are a part.
pub fn rows_read(counter: impl Fn(&str) -> Option<f64>) -> Option<f64> {
    let counted = counter("Innodb_rows_read").or_else(|| counter("Rows_read"));
    counted.or_else(|| {
        counter("Handler_read_key")?;
        Some(HANDLER_READS.into_iter().filter_map(&counter).sum())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_read_from_the_best_counter_that_there_is() {
        let all = [
            ("Innodb_rows_read", 5.0),
            ("Rows_read", 7.0),
            ("Handler_read_key", 1.0),
            ("Handler_read_next", 2.0),
            ("Handler_write", 100.0),
        ];
        let from = |known: &[(&str, f64)]| {
            rows_read(|name| known.iter().find(|it| it.0 == name).map(|it| it.1))
        };
        assert_eq!(from(&all), Some(5.0));
        assert_eq!(from(&all[1..]), Some(7.0));
        assert_eq!(from(&all[2..]), Some(3.0));
        assert_eq!(from(&all[3..]), None);
    }
}
