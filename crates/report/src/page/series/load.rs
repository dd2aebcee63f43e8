//! The load over time: throughput, response times, and marks for the stalls.

use samples::{Histogram, Interval, Record};
use units::{counted, moment};

use super::{
    data::{ChartData, Column, Instants, LineData, values_per_point},
    run_series::{RunSeries, per_s},
};

/// Maximum number of stalls listed in words; all of them are marked.
const NAMED_AT_MOST: usize = 5;

/// Operations per second; with several intervals per point also the lowest and the highest of them.
pub(super) fn throughput(course: &RunSeries, points: usize) -> ChartData {
    let per_point = values_per_point(course.intervals.len(), points);
    let chunks = || course.intervals.chunks(per_point);
    let mean = |intervals: &[&Interval]| {
        let length_s: f64 = intervals.iter().map(|it| it.length_s).sum();
        let count: u64 = intervals.iter().map(|it| it.succeeded()).sum();
        Some(if length_s > 0.0 {
            count as f64 / length_s
        } else {
            0.0
        })
    };
    let edge = |pick: fn(f64, f64) -> f64| {
        move |intervals: &[&Interval]| intervals.iter().map(|it| per_s(it)).reduce(pick)
    };
    let line = |name, style, values: Vec<Option<f64>>| LineData {
        name,
        style,
        values: Column(values),
    };
    let mut lines = vec![line("throughput", 0, chunks().map(mean).collect())];
    if per_point > 1 {
        lines.push(line("highest", 5, chunks().map(edge(f64::max)).collect()));
        lines.push(line("lowest", 5, chunks().map(edge(f64::min)).collect()));
    }
    ChartData {
        title: "Throughput",
        unit: "operations/s",
        logarithmic: false,
        t: instants(course, per_point),
        bands: match lines.len() {
            3 => vec![(1, 2, 0)],
            _ => Vec::new(),
        },
        lines,
    }
}

/// Percentiles of all operations completed in the time of a point, with the areas between them filled.
pub(super) fn latency(course: &RunSeries, points: usize) -> ChartData {
    const QUANTILES: [(&str, f64); 3] = [("p50", 0.5), ("p95", 0.95), ("p99", 0.99)];
    let per_point = values_per_point(course.intervals.len(), points);
    let mut columns: [Vec<Option<f64>>; 3] = Default::default();
    let mut all = Histogram::new();
    for intervals in course.intervals.chunks(per_point) {
        all.clear();
        for operation in intervals.iter().flat_map(|it| &it.operations) {
            all.add(&operation.histogram);
        }
        for (column, (_, quantile)) in columns.iter_mut().zip(QUANTILES) {
            let ns = all.quantile_ns(quantile).filter(|ns| *ns > 0);
            column.push(ns.map(|ns| ns as f64 / 1e6));
        }
    }
    let lines = QUANTILES.into_iter().zip(columns).enumerate();
    ChartData {
        title: "Response time",
        unit: "ms",
        logarithmic: true,
        t: instants(course, per_point),
        lines: lines
            .map(|(style, ((name, _), values))| LineData {
                name,
                style,
                values: Column(values),
            })
            .collect(),
        bands: vec![(1, 0, 0), (2, 1, 1)],
    }
}

fn instants(course: &RunSeries, per_point: usize) -> Instants {
    let starts = course.intervals.iter().step_by(per_point);
    Instants(starts.map(|interval| interval.t_s).collect())
}

/// The stalls of the measurement, start and end in seconds: intervals below half of the median throughput. As in
/// [`verdict::run_stalls`], none for a run whose stalls are not reported.
pub(super) fn stalls(course: &RunSeries, median_per_s: f64) -> Vec<(f64, f64)> {
    let Some((from_s, to_s)) = course.measured else {
        return Vec::new();
    };
    let measured = course
        .intervals
        .iter()
        .filter(|it| it.t_s >= from_s && it.t_s < to_s);
    let mut stalls: Vec<(f64, f64)> = Vec::new();
    for interval in measured.filter(|it| per_s(it) < median_per_s / 2.0) {
        let end_s = interval.t_s + interval.length_s;
        match stalls.last_mut() {
            Some(last) if interval.t_s - last.1 < interval.length_s / 2.0 => last.1 = end_s,
            _ => stalls.push((interval.t_s, end_s)),
        }
    }
    let millis = |seconds: f64| (seconds * 1e3).round() / 1e3;
    stalls
        .iter()
        .map(|(from, to)| (millis(*from), millis(*to)))
        .collect()
}

/// The planned events that began, start and end in seconds; one that did not end reaches to the end of the measurement.
pub(super) fn events(record: &Record) -> Vec<(f64, f64)> {
    let end_s = record.measured_window_s().map(|(_, end_s)| end_s);
    let begun = record.events.iter().filter(|it| it.begin_s.is_some());
    begun
        .map(|event| {
            let took_s = event.took_s();
            let to_s = took_s.map(|took_s| event.t_s + took_s).or(end_s);
            (event.t_s, to_s.unwrap_or(event.t_s))
        })
        .collect()
}

/// The explanation of a run's marks:
/// `Marked: 2 stalls below half of the median throughput, at 12 s to 13 s, 40 s to 44 s. `
pub(super) fn marks_in_words(stalls: &[(f64, f64)]) -> String {
    if stalls.is_empty() {
        return String::new();
    }
    let mut named: Vec<String> = stalls
        .iter()
        .take(NAMED_AT_MOST)
        .map(|(from, to)| format!("{} to {}", moment(*from), moment(*to)))
        .collect();
    if stalls.len() > NAMED_AT_MOST {
        named.push(format!("{} more", stalls.len() - NAMED_AT_MOST));
    }
    format!(
        "Marked: {} below half of the median throughput, at {}. ",
        counted(stalls.len(), "stall"),
        named.join(", ")
    )
}

/// The stages of a run in words: `1 (8 connections) at 10 s, 2 (64 connections) at 70 s`; `None` without any.
pub(in crate::page) fn stages_in_words(record: &Record) -> Option<String> {
    let stages = record.stages.iter();
    let words: Vec<String> = stages
        .map(|it| format!("{} ({}) at {}", it.number, it.in_words(), moment(it.t_s)))
        .collect();
    (!words.is_empty()).then(|| words.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_name_the_first_stalls() {
        assert_eq!(marks_in_words(&[]), "");
        assert_eq!(
            marks_in_words(&[(12.0, 13.0), (40.0, 44.0)]),
            "Marked: 2 stalls below half of the median throughput, at 12 s to 13 s, 40 s to 44 s. "
        );
        let many: Vec<(f64, f64)> = (0..7)
            .map(|at| (f64::from(at), f64::from(at) + 0.5))
            .collect();
        assert!(marks_in_words(&many).ends_with("4 s to 4.5 s, 2 more. "));
    }
}
