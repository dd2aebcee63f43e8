//! The part of a progress bar that belongs to one run, or to those that are measured together.

use std::time::Duration;

use crate::listener::Step;

/// Length of one run on the bar.
pub(crate) const RUN_LENGTH: u64 = 1000;

/// The part of a progress bar that belongs to one run, or to those that are measured together.
pub(crate) struct RunProgress<'a> {
    /// The bar; one run is [`RUN_LENGTH`] of it.
    pub step: &'a dyn Step,
    /// Label beside the figures, for example `run 3 of 140 connections=8 mix=1:0`.
    pub label: String,
    /// Number of finished runs.
    pub runs_before: u64,
    /// Number of runs that are measured together.
    pub runs: u64,
    /// Estimated duration of the plan from the begin of these runs.
    pub left: Duration,
    /// Expected duration of these runs, warm-up included, seconds.
    pub expected_s: f64,
}

impl RunProgress<'_> {
    /// Shows how many connections are open.
    pub(crate) fn connected(&self, open: u64, total: u64) {
        let label = &self.label;
        let words = format!("{label}: {open} of {total} connected");
        self.step.say(&words);
    }

    /// Shows the current activity, at this time after the start of the load.
    pub(crate) fn show(&self, words: &str, elapsed_s: f64) {
        let left = self.left.saturating_sub(Duration::from_secs_f64(elapsed_s));
        self.step.say_with(words, left);
        let share = (elapsed_s / self.expected_s).clamp(0.0, 1.0);
        let length = (RUN_LENGTH * self.runs) as f64;
        self.step
            .reach(RUN_LENGTH * self.runs_before + (share * length) as u64);
    }
}
