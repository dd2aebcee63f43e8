//! The measured phase of a run, which selects its intervals, samples and readings.

use crate::{
    line::{Interval, Phase},
    reader::Record,
    server_activity::ServerStatus,
    telemetry::Telemetry,
};

/// Counters of the handler calls that return a row.
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

/// Rounding of times in a record, seconds.
const WITHIN_S: f64 = 1e-6;

/// The measured phase of a run. Of a run side by side it consists of its slices: the pauses between them are no part of it.
#[derive(Debug, Clone, Copy)]
pub struct Measured<'r> {
    record: &'r Record,
    begin_s: f64,
    end_s: f64,
}

impl Record {
    /// The measured phase; `None` if there was no measurement.
    pub fn measured(&self) -> Option<Measured<'_>> {
        let (begin_s, end_s) = self.measured_window_s()?;
        Some(Measured {
            record: self,
            begin_s,
            end_s,
        })
    }

    /// Start and end of the measured phase, seconds since the start of the load; `None` if there was no measurement. The
    /// pauses of a run side by side lie within.
    pub fn measured_window_s(&self) -> Option<(f64, f64)> {
        let mut measured = self.measured_intervals();
        let first = measured.next()?;
        let last = measured.next_back().unwrap_or(first);
        Some((first.t_s, last.t_s + last.length_s))
    }

    /// True if the load was to stay at one level: it had no stages, or this is the record of one that is no ramp. Only such
    /// a load can be steady.
    pub fn has_one_level(&self) -> bool {
        match self.stages.as_slice() {
            [] => true,
            [only] => !only.is_ramp(),
            _ => false,
        }
    }

    /// Begin of the first planned event, seconds since the start of the load; infinite without one. From then on a run
    /// is not meant to be steady.
    pub fn first_event_s(&self) -> f64 {
        let begun = self.events.iter().filter(|it| it.begin_s.is_some());
        begun.map(|it| it.t_s).fold(f64::INFINITY, f64::min)
    }

    /// The intervals of the measured phase before the first planned event; all of them without one.
    pub fn undisturbed_intervals(&self) -> impl DoubleEndedIterator<Item = &Interval> {
        let first_s = self.first_event_s();
        self.measured_intervals()
            .filter(move |it| it.t_s + it.length_s <= first_s + WITHIN_S)
    }

    pub fn measured_intervals(&self) -> impl DoubleEndedIterator<Item = &Interval> {
        let intervals = self.intervals.iter();
        intervals.filter(|interval| interval.phase == Phase::Measurement)
    }
}

impl<'r> Measured<'r> {
    /// Its start and end, seconds since the start of the load.
    pub fn window_s(&self) -> (f64, f64) {
        (self.begin_s, self.end_s)
    }

    /// The parts of the phase without a pause, start and end of each: the slices of a run side by side, otherwise one.
    pub fn parts_s(&self) -> Vec<(f64, f64)> {
        if !self.has_pauses() {
            return vec![self.window_s()];
        }
        let mut parts: Vec<(f64, f64)> = Vec::new();
        let mut slice = None;
        for interval in self.record.measured_intervals() {
            let end_s = interval.t_s + interval.length_s;
            match parts.last_mut() {
                Some(last) if interval.slice == slice => last.1 = end_s,
                _ => parts.push((interval.t_s, end_s)),
            }
            slice = interval.slice;
        }
        parts
    }

    /// Its length without pauses, seconds.
    pub fn length_s(&self) -> f64 {
        if self.has_pauses() {
            let intervals = self.record.measured_intervals();
            intervals.map(|it| it.length_s).sum()
        } else {
            self.end_s - self.begin_s
        }
    }

    /// True if the midpoint of a time span lies within the phase; a sample then belongs to it.
    pub fn holds(&self, t_s: f64, length_s: f64) -> bool {
        let middle_s = t_s + length_s / 2.0;
        if self.has_pauses() {
            self.interval_at(middle_s).is_some()
        } else {
            (self.begin_s..=self.end_s).contains(&middle_s)
        }
    }

    /// True if a moment lies within the phase; the end of it, and of a slice, does not.
    pub fn has_moment(&self, at_s: f64) -> bool {
        if self.has_pauses() {
            let interval = self.interval_at(at_s);
            interval.is_some_and(|it| at_s < it.t_s + it.length_s)
        } else {
            (self.begin_s..self.end_s).contains(&at_s)
        }
    }

    /// The slice that contains the midpoint of a time span; `None` outside of slices.
    pub(crate) fn slice_at(&self, t_s: f64, length_s: f64) -> Option<u32> {
        self.interval_at(t_s + length_s / 2.0)?.slice
    }

    fn has_pauses(&self) -> bool {
        self.record.side_by_side.is_some()
    }

    /// The measured interval that contains this time.
    fn interval_at(&self, at_s: f64) -> Option<&'r Interval> {
        let intervals = &self.record.intervals;
        // They are in order of time.
        let begun = intervals.partition_point(|it| it.t_s <= at_s);
        let last = intervals[..begun].last()?;
        let is_in = last.phase == Phase::Measurement && at_s <= last.t_s + last.length_s;
        is_in.then_some(last)
    }

    /// Usage of machines and processes in the phase.
    pub fn telemetry(self) -> impl Iterator<Item = &'r Telemetry> {
        let samples = self.record.telemetry.iter();
        samples.filter(move |it| it.length_s > 0.0 && self.holds(it.t_s, it.length_s))
    }

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

/// The server's counters over the measured phase.
#[derive(Debug, Clone)]
pub struct Counters<'r> {
    readings: Vec<&'r ServerStatus>,
    length_s: f64,
    all: &'r [ServerStatus],
}

impl<'r> Counters<'r> {
    /// The readings, in order of time; empty if the server was not observed.
    pub fn readings(&self) -> &[&'r ServerStatus] {
        &self.readings
    }

    /// Total time of the readings, seconds.
    pub fn length_s(&self) -> f64 {
        self.length_s
    }

    /// Readings per second; 0 without readings.
    pub fn looks_per_s(&self) -> f64 {
        if self.length_s > 0.0 {
            self.readings.len() as f64 / self.length_s
        } else {
            0.0
        }
    }

    /// Growth of a counter; 0 if it did not change or does not exist.
    pub fn growth(&self, name: &str) -> f64 {
        let grown = self.readings.iter().filter_map(|it| it.counters.get(name));
        // The sum of an empty iterator is -0.
        grown.sum::<f64>() + 0.0
    }

    /// Growth of a counter per second; `None` if the server was not observed.
    pub fn growth_per_s(&self, name: &str) -> Option<f64> {
        (self.length_s > 0.0).then(|| self.growth(name) / self.length_s)
    }

    /// Growth of a counter per second; `None` also if the server does not have it.
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

/// Rows read, from the best counters that a server has: rows that InnoDB returned; otherwise rows of all engines except
/// temporary tables; otherwise handler calls, which include dbdyno's own status queries.
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
