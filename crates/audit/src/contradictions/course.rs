//! Contradictions in the course of a record: its intervals, their figures, and what else is written along with them.

use std::collections::BTreeMap;

use samples::{Interval, Phase, Record};
use units::{moment, percent};

/// Largest gap between one interval and the next, as a share of the interval's length.
const GAP: f64 = 0.01;
/// Largest gap in seconds, for very short intervals.
const GAP_S: f64 = 0.005;
/// Largest deviation of a histogram's mean from sum divided by count, as a share: its buckets are a thousandth wide.
const MEAN: f64 = 0.005;
/// Largest deviation of a histogram's ends from the exact minimum and maximum, as a share.
const ENDS: f64 = 0.01;
/// Operations of an interval from which no second one has the same count and the same sum of nanoseconds by chance.
const OPERATIONS_OF_ONE: u64 = 100;
/// Time that observers may take after the end of the load, seconds.
const OBSERVED_AFTER_S: f64 = 30.0;

/// Checks that intervals have a length and follow each other.
pub(super) fn intervals(record: &Record) -> Option<String> {
    let mut end_s: Option<f64> = None;
    for interval in &record.intervals {
        let (from_s, length_s) = (interval.t_s, interval.length_s);
        let is_sound = from_s.is_finite() && length_s.is_finite() && length_s >= 0.0;
        if !is_sound || length_s == 0.0 && interval.phase == Phase::Measurement {
            return Some(format!("an interval at {} has no length", moment(from_s)));
        }
        if let Some(end_s) = end_s {
            let apart_s = from_s - end_s;
            if apart_s.abs() > (GAP * length_s).max(GAP_S) {
                return Some(if apart_s > 0.0 {
                    format!(
                        "no interval covers the time from {} to {}",
                        moment(end_s),
                        moment(from_s)
                    )
                } else {
                    format!(
                        "the interval at {} begins before the previous one ends",
                        moment(from_s)
                    )
                });
            }
        }
        end_s = Some(from_s + length_s);
    }
    let end_s = end_s?;
    let end = record.end.as_ref()?;
    let is_early = end.t_s < end_s - (GAP * end_s).max(1.0);
    is_early.then(|| {
        format!(
            "the run ended at {} but has intervals up to {}",
            moment(end.t_s),
            moment(end_s)
        )
    })
}

/// Checks that the intervals of the measurement, with the pauses between its slices, fill the time between its phases.
pub(super) fn window(record: &Record) -> Option<String> {
    let marks = &record.phases;
    let begin = marks
        .iter()
        .rev()
        .find(|it| it.phase == Phase::Measurement)?;
    let end = marks.iter().rev().find(|it| it.phase == Phase::Drain)?;
    let lasted_s = end.t_s - begin.t_s;
    let is_between = |it: &&Interval| match it.phase {
        Phase::Measurement => true,
        // The first settling time is before the first slice.
        Phase::Pause => it.t_s >= begin.t_s,
        Phase::WarmUp | Phase::Drain => false,
    };
    let between = record.intervals.iter().filter(is_between);
    let measured_s: f64 = between.map(|it| it.length_s).sum();
    let longest_s = record
        .measured_intervals()
        .map(|it| it.length_s)
        .fold(0.0, f64::max);
    let is_apart = (lasted_s - measured_s).abs() > (GAP * lasted_s).max(GAP_S).max(longest_s / 2.0);
    is_apart.then(|| {
        format!(
            "the measurement lasted {} according to its phases but {} according to its intervals",
            moment(lasted_s),
            moment(measured_s)
        )
    })
}

/// Checks that count, sum, minimum and maximum of an interval agree with its histogram.
fn figures_of(interval: &Interval) -> Option<String> {
    let carried = interval.carried.iter().flat_map(|it| &it.operations);
    interval.operations.iter().chain(carried).find_map(|it| {
        let at = moment(interval.t_s);
        let counted_in = it.histogram.count();
        if counted_in != it.count {
            return Some(format!(
                "at {at}, {} operations were answered but the histogram contains {counted_in}",
                it.count
            ));
        }
        if it.count == 0 {
            return None;
        }
        if it.min_ns > it.max_ns {
            return Some(format!(
                "at {at}, the shortest time is longer than the longest"
            ));
        }
        let mean = it.sum_ns as f64 / it.count as f64;
        let of_histogram = it.histogram.mean_ns().unwrap_or(mean);
        let apart = (of_histogram - mean).abs() / mean.max(1.0);
        if apart > MEAN {
            return Some(format!(
                "at {at}, the mean time differs by {} from the histogram's mean",
                percent(apart)
            ));
        }
        let ends = [(0.0, it.min_ns), (1.0, it.max_ns)];
        let is_off = |(quantile, exact): (f64, u64)| {
            let found = it.histogram.quantile_ns(quantile).unwrap_or(exact) as f64;
            (found - exact as f64).abs() > ENDS * (exact as f64).max(1_000.0)
        };
        ends.into_iter()
            .any(is_off)
            .then(|| format!("at {at}, the shortest or the longest time is not in the histogram"))
    })
}

pub(super) fn figures(record: &Record) -> Option<String> {
    record.intervals.iter().find_map(figures_of)
}

/// What makes an interval one: counts, sums and ends of the times of its operations; `None` if it has too few of them.
pub(super) fn fingerprint_of(interval: &Interval) -> Option<Vec<(u64, u64, u64, u64)>> {
    let figures = interval.operations.iter();
    let figures = figures.map(|it| (it.count, it.sum_ns, it.min_ns, it.max_ns));
    let count: u64 = interval.operations.iter().map(|it| it.count).sum();
    (count >= OPERATIONS_OF_ONE).then(|| figures.collect())
}

/// Checks that no interval is there twice.
pub(super) fn copied(record: &Record) -> Option<String> {
    let mut known = BTreeMap::new();
    record.measured_intervals().find_map(|interval| {
        let first: f64 = known.insert(fingerprint_of(interval)?, interval.t_s)?;
        Some(format!(
            "the intervals at {} and {} are identical to the nanosecond",
            moment(first),
            moment(interval.t_s)
        ))
    })
}

/// Checks that machine and server were not observed after the end.
pub(super) fn observed_after_end(record: &Record) -> Option<String> {
    let end_s = record.end.as_ref()?.t_s + OBSERVED_AFTER_S;
    let machine = record.telemetry.iter().map(|it| it.t_s);
    let server = record.server_status.iter().map(|it| it.t_s);
    let late = machine.chain(server).find(|t_s| *t_s > end_s)?;
    Some(format!(
        "the run ended at {} but the machine or the server was still observed at {}",
        moment(end_s - OBSERVED_AFTER_S),
        moment(late)
    ))
}
