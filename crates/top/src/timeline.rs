//! Moments of one kind in order of time, of which the latest are kept.

use std::collections::VecDeque;

/// Maximum number of moments; at one per second it is an hour.
const KEPT_AT_MOST: usize = 3600;
/// Maximum number of moments of a whole record; at one per second it is almost three hours. Of longer ones every
/// second, fourth and so on is kept.
const KEPT_OF_RECORD_AT_MOST: usize = 10_000;
/// A moment is stale after this multiple of its length without a new one.
const STALE_AFTER_LENGTHS: f64 = 3.5;
/// Minimum age of a stale moment, seconds.
const STALE_AFTER_S: f64 = 3.0;

/// The figures of one interval.
pub(crate) trait Moment {
    fn start_s(&self) -> f64;
    fn length_s(&self) -> f64;

    fn end_s(&self) -> f64 {
        self.start_s() + self.length_s()
    }

    /// The time to which it belongs: moments of several kinds do not end at the same instant.
    fn middle_s(&self) -> f64 {
        self.start_s() + self.length_s() / 2.0
    }
}

/// Moments of one kind in order of time.
#[derive(Debug)]
pub(crate) struct Timeline<T> {
    moments: VecDeque<T>,
    /// Keeps moments of the whole record: they come from a file of limited size.
    keeps_all: bool,
    /// One of this number of moments is kept.
    one_in: u64,
    /// Number of moments added.
    seen: u64,
    /// Number of moments at the beginning that are no longer kept.
    dropped: u64,
}

impl<T> Default for Timeline<T> {
    fn default() -> Self {
        Self {
            moments: VecDeque::new(),
            keeps_all: false,
            one_in: 1,
            seen: 0,
            dropped: 0,
        }
    }
}

impl<T: Moment> Timeline<T> {
    /// From now on, keeps moments of the whole record.
    pub(crate) fn keep_all(&mut self) {
        self.keeps_all = true;
    }

    /// Adds a moment; one that is not later than the last one belongs to another run and is left out.
    pub(crate) fn push(&mut self, moment: T) {
        if self
            .moments
            .back()
            .is_some_and(|last| moment.end_s() < last.end_s())
        {
            return;
        }
        let is_kept = self.seen.is_multiple_of(self.one_in);
        self.seen += 1;
        if is_kept {
            self.moments.push_back(moment);
        }
        if self.keeps_all && self.moments.len() > KEPT_OF_RECORD_AT_MOST {
            self.thin();
        } else if !self.keeps_all && self.moments.len() > KEPT_AT_MOST {
            self.moments.pop_front();
            self.dropped += 1;
        }
    }

    /// Keeps every second one of the kept moments.
    fn thin(&mut self) {
        let mut position = 0;
        self.moments.retain(|_| {
            position += 1;
            position % 2 == 1
        });
        self.one_in *= 2;
    }

    /// The number of moments for each one that is kept: 1 if all are.
    pub(crate) fn one_in(&self) -> u64 {
        self.one_in
    }

    /// The moment that belongs to a time; `None` before the first one, and after a gap.
    pub(crate) fn at(&self, at_s: f64) -> Option<&T> {
        let moment = self.until(at_s).next_back()?;
        let lengths = STALE_AFTER_LENGTHS * self.one_in as f64;
        let patience = (moment.length_s() * lengths).max(STALE_AFTER_S);
        (at_s - moment.end_s() <= patience).then_some(moment)
    }

    /// The moments up to a time.
    pub(crate) fn until(&self, at_s: f64) -> impl DoubleEndedIterator<Item = &T> {
        let count = self
            .moments
            .partition_point(|moment| moment.middle_s() <= at_s);
        self.moments.iter().take(count)
    }

    /// Number of moments up to a time, whether they are kept or not.
    pub(crate) fn count_until(&self, at_s: f64) -> u64 {
        let kept = self.until(at_s).count() as u64;
        (self.dropped + kept * self.one_in).min(self.seen)
    }

    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = &T> {
        self.moments.iter()
    }

    /// The begin of the first moment, seconds.
    pub(crate) fn start_s(&self) -> Option<f64> {
        self.moments.front().map(Moment::start_s)
    }

    /// The end of the last moment, seconds.
    pub(crate) fn end_s(&self) -> Option<f64> {
        self.moments.back().map(Moment::end_s)
    }

    /// The moments that are older than the last `count`, for reducing their size.
    pub(crate) fn older_than(&mut self, count: usize) -> impl Iterator<Item = &mut T> {
        let old = self.moments.len().saturating_sub(count);
        self.moments.iter_mut().take(old).rev()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Second(f64);

    impl Moment for Second {
        fn start_s(&self) -> f64 {
            self.0
        }
        fn length_s(&self) -> f64 {
            1.0
        }
    }

    fn seconds(starts: &[f64]) -> Timeline<Second> {
        let mut timeline = Timeline::default();
        starts
            .iter()
            .for_each(|start| timeline.push(Second(*start)));
        timeline
    }

    #[test]
    fn a_moment_belongs_to_the_time_at_its_end_and_goes_stale() {
        let timeline = seconds(&[0.0, 1.0001, 2.0]);
        for (at_s, expected) in [
            (0.4, None),
            (1.0, Some(0.0)),
            (2.0, Some(1.0001)),
            (3.0, Some(2.0)),
            (6.4, Some(2.0)),
            (6.6, None),
        ] {
            assert_eq!(timeline.at(at_s).map(|it| it.0), expected, "{at_s}");
        }
    }

    #[test]
    fn only_the_latest_are_kept_and_nothing_goes_back() {
        let starts: Vec<f64> = (0..KEPT_AT_MOST + 10).map(|second| second as f64).collect();
        let mut timeline = seconds(&starts);
        timeline.push(Second(3.0));
        assert_eq!(timeline.iter().count(), KEPT_AT_MOST);
        assert_eq!(timeline.start_s(), Some(10.0));
        assert_eq!(timeline.count_until(1e9), starts.len() as u64);
        let mut all = Timeline::default();
        all.keep_all();
        starts.iter().for_each(|start| all.push(Second(*start)));
        assert_eq!(all.start_s(), Some(0.0));
    }

    #[test]
    fn of_a_very_long_record_one_in_some_moments_is_kept() {
        let mut timeline = Timeline::default();
        timeline.keep_all();
        let count = 3 * KEPT_OF_RECORD_AT_MOST;
        (0..count).for_each(|second| timeline.push(Second(second as f64)));
        assert_eq!(timeline.one_in(), 4);
        let starts: Vec<f64> = timeline.iter().map(Moment::start_s).collect();
        let expected: Vec<f64> = (0..count).step_by(4).map(|second| second as f64).collect();
        assert_eq!(starts, expected);
        assert_eq!(timeline.count_until(f64::MAX), count as u64);
        let shown = timeline.at(4007.5).map(Moment::start_s);
        assert_eq!(shown, Some(4004.0), "it is not stale before the next one");
    }
}
