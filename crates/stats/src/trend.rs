//! The slope of a noisy series.

use statrs::distribution::{ContinuousCDF, Normal};

use crate::{Interval, mser::batch_means};

/// Confidence of a drift.
const CONFIDENCE: f64 = 0.95;

/// The relative change over the values, as a share of their median, with its 95 % interval, from the means of batches;
/// `None` if the median is not positive, and for fewer than five batches.
///
/// Source: as [`correlated_theil_sen`].
pub(crate) fn drift(values: &[f64], batch: usize) -> Option<Interval> {
    let means = batch_means(values, batch);
    let median = median(&means);
    let slope = correlated_theil_sen(&means, CONFIDENCE)?;
    let share = |slope: f64| slope * means.len() as f64 / median;
    (median > 0.0).then(|| Interval {
        estimate: share(slope.estimate),
        low: share(slope.low),
        high: share(slope.high),
    })
}

/// As [`correlated_theil_sen`], for independent errors.
#[cfg(test)]
fn theil_sen(values: &[f64], confidence: f64) -> Option<Interval> {
    widened_theil_sen(values, confidence, |_| 1.0)
}

/// The slope of equally spaced values with its interval at `confidence`, in the values' unit per step: the median
/// of the slopes between all pairs, which a single stall or spike does not move.
///
/// `None` for fewer than five values (no interval exists), for a value that is not finite, and for a confidence
/// outside of 0 to 1. Time and memory are quadratic in the number of values.
///
/// The more neighbours are correlated, the wider the interval.
///
/// Source: P. K. Sen, "Estimates of the regression coefficient based on Kendall's tau", Journal of the American
/// Statistical Association 63 (1968); the interval is his, from the variance of Kendall's S without ties. That variance
/// grows by (1 + r) / (1 - r) with the correlation r of neighbours around the slope: S. Yue and C. Wang, "The Mann-Kendall
/// test modified by effective sample size to detect trend in serially correlated hydrological series", Water Resources
/// Management 18 (2004), for a first-order process.
pub(crate) fn correlated_theil_sen(values: &[f64], confidence: f64) -> Option<Interval> {
    widened_theil_sen(values, confidence, |slope| {
        let correlation = neighbour_correlation(values, slope);
        ((1.0 + correlation) / (1.0 - correlation)).sqrt()
    })
}

fn widened_theil_sen(
    values: &[f64],
    confidence: f64,
    factor: impl Fn(f64) -> f64,
) -> Option<Interval> {
    let in_range = confidence > 0.0 && confidence < 1.0;
    if values.len() < 5 || !in_range || values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let mut slopes = Vec::with_capacity(values.len() * (values.len() - 1) / 2);
    for (index, value) in values.iter().enumerate() {
        for (later, other) in values.iter().enumerate().skip(index + 1) {
            slopes.push((other - value) / (later - index) as f64);
        }
    }
    slopes.sort_by(f64::total_cmp);
    let count = values.len() as f64;
    let variance = count * (count - 1.0) * (2.0 * count + 5.0) / 18.0;
    let quantile = Normal::standard().inverse_cdf(0.5 + confidence / 2.0);
    let estimate = median_of_sorted(&slopes);
    let reach = quantile * variance.sqrt() * factor(estimate);
    let pairs = slopes.len() as f64;
    let last = slopes.len() - 1;
    // As ranks starting at 1 these are (pairs - reach) / 2 and (pairs + reach) / 2 + 1.
    let low = ((pairs - reach) / 2.0 - 1.0).max(0.0).floor() as usize;
    let high = ((pairs + reach) / 2.0).ceil() as usize;
    Some(Interval {
        estimate,
        low: slopes[low],
        high: slopes[high.min(last)],
    })
}

/// The lag-1 correlation of the values around a slope, 0 to 0.9.
fn neighbour_correlation(values: &[f64], slope: f64) -> f64 {
    let count = values.len() as f64;
    let level: Vec<f64> = values
        .iter()
        .enumerate()
        .map(|(index, value)| value - slope * index as f64)
        .collect();
    let mean = level.iter().sum::<f64>() / count;
    let squares: f64 = level.iter().map(|value| (value - mean).powi(2)).sum();
    let products: f64 = level
        .windows(2)
        .map(|pair| (pair[0] - mean) * (pair[1] - mean))
        .sum();
    // The estimated mean makes the correlation seem smaller, by about one divided by the count.
    if squares > 0.0 {
        (products / squares + 1.0 / count).clamp(0.0, 0.9)
    } else {
        0.0
    }
}

/// The median of values in any order; the list must not be empty.
pub(crate) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    median_of_sorted(&sorted)
}

/// The median of sorted values; the list must not be empty.
pub(crate) fn median_of_sorted(sorted: &[f64]) -> f64 {
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 {
        sorted[middle]
    } else {
        f64::midpoint(sorted[middle - 1], sorted[middle])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::Noise;

    #[test]
    fn a_straight_line_has_its_slope() {
        let line: Vec<f64> = (0..20).map(|index| 5.0 + 0.25 * index as f64).collect();
        let slope = theil_sen(&line, 0.95).unwrap();
        for value in [slope.estimate, slope.low, slope.high] {
            assert!((value - 0.25).abs() < 1e-12, "{slope:?}");
        }
    }

    #[test]
    fn an_outlier_does_not_move_it() {
        let mut line: Vec<f64> = (0..20).map(|index| 5.0 + 0.25 * index as f64).collect();
        line[19] = -1000.0;
        let slope = theil_sen(&line, 0.95).unwrap();
        assert!((slope.estimate - 0.25).abs() < 1e-12, "{slope:?}");
    }

    #[test]
    fn correlated_values_do_not_make_a_trend() {
        let mut noise = Noise::new(14);
        let (mut plain, mut corrected) = (0, 0);
        for _ in 0..500 {
            let series = noise.autocorrelated(60, 0.4);
            let holds_zero = |slope: Interval| slope.low <= 0.0 && 0.0 <= slope.high;
            plain += usize::from(holds_zero(theil_sen(&series, 0.95).unwrap()));
            corrected += usize::from(holds_zero(correlated_theil_sen(&series, 0.95).unwrap()));
        }
        assert!(plain < 450, "{plain} of 500");
        assert!((455..=495).contains(&corrected), "{corrected} of 500");
    }

    #[test]
    fn undefined_is_none() {
        assert_eq!(theil_sen(&[1.0, 2.0, 3.0, 4.0], 0.95), None);
        assert_eq!(theil_sen(&[1.0, 2.0, f64::NAN, 4.0, 5.0], 0.95), None);
        assert_eq!(theil_sen(&[1.0, 2.0, 3.0, 4.0, 5.0], 1.0), None);
    }

    #[test]
    fn ninety_five_percent_hold_the_truth() {
        const SERIES: usize = 2000;
        for (seed, length, truth) in [(11, 8, 0.0), (12, 20, 0.01), (13, 60, -0.002)] {
            let mut noise = Noise::new(seed);
            let held = (0..SERIES)
                .filter(|_| {
                    let series: Vec<f64> = (0..length)
                        .map(|index| 1.0 + truth * index as f64 + 0.1 * noise.normal())
                        .collect();
                    let slope = theil_sen(&series, 0.95).unwrap();
                    slope.low <= truth && truth <= slope.high
                })
                .count();
            let share = held as f64 / SERIES as f64;
            assert!((0.93..=0.98).contains(&share), "{share} at {length} values");
        }
    }
}
