//! Percentiles with distribution-free intervals, and the sample sizes that they need.

use std::fmt;

use statrs::distribution::{Binomial, DiscreteCDF};

use crate::Interval;

/// Independent values required beyond a percentile, on its thinner side.
const BEYOND_AT_LEAST: f64 = 10.0;

/// Why a percentile is not reported.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Unsupported {
    /// The requested quantile, 0.99 for the 99th percentile.
    pub quantile: f64,
    /// Number of independent values.
    pub independent: f64,
    /// Required number of independent values; `None` if no number suffices: the quantile or the confidence is not
    /// between 0 and 1, or a value is not a number.
    pub needed: Option<u64>,
}

impl fmt::Display for Unsupported {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percentile = self.quantile * 100.0;
        match self.needed {
            Some(needed) => write!(
                out,
                "p{percentile} needs {needed} independent values, but there are only {:.0}",
                self.independent.max(0.0).floor()
            ),
            None => write!(out, "p{percentile} of these values does not exist"),
        }
    }
}

/// Independent values required for a quantile with its two-sided interval: enough that both ends exist, and ten beyond
/// the quantile on its thinner side; `None` for a quantile or confidence outside of 0 to 1.
///
/// 1,000 for p99 at 95 %.
///
/// Source: the upper end exists when 1 - qⁿ ≥ (1 + confidence) / 2: H. A. David and H. N. Nagaraja, "Order
/// Statistics", 2003, section 7.1; [`values_for_bound`] is that condition alone. The ten values beyond are our own
/// threshold: with fewer, the interval exists but spans a factor.
pub fn values_for_percentile(quantile: f64, confidence: f64) -> Option<u64> {
    let thin = quantile.min(1.0 - quantile);
    let bound = values_for_bound(1.0 - thin, confidence)?;
    // 0.99 as a float is slightly more than 99 / 100, which must not raise the result to 1,001.
    let beyond = (BEYOND_AT_LEAST / thin - 1e-6).ceil() as u64;
    Some(bound.max(beyond))
}

/// Independent values required for the two-sided interval of a quantile to have an upper end: 72 for p95, 368 for p99,
/// 3,688 for p99.9 and 36,887 for p99.99, at 95 %; `None` for a quantile or confidence outside of 0 to 1.
///
/// Source: David and Nagaraja, "Order Statistics", 2003, section 7.1: ln((1 - confidence) / 2) / ln q.
pub fn values_for_bound(quantile: f64, confidence: f64) -> Option<u64> {
    let valid = is_share(quantile) && is_share(confidence);
    valid.then(|| (((1.0 - confidence) / 2.0).ln() / quantile.ln()).ceil() as u64)
}

/// The quantiles of a sample that are the ends of the interval of its `quantile`: for 0.99 of 5,000 independent values
/// the lower end is their quantile 0.9871 and the upper end 0.9927. The caller reads them from the sample, a sorted
/// list or a histogram.
///
/// `independent` is the number of values if all are independent, and the effective sample size if neighbours are
/// correlated ([`crate::effective_values`]).
///
/// # Errors
/// [`Unsupported`] if fewer than [`values_for_percentile`] are independent.
///
/// Source: the ranks of the order statistics by the binomial distribution: David and Nagaraja, "Order Statistics",
/// 2003, section 7.1; with an effective number of values: R. S. Woodruff, "Confidence intervals for medians and other
/// position measures", Journal of the American Statistical Association 47 (1952).
pub fn percentile_bounds(
    quantile: f64,
    independent: f64,
    confidence: f64,
) -> Result<Interval, Unsupported> {
    let unsupported = |needed| Unsupported {
        quantile,
        independent,
        needed,
    };
    let needed = values_for_percentile(quantile, confidence).ok_or(unsupported(None))?;
    if independent.is_nan() || independent < needed as f64 {
        return Err(unsupported(Some(needed)));
    }
    let range = percentile_range(quantile, independent, confidence).ok_or(unsupported(None))?;
    let ends = range.low.zip(range.high).ok_or(unsupported(Some(needed)))?;
    Ok(Interval {
        estimate: quantile,
        low: ends.0,
        high: ends.1,
    })
}

/// The quantiles of a sample that are the ends of the interval of one of its quantiles; `None` for an end that lies
/// beyond the sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PercentileRange {
    /// The lower end, a quantile from 0 to 1.
    pub low: Option<f64>,
    /// The upper end, a quantile from 0 to 1.
    pub high: Option<f64>,
}

/// As [`percentile_bounds`] for any number of values: an end may then lie beyond them. `None` for less than one
/// independent value, and for a quantile or a confidence outside of 0 to 1.
pub fn percentile_range(
    quantile: f64,
    independent: f64,
    confidence: f64,
) -> Option<PercentileRange> {
    if !is_share(quantile) || !is_share(confidence) || independent.is_nan() {
        return None;
    }
    // Floats represent whole numbers exactly up to 2^52.
    let values = independent.min(2_f64.powi(52)).floor();
    let count = values as u64;
    let binomial = Binomial::new(quantile, count).ok().filter(|_| count > 0)?;
    let tail = (1.0 - confidence) / 2.0;
    // The number of values below the quantile is at least `low` and less than `high`, each except for the probability
    // `tail`.
    let low = first_rank(count, |rank| binomial.cdf(rank) > tail);
    let high = first_rank(count, |rank| binomial.cdf(rank) >= 1.0 - tail) + 1;
    // Offset by half a rank, so that rounding never selects the neighbour.
    let at = |rank: u64| (rank as f64 - 0.5) / values;
    Some(PercentileRange {
        low: (low > 0).then(|| at(low)),
        high: (high <= count).then(|| at(high)),
    })
}

/// A percentile of sorted values with its interval, in their unit.
///
/// As [`percentile_bounds`]; `independent` is at most the number of values.
///
/// # Errors
/// [`Unsupported`] if too few values are independent, or if the values are not in ascending order.
pub fn percentile_interval(
    sorted: &[f64],
    quantile: f64,
    independent: f64,
    confidence: f64,
) -> Result<Interval, Unsupported> {
    let count = sorted.len() as f64;
    let independent = if independent > count {
        count
    } else {
        independent
    };
    let bounds = percentile_bounds(quantile, independent, confidence)?;
    if !sorted.is_sorted() || sorted.iter().any(|value| value.is_nan()) {
        return Err(Unsupported {
            quantile,
            independent,
            needed: None,
        });
    }
    let at = |quantile| value_at(sorted, quantile);
    Ok(Interval {
        estimate: at(quantile),
        low: at(bounds.low),
        high: at(bounds.high),
    })
}

/// The smallest of the sorted values that is not exceeded by at least the share `quantile` of them; the list must not
/// be empty.
fn value_at(sorted: &[f64], quantile: f64) -> f64 {
    let rank = (quantile * sorted.len() as f64 - 1e-9).ceil() as usize;
    sorted[rank.clamp(1, sorted.len()) - 1]
}

/// The first number that fulfils a condition, which `last` and every number after the first fulfil as well.
fn first_rank(last: u64, holds: impl Fn(u64) -> bool) -> u64 {
    let (mut from, mut to) = (0, last);
    while from < to {
        let middle = from.midpoint(to);
        if holds(middle) {
            to = middle;
        } else {
            from = middle + 1;
        }
    }
    from
}

fn is_share(value: f64) -> bool {
    value > 0.0 && value < 1.0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::noise::Noise;

    #[test]
    fn values_that_a_bound_takes() {
        for (quantile, values) in [(0.95, 72), (0.99, 368), (0.999, 3_688), (0.9999, 36_887)] {
            assert_eq!(values_for_bound(quantile, 0.95), Some(values));
        }
        for (quantile, values) in [(0.5, 20), (0.95, 200), (0.99, 1_000), (0.01, 1_000)] {
            assert_eq!(values_for_percentile(quantile, 0.95), Some(values));
        }
        // Confidence close to 1: the ends of the interval are the limit.
        assert_eq!(values_for_percentile(0.5, 0.999_999_999), Some(31));
        for (quantile, confidence) in [(0.0, 0.95), (1.0, 0.95), (f64::NAN, 0.95), (0.5, 1.0)] {
            assert_eq!(values_for_bound(quantile, confidence), None);
            assert_eq!(values_for_percentile(quantile, confidence), None);
        }
    }

    #[test]
    fn known_ranks() {
        // Of 100 values the median lies between the 40th and the 61st, a printed table's 95 % interval.
        let values: Vec<f64> = (1..=100).map(f64::from).collect();
        let median = percentile_interval(&values, 0.5, 100.0, 0.95).unwrap();
        assert_eq!(
            (median.low, median.estimate, median.high),
            (40.0, 50.0, 61.0)
        );
        let bounds = percentile_bounds(0.99, 5_000.0, 0.95).unwrap();
        assert!((bounds.low - 0.9871).abs() < 1e-4 && (bounds.high - 0.9927).abs() < 1e-4);
    }

    #[test]
    fn too_little_is_refused_with_the_number_that_it_takes() {
        let values = vec![1.0; 5_000];
        let refused = percentile_interval(&values, 0.999, 1e9, 0.95).unwrap_err();
        assert_eq!(refused.needed, Some(10_000));
        assert_eq!(
            refused.to_string(),
            "p99.9 needs 10000 independent values, but there are only 5000"
        );
        assert!(percentile_interval(&values, 0.99, 999.9, 0.95).is_err());
        assert!(percentile_interval(&values, 0.99, 1_000.0, 0.95).is_ok());
        assert!(percentile_bounds(0.5, f64::NAN, 0.95).is_err());
        let not_sorted: Vec<f64> = (0..100).rev().map(f64::from).collect();
        let refused = percentile_interval(&not_sorted, 0.5, 100.0, 0.95).unwrap_err();
        assert_eq!(refused.needed, None);
    }

    /// Coverage of the interval, for values with a skewed distribution.
    #[test]
    fn ninety_five_percent_hold_the_truth() {
        const SAMPLES: usize = 1_000;
        for (seed, quantile, values) in [(31, 0.5, 40), (32, 0.95, 300), (33, 0.99, 2_000)] {
            let mut noise = Noise::new(seed);
            // Exponential values: the quantile q is -ln(1 - q).
            let truth = -(1.0_f64 - quantile).ln();
            let held = (0..SAMPLES)
                .filter(|_| {
                    let mut sample: Vec<f64> = (0..values).map(|_| -noise.uniform().ln()).collect();
                    sample.sort_by(f64::total_cmp);
                    let all = values as f64;
                    let found = percentile_interval(&sample, quantile, all, 0.95).unwrap();
                    found.low <= truth && truth <= found.high
                })
                .count();
            let share = held as f64 / SAMPLES as f64;
            // Ranks are whole numbers: with few values the interval is slightly wider than requested.
            assert!((0.93..=0.98).contains(&share), "{share} at {quantile}");
        }
    }

    proptest! {
        #[test]
        fn holds_its_estimate_and_never_panics(
            mut values in prop::collection::vec(prop::num::f64::ANY, 0..300),
            quantile in prop::num::f64::ANY,
            share in 0.0..1.0_f64,
            independent in prop::num::f64::ANY,
        ) {
            let _ = percentile_interval(&values, quantile, independent, 0.95);
            values.retain(|value| value.is_finite());
            values.sort_by(f64::total_cmp);
            if let Ok(found) = percentile_interval(&values, share, values.len() as f64, 0.95) {
                prop_assert!(found.low <= found.estimate && found.estimate <= found.high);
                let narrower = percentile_interval(&values, share, values.len() as f64, 0.5).unwrap();
                prop_assert!(found.low <= narrower.low && narrower.high <= found.high);
            }
        }
    }
}
