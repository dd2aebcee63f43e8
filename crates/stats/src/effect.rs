//! The size of a difference relative to the spread between executions.

use statrs::{
    distribution::{ContinuousCDF, Normal},
    function::gamma::ln_gamma,
};

use crate::{comparison::Comparison, mean_interval::Interval};

/// The difference in standard deviations of one execution, with its interval at `confidence`. 0.8 or more is called
/// large: a difference of 3 % is large if executions differ by 2 %, and small if they differ by 20 %.
///
/// Positive if B is more. `None` if the executions have no spread at all, and for a confidence outside of 0 to 1.
///
/// Source: Hedges' g, corrected for few executions: L. V. Hedges and I. Olkin, "Statistical methods for meta-analysis"
/// (1985), chapter 5; the terms for sizes: Cohen, "Statistical power analysis for the behavioral sciences" (1988).
pub fn effect_size(comparison: &Comparison, confidence: f64) -> Option<Interval> {
    let in_range = confidence > 0.0 && confidence < 1.0;
    if !in_range || comparison.deviation <= 0.0 {
        return None;
    }
    let half = comparison.freedom / 2.0;
    let correction = (ln_gamma(half) - ln_gamma(half - 0.5)).exp() / half.sqrt();
    // With one degree of freedom the correction is zero: the deviation is unknown.
    let correction = if half > 0.5 { correction } else { 0.0 };
    let size = comparison.ratio.estimate.ln() / comparison.deviation * correction;
    let of_means = (comparison.error / comparison.deviation).powi(2);
    let error = (of_means + size.powi(2) / (2.0 * comparison.freedom)).sqrt();
    let reach = Normal::standard().inverse_cdf(0.5 + confidence / 2.0) * error;
    Some(Interval {
        estimate: size,
        low: size - reach,
        high: size + reach,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{comparison::compare, noise::Noise};

    #[test]
    fn known_effect_size() {
        // Logarithms 0, 1, 2 and 2, 3, 4: deviation 1, difference 2, and J(4) = 0.7979.
        let [a, b] = [[0.0, 1.0, 2.0], [2.0, 3.0, 4.0]].map(|logs| logs.map(f64::exp));
        let compared = compare(&a, &b, 0.95).unwrap();
        let size = effect_size(&compared, 0.95).unwrap();
        assert!((size.estimate - 2.0 * 0.7979).abs() < 1e-3, "{size:?}");
        let reach = 1.96 * (2.0 / 3.0 + size.estimate.powi(2) / 8.0).sqrt();
        assert!((size.high - size.estimate - reach).abs() < 1e-3, "{size:?}");
        let equal = compare(&[5.0; 3], &[5.0; 3], 0.95).unwrap();
        assert_eq!(effect_size(&equal, 0.95), None);
        assert_eq!(effect_size(&compared, 1.0), None);
    }

    #[test]
    fn ninety_five_percent_hold_the_true_size() {
        const EXPERIMENTS: usize = 2_000;
        let mut noise = Noise::new(52);
        let held = (0..EXPERIMENTS)
            .filter(|_| {
                let mut side = |mean: f64| -> Vec<f64> {
                    (0..10)
                        .map(|_| (mean + 0.02 * noise.normal()).exp())
                        .collect()
                };
                let compared = compare(&side(0.0), &side(0.02), 0.95).unwrap();
                let size = effect_size(&compared, 0.95).unwrap();
                size.low <= 1.0 && 1.0 <= size.high
            })
            .count();
        let share = held as f64 / EXPERIMENTS as f64;
        assert!((0.93..=0.97).contains(&share), "{share}");
    }
}
