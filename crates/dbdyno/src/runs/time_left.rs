//! How long the rest of a plan takes, from what is planned and what was seen so far.

use std::{collections::VecDeque, time::Duration};

/// Time around a run (restart, restore, connecting) before any was seen.
const AROUND_A_RUN: Duration = Duration::from_secs(2);

/// How long the rest of a plan takes.
#[derive(Debug)]
pub(crate) struct TimeLeft {
    /// Warm-up and measurement of the runs that are left, at most.
    expected: VecDeque<Duration>,
    /// What the runs that are done took beyond that.
    around: Vec<Duration>,
}

impl TimeLeft {
    /// A plan of runs that are expected to take so long each.
    pub(crate) fn new(expected: VecDeque<Duration>) -> Self {
        Self {
            expected,
            around: Vec::new(),
        }
    }

    /// The next run is done and took so long in all.
    pub(crate) fn done(&mut self, took: Duration) {
        let expected = self.expected.pop_front().unwrap_or_default();
        self.around.push(took.saturating_sub(expected));
    }

    /// An estimate: the median of what went around the runs so far, so that loading once does not count for all.
    pub(crate) fn left(&self) -> Duration {
        let mut around = self.around.clone();
        around.sort_unstable();
        let typical = around
            .get(around.len() / 2)
            .copied()
            .unwrap_or(AROUND_A_RUN);
        let runs = u32::try_from(self.expected.len()).unwrap_or(u32::MAX);
        self.expected.iter().sum::<Duration>() + typical * runs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loading_once_does_not_count_for_every_run() {
        let seconds = Duration::from_secs;
        let mut left = TimeLeft::new([seconds(3); 5].into());
        assert_eq!(left.left(), seconds(5 * (3 + 2)));
        left.done(seconds(63));
        left.done(seconds(4));
        left.done(seconds(4));
        assert_eq!(left.left(), seconds(2 * (3 + 1)));
        left.done(seconds(1));
        left.done(seconds(4));
        assert_eq!(left.left(), Duration::ZERO);
    }
}
