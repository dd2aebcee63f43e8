//! How much a percentile rests on: the independent operations beyond it.

use samples::{Interval, Record};
use stats::effective_events;

/// Of the operations that were due in the measurement, how many lie beyond a quantile (0 to 1), counted as what they are
/// worth: where slow ones come in bursts, a burst is hardly more than one.
///
/// Source: L. Kish, Survey Sampling (1965), section 5.4, by [`stats::effective_events`]; with fewer than ten intervals,
/// which show no bursts, the plain number.
pub fn independent_beyond(record: &Record, quantile: f64) -> f64 {
    let [beyond] = independent_beyond_each(record, [quantile]);
    beyond
}

/// [`independent_beyond`] for several quantiles of one record.
pub fn independent_beyond_each<const N: usize>(record: &Record, quantiles: [f64; N]) -> [f64; N] {
    let responses = record.totals().response().histogram;
    let count = |interval: &Interval| {
        let operations = interval.operations.iter();
        operations.map(|it| it.histogram.count() as f64).sum()
    };
    let total: Vec<f64> = record.measured_intervals().map(count).collect();
    quantiles.map(|quantile| {
        let simple = responses.count() as f64 * (1.0 - quantile);
        let Some(limit_ns) = responses.quantile_ns(quantile) else {
            return 0.0;
        };
        let slow = |interval: &Interval| {
            let operations = interval.operations.iter();
            operations
                .map(|it| it.histogram.count_above(limit_ns) as f64)
                .sum()
        };
        let slow: Vec<f64> = record.measured_intervals().map(slow).collect();
        let worth = effective_events(&total, &slow);
        let worth = worth.map(|events| events * (1.0 - quantile));
        worth.map_or(simple, |worth| worth.min(simple))
    })
}

#[cfg(test)]
mod tests {
    use samples::{BEYOND, Histogram};

    use super::*;
    use crate::fixture::{empty, healthy};

    #[test]
    fn what_comes_in_bursts_is_worth_less_than_its_number() {
        let mut record = healthy();
        let plain = independent_beyond(&record, 0.95);
        assert!(plain > 100.0, "{plain}");
        // All that is slow comes in two of the 120 seconds.
        for (second, interval) in record.intervals.iter_mut().enumerate() {
            let ns = match second {
                60 | 61 => 90_000_000,
                _ => 1_000_000,
            };
            let mut histogram = Histogram::new();
            (0..4_000).for_each(|_| histogram.record(ns));
            interval.operations[0].histogram = histogram;
        }
        let burst = independent_beyond(&record, 0.98);
        assert!(burst < BEYOND, "{burst}");
        assert_eq!(independent_beyond(&empty(), 0.5), 0.0);
    }
}
