//! The time series of one run: its intervals of warm-up and measurement.

use samples::{Interval, Measured, Phase, Record};

use crate::grid::in_words;

pub(in crate::page) struct RunSeries<'a> {
    /// The title, `run 7: rows 1x, mix 1:0, 16 connections`, with `(incomplete)` if it is.
    pub(in crate::page) title: String,
    /// First and last second of the measurement.
    pub(in crate::page) measured: Option<(f64, f64)>,
    /// Start of each interval, seconds, and operations per second in it.
    pub(in crate::page) throughput: Vec<(f64, f64)>,
    /// Begin of the first planned event, seconds, with its name.
    pub(in crate::page) event: Option<(f64, String)>,
    /// Warm-up and measurement. The drain is left out: in it the slowest operations end, and none starts. So are the pauses
    /// of a run side by side.
    pub(super) intervals: Vec<&'a Interval>,
    phase: Option<Measured<'a>>,
}

impl<'a> RunSeries<'a> {
    pub(in crate::page) fn of(record: &'a Record) -> Self {
        let combination: Vec<(String, String)> = record
            .header
            .combination
            .iter()
            .map(|(factor, level)| (factor.clone(), level.clone()))
            .collect();
        let mut title = format!("run {}", record.header.run);
        if !combination.is_empty() {
            title.push_str(&format!(": {}", in_words(&combination)));
        }
        if !record.is_complete() {
            title.push_str(" (incomplete)");
        }
        let intervals: Vec<&Interval> = record
            .intervals
            .iter()
            .filter(|interval| matches!(interval.phase, Phase::WarmUp | Phase::Measurement))
            .collect();
        Self {
            title,
            measured: record.measured_window_s(),
            event: (record.events.iter().find(|it| it.begin_s.is_some()))
                .map(|it| (it.t_s, format!("event {}", it.name))),
            throughput: intervals
                .iter()
                .map(|interval| (interval.t_s, per_s(interval)))
                .collect(),
            intervals,
            phase: record.measured(),
        }
    }

    /// True for a sample that belongs to warm-up or measurement.
    pub(super) fn holds(&self, t_s: f64, length_s: f64) -> bool {
        let middle_s = t_s + length_s / 2.0;
        let is_in = |it: &Measured<'_>| middle_s < it.window_s().0 || it.holds(t_s, length_s);
        self.phase.as_ref().is_none_or(is_in)
    }
}

pub(super) fn per_s(interval: &Interval) -> f64 {
    if interval.length_s > 0.0 {
        interval.succeeded() as f64 / interval.length_s
    } else {
        0.0
    }
}
