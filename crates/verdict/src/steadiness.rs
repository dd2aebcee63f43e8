//! The state of a run over its measurement: steady, warming, slowing, swinging or never steady; and its stalls.

use samples::{InnodbStatus, Interval, Phase, Record, ServerStatus};
use stats::{Evidence, Indeterminate, RunState, judge_measurement, stalls};

/// Minimum number of operations per interval at the median throughput: with fewer, an empty interval is chance.
const OPERATIONS_AT_LEAST: f64 = 10.0;

/// Minimum stalled time that is reported, as a share of the run.
const STALLED_AT_LEAST: f64 = 0.01;

/// Minimum gap without operations that is reported, seconds.
const GAP_AT_LEAST_S: f64 = 1.0;

/// Rounding of times, seconds.
const WITHIN_S: f64 = 1e-6;

/// Stalls of a run, which its mean hides.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunStalls {
    /// Measured time, seconds.
    pub measured_s: f64,
    /// Time with less than half of the median throughput, seconds.
    pub stalled_s: f64,
    /// Longest continuous part of it, seconds.
    pub longest_s: f64,
    /// Longest time in which no operation was completed, seconds; 0 if there was none.
    pub longest_gap_s: f64,
    /// The median throughput; a stall is below half of it.
    pub median_per_s: f64,
}

/// The load's and the server's figures per interval; collected during a run, or read from its record.
#[derive(Debug, Clone, Default)]
pub struct TimeSeries {
    /// In order of time, without pauses and drain.
    intervals: Vec<LoadInterval>,
    counted: Vec<Counted>,
    /// True for a load that takes turns: its intervals are then those of its slices.
    is_sliced: bool,
    /// What is after this time is not judged, seconds since the start of the load; `None` without a planned event.
    end_s: Option<f64>,
}

/// The load's figures in an interval.
#[derive(Debug, Clone, Copy)]
struct LoadInterval {
    t_s: f64,
    is_measured: bool,
    length_s: f64,
    per_s: f64,
}

/// The server's figures in an interval of its own.
#[derive(Debug, Clone, Copy)]
struct Counted {
    t_s: f64,
    length_s: f64,
    /// `None` also if there were none.
    misses_per_s: Option<f64>,
    checkpoint_age_bytes: Option<f64>,
    dirty_pages: Option<f64>,
}

/// The server's figures over a period, as series; a series that it does not have is empty.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CountedSeries {
    /// Page reads that missed the buffer pool, per second.
    pub misses_per_s: Vec<f64>,
    /// Redo log written since the last checkpoint, bytes.
    pub checkpoint_age_bytes: Vec<f64>,
    /// Modified pages that are not yet written.
    pub dirty_pages: Vec<f64>,
}

impl TimeSeries {
    pub fn of(record: &Record) -> Self {
        let mut course = Self::default();
        record.intervals.iter().for_each(|it| course.add(it));
        let statuses = record.server_status.iter();
        statuses.for_each(|status| course.add_status(status));
        course.end_at(record.first_event_s());
        course
    }

    /// Judges only what is before this time, seconds since the start of the load: a planned event begins then, and what it
    /// does is no unsteadiness. Infinite for all of it.
    pub fn end_at(&mut self, end_s: f64) {
        self.end_s = Some(end_s).filter(|end_s| end_s.is_finite());
    }

    /// Adds the next interval of the load. A warm-up after a measurement makes that measurement a part of the warm-up. The
    /// slices of a load that takes turns are judged without a warm-up, most of which is the time of the other loads.
    pub fn add(&mut self, interval: &Interval) {
        if interval.phase == Phase::WarmUp {
            (self.intervals.iter_mut()).for_each(|part| part.is_measured = false);
        }
        if interval.slice.is_some() && !self.is_sliced {
            self.intervals.clear();
            self.is_sliced = true;
        }
        let has_load = matches!(interval.phase, Phase::WarmUp | Phase::Measurement);
        if has_load && interval.length_s > 0.0 {
            self.intervals.push(LoadInterval {
                t_s: interval.t_s,
                is_measured: interval.phase == Phase::Measurement,
                length_s: interval.length_s,
                per_s: interval.succeeded() as f64 / interval.length_s,
            });
        }
    }

    /// Adds the next figures of the server.
    pub fn add_status(&mut self, status: &ServerStatus) {
        if status.length_s <= 0.0 {
            return;
        }
        let innodb = |value: &dyn Fn(&InnodbStatus) -> Option<u64>| {
            Some(value(status.innodb.as_ref()?)? as f64)
        };
        let reads = status.counters.get("Innodb_buffer_pool_reads");
        self.counted.push(Counted {
            t_s: status.t_s,
            length_s: status.length_s,
            misses_per_s: reads.map(|reads| reads / status.length_s),
            checkpoint_age_bytes: innodb(&InnodbStatus::checkpoint_age_bytes),
            dirty_pages: innodb(&|it| it.dirty_pages),
        });
    }

    /// True if there are any figures of the server so far.
    pub fn is_counted(&self) -> bool {
        !self.counted.is_empty()
    }

    pub fn is_measured(&self) -> bool {
        self.intervals.iter().any(|part| part.is_measured)
    }

    /// The server's figures from this time after the start of the load on, seconds.
    pub fn counted_since(&self, since_s: f64) -> CountedSeries {
        let lengths = self.under_load().map(|it| it.length_s);
        let whole_s = lengths.fold(0.0, f64::max);
        // The last reading may cover a short interval.
        let is_whole = |it: &&Counted| {
            it.t_s >= since_s && it.length_s > whole_s / 2.0 && self.is_judged(it.t_s, it.length_s)
        };
        let counted = || self.under_load().filter(is_whole);
        // InnoDB's state is read at most once per second: not in every reading of a shorter interval, and not in the
        // last one, after the end of the load.
        let told = |value: &dyn Fn(&Counted) -> Option<f64>| counted().filter_map(value).collect();
        // A constant counter is left out of a status.
        let has_misses = self.counted.iter().any(|it| it.misses_per_s.is_some());
        let misses = |it: &Counted| has_misses.then(|| it.misses_per_s.unwrap_or(0.0));
        CountedSeries {
            misses_per_s: told(&misses),
            checkpoint_age_bytes: told(&|it| it.checkpoint_age_bytes),
            dirty_pages: told(&|it| it.dirty_pages),
        }
    }

    /// The state of the run over its measurement, from its throughput and InnoDB's figures.
    ///
    /// # Errors
    /// As [`judge_measurement`].
    pub fn state(&self) -> Result<RunState, Indeterminate> {
        let counted = self.counted_since(0.0);
        let whole: Vec<&LoadInterval> = self.whole().collect();
        let per_s: Vec<f64> = whole.iter().map(|part| part.per_s).collect();
        let warm_up = whole.iter().filter(|part| !part.is_measured).count();
        judge_measurement(&per_s, warm_up, &counted.as_evidence())
    }

    /// The stalls that are reported: a second without completed operations, or more than a hundredth of the time below
    /// half of the median. `None` also if operations are so rare that an empty interval is chance.
    pub fn stalls(&self) -> Option<RunStalls> {
        let measured: Vec<&LoadInterval> = self.whole().filter(|part| part.is_measured).collect();
        let per_s: Vec<f64> = measured.iter().map(|part| part.per_s).collect();
        let interval_s = measured.first()?.length_s;
        let found = stalls(&per_s)?;
        let longest_gap_s = found.longest_gap as f64 * interval_s;
        let is_worth_it =
            found.stalled_share() > STALLED_AT_LEAST || longest_gap_s >= GAP_AT_LEAST_S;
        let is_busy = found.median * interval_s >= OPERATIONS_AT_LEAST;
        (is_busy && is_worth_it).then_some(RunStalls {
            measured_s: found.intervals as f64 * interval_s,
            stalled_s: found.stalled as f64 * interval_s,
            longest_s: found.longest_stalled as f64 * interval_s,
            longest_gap_s,
            median_per_s: found.median,
        })
    }

    /// True for a time that is over before the first planned event.
    fn is_judged(&self, t_s: f64, length_s: f64) -> bool {
        self.end_s
            .is_none_or(|end_s| t_s + length_s <= end_s + WITHIN_S)
    }

    /// The server's figures without those of the pauses, in which it has no load.
    fn under_load(&self) -> impl Iterator<Item = &Counted> {
        let is_in_slice = move |it: &&Counted| {
            let middle_s = it.t_s + it.length_s / 2.0;
            let begun = self.intervals.partition_point(|part| part.t_s <= middle_s);
            let last = self.intervals[..begun].last();
            last.is_some_and(|part| middle_s <= part.t_s + part.length_s)
        };
        let readings = self.counted.iter();
        readings.filter(move |it| !self.is_sliced || is_in_slice(it))
    }

    /// The judged intervals that were not cut short by the end of a phase.
    fn whole(&self) -> impl Iterator<Item = &LoadInterval> {
        let lengths = self.intervals.iter().map(|part| part.length_s);
        let whole_s = lengths.fold(0.0, f64::max);
        (self.intervals.iter()).filter(move |part| {
            part.length_s > whole_s / 2.0 && self.is_judged(part.t_s, part.length_s)
        })
    }
}

impl CountedSeries {
    fn as_evidence(&self) -> Evidence<'_> {
        Evidence {
            misses_per_s: &self.misses_per_s,
            checkpoint_age_bytes: &self.checkpoint_age_bytes,
            dirty_pages: &self.dirty_pages,
        }
    }
}

/// The state of a run over its measurement, see [`TimeSeries::state`].
///
/// # Errors
/// As [`judge_measurement`]; loading a table is measured from start to end, and has no steady state. Nor has
/// a load whose level changes by plan.
pub fn run_state(record: &Record) -> Result<RunState, Indeterminate> {
    if has_a_state(record) {
        TimeSeries::of(record).state()
    } else {
        Err(Indeterminate::Undefined)
    }
}

/// The stalls of a run that are reported, see [`TimeSeries::stalls`].
pub fn run_stalls(record: &Record) -> Option<RunStalls> {
    if has_a_state(record) {
        TimeSeries::of(record).stalls()
    } else {
        None
    }
}

fn has_a_state(record: &Record) -> bool {
    record.loaded.is_none() && record.has_one_level()
}

#[cfg(test)]
mod tests;
