//! The time left as it is shown: it never grows by more than the time that has passed.

use std::time::Duration;

use reactor::Instant;

/// A time left that was shown, and when.
#[derive(Debug, Default)]
pub(crate) struct Countdown(Option<(Instant, Duration)>);

impl Countdown {
    /// What to show for an estimate: the estimate, unless it has grown by more than the time that has passed. Such an
    /// estimate is reached step by step, so that the end that a reader expects never moves away all at once.
    pub(crate) fn show(&mut self, now: Instant, estimate: Duration) -> Duration {
        let shown = match self.0 {
            Some((then, shown)) => estimate.min(shown.saturating_add(now - then)),
            None => estimate,
        };
        self.0 = Some((now, shown));
        shown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_never_grows_by_more_than_the_time_that_passed() {
        let s = Duration::from_secs;
        let mut countdown = Countdown::default();
        for (at, estimate, shown) in [
            (0, 100, 100),
            (10, 90, 90),
            // A run is done again.
            (11, 150, 91),
            (41, 120, 120),
            // Another one was shorter than expected.
            (42, 60, 60),
            (42, 61, 60),
            (50, 0, 0),
        ] {
            let now = Instant::from_ns(at * 1_000_000_000);
            assert_eq!(countdown.show(now, s(estimate)), s(shown), "at {at} s");
        }
    }
}
