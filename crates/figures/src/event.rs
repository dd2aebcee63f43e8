//! The cost of a planned event: the load before, during and after it, what was lost, and when the load was back.

use samples::{Durations, Histogram, Interval, PlannedEvent, Record};

use crate::{percentile::Percentile, times::Times};

/// Longest time before an event from which its level is taken, seconds: a level of long ago is another one.
const BEFORE_AT_MOST_S: f64 = 60.0;
/// Share of the level before from which the throughput counts as recovered.
pub const RECOVERED_FROM: f64 = 0.9;
/// Time for which it has to stay there, seconds: one good second between two stalls is no recovery.
const HOLD_S: f64 = 5.0;
/// The same in a short run, as a share of the measurement.
const HOLD_SHARE: f64 = 0.1;
/// Rounding of times in a record, seconds.
const WITHIN_S: f64 = 1e-6;

/// The cost of a planned event for the load that ran meanwhile.
///
/// Throughput is of the operations that completed in the time; response times are of the same operations, so a wait that
/// ends after the event counts after it.
#[derive(Debug, Clone, PartialEq)]
pub struct EventCost {
    /// Up to 60 s before the event, from the end of the event before it at the earliest.
    pub before: Stretch,
    /// From the interval in which it began to the one in which it ended.
    pub during: Stretch,
    /// From its end to the next event, or to the end of the measurement; `None` where no whole interval is left.
    pub after: Option<Stretch>,
    /// Operations that the level before would have completed from the event's begin to the recovery (or to the end of
    /// the time after it), minus those that were; negative where it was faster.
    pub lost_operations: f64,
    /// Time from the event's end to the recovery, seconds: from then on the throughput stayed at 90 % of the level before
    /// or more for [`Self::hold_s`]. `None` where it did not within the run, or before the next event; and where nothing
    /// can be said, see [`Self::shows_recovery`].
    pub recovered_after_s: Option<f64>,
    /// How long the throughput has to stay at its level, seconds: 5, or a tenth of a measurement of less than 50 s.
    pub hold_s: f64,
}

/// The load in a part of the measurement.
#[derive(Debug, Clone, PartialEq)]
pub struct Stretch {
    pub length_s: f64,
    /// Operations per second.
    pub throughput_per_s: f64,
    /// Failed operations.
    pub errors: u64,
    /// 99th percentile of the response times, of all operations together; `None` without any.
    pub p99: Option<Percentile>,
}

impl EventCost {
    /// The costs of the record's events, in their order. `None` for an event that did not begin, and where the load
    /// before it was measured for less than [`Self::hold_s`], or stood still.
    pub fn of_record(record: &Record) -> Vec<Option<Self>> {
        let intervals: Vec<&Interval> = record
            .measured_intervals()
            .filter(|it| it.length_s > 0.0)
            .collect();
        let events = record.events.iter().enumerate();
        events
            .map(|(at, event)| Self::of(&intervals, event, bounds(record, at)?))
            .collect()
    }

    /// The cost of an event within these bounds: the end of what precedes it, and the begin of what follows.
    fn of(
        intervals: &[&Interval],
        event: &PlannedEvent,
        (from_s, to_s): (f64, f64),
    ) -> Option<Self> {
        event.begin_s?;
        let begin_s = event.t_s;
        let end_s = event.took_s().map_or(to_s, |took_s| begin_s + took_s);
        let measured_s: f64 = intervals.iter().map(|it| it.length_s).sum();
        let hold_s = HOLD_S.min(HOLD_SHARE * measured_s);
        let earliest_s = from_s.max(begin_s - BEFORE_AT_MOST_S);
        // An event without a duration still lies in an interval.
        let is_before_end = |it: &Interval| it.t_s < end_s - WITHIN_S || it.t_s <= begin_s;
        let before = selected(intervals, |it| {
            it.t_s >= earliest_s - WITHIN_S && it.t_s + it.length_s <= begin_s + WITHIN_S
        });
        let during = selected(intervals, |it| {
            is_before_end(it) && it.t_s + it.length_s > begin_s + WITHIN_S
        });
        let after = selected(intervals, |it| {
            !is_before_end(it) && it.t_s + it.length_s <= to_s + WITHIN_S
        });
        let before = Stretch::of(&before).filter(|it| it.length_s >= hold_s - WITHIN_S)?;
        let level_per_s = Some(before.throughput_per_s).filter(|level| *level > 0.0)?;
        let recovered = recovery(&after, level_per_s, hold_s);
        let until_recovery = &after[..recovered.unwrap_or(after.len())];
        let missing = |it: &&Interval| level_per_s * it.length_s - it.succeeded() as f64;
        Some(Self {
            before,
            lost_operations: during.iter().chain(until_recovery).map(missing).sum(),
            recovered_after_s: recovered.map(|at| match at {
                // The interval of the end belongs to the event: nothing shorter can be seen.
                0 => 0.0,
                at => (after[at].t_s - end_s).max(0.0),
            }),
            during: Stretch::of(&during)?,
            after: Stretch::of(&after),
            hold_s,
        })
    }

    /// False where the time that was measured after the event is too short for a recovery to be seen.
    pub fn shows_recovery(&self) -> bool {
        let after_s = self.after.as_ref().map_or(0.0, |it| it.length_s);
        after_s >= self.hold_s - WITHIN_S
    }

    /// Throughput during the event as a share of that before it.
    pub fn during_share(&self) -> f64 {
        self.during.throughput_per_s / self.before.throughput_per_s
    }

    /// Throughput after the event as a share of that before it; `None` where nothing was measured after it.
    pub fn after_share(&self) -> Option<f64> {
        Some(self.after.as_ref()?.throughput_per_s / self.before.throughput_per_s)
    }
}

impl Stretch {
    /// `None` without intervals.
    fn of(intervals: &[&Interval]) -> Option<Self> {
        let length_s: f64 = intervals.iter().map(|it| it.length_s).sum();
        if length_s <= 0.0 {
            return None;
        }
        let mut all = Durations::default();
        let operations = || intervals.iter().flat_map(|it| &it.operations);
        operations().for_each(|it| all.add(&it.response()));
        let histograms: Vec<Vec<&Histogram>> = intervals
            .iter()
            .map(|it| it.operations.iter().map(|it| &it.histogram).collect())
            .collect();
        let times = Times::in_bursts(&all, &[0.99], &histograms);
        Some(Self {
            length_s,
            throughput_per_s: intervals.iter().map(|it| it.succeeded()).sum::<u64>() as f64
                / length_s,
            errors: operations().map(|it| it.errors).sum(),
            p99: times.and_then(|times| times.percentiles.first().copied()),
        })
    }
}

fn selected<'r>(intervals: &[&'r Interval], is: impl Fn(&Interval) -> bool) -> Vec<&'r Interval> {
    intervals.iter().copied().filter(|it| is(it)).collect()
}

/// The end of what precedes an event, and the begin of what follows it, seconds since the start of the load; `None`
/// without a measurement.
fn bounds(record: &Record, at: usize) -> Option<(f64, f64)> {
    let (mut from_s, mut to_s) = record.measured_window_s()?;
    for (other, event) in record.events.iter().enumerate() {
        if event.begin_s.is_none() {
            continue;
        }
        if other < at {
            let end_s = event.took_s().map_or(to_s, |took_s| event.t_s + took_s);
            from_s = from_s.max(end_s);
        } else if other > at {
            to_s = to_s.min(event.t_s);
        }
    }
    Some((from_s, to_s))
}

/// Index of the first interval from which the throughput stays at its level; `None` without one.
fn recovery(after: &[&Interval], level_per_s: f64, hold_s: f64) -> Option<usize> {
    let enough_per_s = RECOVERED_FROM * level_per_s;
    (0..after.len()).find(|&at| {
        let (mut length_s, mut succeeded) = (0.0, 0);
        for interval in &after[at..] {
            length_s += interval.length_s;
            succeeded += interval.succeeded();
            if length_s >= hold_s - WITHIN_S {
                let first = after[at].succeeded() as f64 / after[at].length_s;
                return first >= enough_per_s && succeeded as f64 / length_s >= enough_per_s;
            }
        }
        false
    })
}

#[cfg(test)]
mod tests;
