//! How long the rest of a plan takes, from what is planned and what was seen so far.

use std::time::Duration;

/// Time around a run (restart, restore, connecting) before any was seen.
const AROUND_A_RUN: Duration = Duration::from_secs(2);

/// How long the rest of a plan takes.
#[derive(Debug, Default)]
pub(super) struct TimeLeft {
    /// What the runs that are done took beyond their warm-up and measurement.
    around: Vec<Duration>,
}

impl TimeLeft {
    /// A run is done that was expected to take so long, warm-up and measurement, and took so long in all.
    pub(super) fn done(&mut self, expected: Duration, took: Duration) {
        self.around.push(took.saturating_sub(expected));
    }

    /// An estimate for runs with such warm-ups and measurements: around each the median of what went around the runs so
    /// far, so that loading once does not count for all.
    pub(super) fn of(&self, runs: impl Iterator<Item = Duration>) -> Duration {
        let mut around = self.around.clone();
        around.sort_unstable();
        let typical = around
            .get(around.len() / 2)
            .copied()
            .unwrap_or(AROUND_A_RUN);
        runs.map(|expected| expected + typical).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loading_once_does_not_count_for_every_run() {
        let seconds = Duration::from_secs;
        let runs = |count| std::iter::repeat_n(seconds(3), count);
        let mut left = TimeLeft::default();
        assert_eq!(left.of(runs(5)), seconds(5 * (3 + 2)));
        left.done(seconds(3), seconds(63));
        left.done(seconds(3), seconds(4));
        left.done(seconds(3), seconds(4));
        assert_eq!(left.of(runs(2)), seconds(2 * (3 + 1)));
        left.done(seconds(3), seconds(1));
        assert_eq!(left.of(runs(0)), Duration::ZERO);
    }
}
