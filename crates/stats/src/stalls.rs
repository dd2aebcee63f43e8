//! Stalls: intervals in which throughput was at or near zero.

use crate::trend::median;

/// Share of the median below which an interval is stalled.
const STALLED_BELOW: f64 = 0.5;

/// The stalls in a throughput series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stalls {
    pub intervals: usize,
    /// Median of the series, in its unit.
    pub median: f64,
    /// Number of intervals below half of the median.
    pub stalled: usize,
    /// Longest sequence of stalled intervals.
    pub longest_stalled: usize,
    /// Number of sequences of one or more intervals without any operation.
    pub gaps: usize,
    /// Number of intervals without any operation.
    pub silent: usize,
    /// Longest sequence of intervals without any operation.
    pub longest_gap: usize,
}

impl Stalls {
    /// Intervals below half of the median, as a share of all.
    pub fn stalled_share(&self) -> f64 {
        self.stalled as f64 / self.intervals as f64
    }
}

/// The stalls of a throughput, one value per equal interval (a second, usually); lengths are in intervals.
///
/// `None` for an empty series, and for a value that is negative or not finite. A series whose median is zero has gaps
/// and no stalled interval, because no value is below half of zero.
///
/// Source: the windows below half of the median as in M. Callaghan's insert benchmark, which reports each second and
/// not the mean alone.
pub fn stalls(series: &[f64]) -> Option<Stalls> {
    if series.is_empty()
        || series
            .iter()
            .any(|value| !value.is_finite() || *value < 0.0)
    {
        return None;
    }
    let median = median(series);
    let slow = Stretches::of(series, |value| value < STALLED_BELOW * median);
    let silent = Stretches::of(series, |value| value == 0.0);
    Some(Stalls {
        intervals: series.len(),
        median,
        stalled: slow.total,
        longest_stalled: slow.longest,
        gaps: silent.count,
        silent: silent.total,
        longest_gap: silent.longest,
    })
}

/// Uninterrupted sequences of values that fulfil a condition.
#[derive(Default)]
struct Stretches {
    count: usize,
    total: usize,
    longest: usize,
}

impl Stretches {
    fn of(series: &[f64], holds: impl Fn(f64) -> bool) -> Self {
        let mut found = Self::default();
        for stretch in series.split(|value| !holds(*value)) {
            found.count += usize::from(!stretch.is_empty());
            found.total += stretch.len();
            found.longest = found.longest.max(stretch.len());
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::noise::Noise;

    #[test]
    fn three_seconds_a_minute_are_found() {
        // 300 s with a 3 s drop to a fifth once a minute: the mean is 0.96.
        let mut noise = Noise::new(61);
        let series: Vec<f64> = (0..300)
            .map(|second| {
                let level = if second % 60 < 57 { 1.0 } else { 0.2 };
                level * (1.0 + 0.05 * noise.normal())
            })
            .collect();
        let found = stalls(&series).unwrap();
        assert_eq!((found.stalled, found.longest_stalled), (15, 3));
        assert_eq!((found.gaps, found.silent, found.longest_gap), (0, 0, 0));
        assert!((found.stalled_share() - 0.05).abs() < 1e-12);
    }

    #[test]
    fn gaps_are_stretches_of_nothing() {
        let series = [9.0, 0.0, 0.0, 8.0, 9.0, 0.0, 4.0, 9.0];
        let found = stalls(&series).unwrap();
        assert_eq!(found.median, 6.0);
        assert_eq!((found.gaps, found.silent, found.longest_gap), (2, 3, 2));
        assert_eq!((found.stalled, found.longest_stalled), (3, 2));
        let idle = stalls(&[0.0; 5]).unwrap();
        assert_eq!((idle.stalled, idle.longest_gap), (0, 5));
    }

    /// A stall of one second is found, and noise is not reported as one.
    #[test]
    fn recall_and_false_alarms() {
        let mut noise = Noise::new(62);
        let (mut found, mut false_alarms) = (0, 0);
        for _ in 0..1_000 {
            let errors = noise.autocorrelated(300, 0.6);
            let mut series: Vec<f64> = errors.iter().map(|error| 1.0 + 0.1 * error).collect();
            false_alarms += stalls(&series).unwrap().stalled;
            series[150] *= 0.2;
            found += usize::from(stalls(&series).unwrap().stalled == 1);
        }
        assert!(found >= 990, "{found}");
        assert!(false_alarms <= 3_000 / 10, "{false_alarms}");
    }

    proptest! {
        #[test]
        fn never_panics_and_counts_add_up(
            any in prop::collection::vec(prop::num::f64::ANY, 0..50),
            counts in prop::collection::vec(0_u8..6, 1..50),
        ) {
            let _ = stalls(&any);
            let series: Vec<f64> = counts.iter().map(|count| f64::from(*count)).collect();
            let found = stalls(&series).unwrap();
            prop_assert!(found.longest_stalled <= found.stalled);
            prop_assert!(found.longest_gap <= found.silent && found.gaps <= found.silent);
            prop_assert!(found.median == 0.0 || found.silent <= found.stalled);
            prop_assert!((0.0..=0.5).contains(&found.stalled_share()));
        }
    }
}
