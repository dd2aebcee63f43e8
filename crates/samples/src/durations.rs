//! Durations of one kind: count, sum, extremes and distribution.

use serde::{Deserialize, Serialize};

use histogram::Histogram;

/// Durations of one kind: count, sum, extremes and distribution.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Durations {
    pub count: u64,
    pub sum_ns: u64,
    /// Exact minimum, nanoseconds; 0 when there is none.
    pub min_ns: u64,
    /// Exact maximum, nanoseconds; 0 when there is none.
    pub max_ns: u64,
    /// Distribution, nanoseconds.
    pub histogram: Histogram,
}

impl Durations {
    #[inline]
    pub fn record(&mut self, duration_ns: u64) {
        self.min_ns = if self.count == 0 {
            duration_ns
        } else {
            self.min_ns.min(duration_ns)
        };
        self.max_ns = self.max_ns.max(duration_ns);
        self.count += 1;
        self.sum_ns += duration_ns;
        self.histogram.record(duration_ns);
    }

    /// Adds the durations of another event loop, interval or run.
    pub fn add(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        self.min_ns = if self.count == 0 {
            other.min_ns
        } else {
            self.min_ns.min(other.min_ns)
        };
        self.max_ns = self.max_ns.max(other.max_ns);
        self.count += other.count;
        self.sum_ns += other.sum_ns;
        self.histogram.add(&other.histogram);
    }

    /// Removes all durations and keeps the histogram's memory.
    pub fn clear(&mut self) {
        if self.count > 0 {
            self.histogram.clear();
        }
        (self.count, self.sum_ns, self.min_ns, self.max_ns) = (0, 0, 0, 0);
    }

    /// Mean in nanoseconds; `None` when there is none.
    pub fn mean_ns(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum_ns as f64 / self.count as f64)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn durations(values: &[u64]) -> Durations {
        let mut durations = Durations::default();
        for value in values {
            durations.record(*value);
        }
        durations
    }

    proptest! {
        #[test]
        fn merging_loses_nothing(
            left in prop::collection::vec(1u64..1_000_000_000, 0..50),
            right in prop::collection::vec(1u64..1_000_000_000, 0..50),
        ) {
            let mut merged = durations(&left);
            merged.add(&durations(&right));
            let all: Vec<u64> = left.iter().chain(&right).copied().collect();
            prop_assert_eq!(merged.count, all.len() as u64);
            prop_assert_eq!(merged.sum_ns, all.iter().sum::<u64>());
            prop_assert_eq!(merged.min_ns, all.iter().copied().min().unwrap_or(0));
            prop_assert_eq!(merged.max_ns, all.iter().copied().max().unwrap_or(0));
            prop_assert_eq!(merged.histogram.count(), all.len() as u64);
        }
    }

    #[test]
    fn what_was_cleared_is_as_new() {
        let mut durations = durations(&[5, 7]);
        assert_eq!(durations.mean_ns(), Some(6.0));
        durations.clear();
        assert_eq!((durations.sum_ns, durations.max_ns), (0, 0));
        assert_eq!(
            (durations.histogram.count(), durations.mean_ns()),
            (0, None)
        );
        durations.record(9);
        assert_eq!(durations.min_ns, 9);
    }
}
