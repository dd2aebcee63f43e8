//! How large a difference is, and how many executions it takes to see one.

use statrs::{
    distribution::{ContinuousCDF, Normal},
    function::gamma::ln_gamma,
};

use crate::{
    comparison::{Comparison, EXECUTIONS_AT_LEAST},
    mean_interval::Interval,
};

/// The difference in standard deviations of one execution, with its interval at `confidence`: 0.8 and more is called
/// large, and a difference of 3 % is large where executions differ by 2 % and small where they differ by 20 %.
///
/// Positive where B is more. `None` where the executions do not differ by chance at all, and for a confidence outside of
/// 0 to 1.
///
/// Source: Hedges' g, corrected for few executions: L. V. Hedges and I. Olkin, "Statistical methods for meta-analysis"
/// (1985), chapter 5; the words for sizes: Cohen, "Statistical power analysis for the behavioral sciences" (1988).
pub fn effect_size(comparison: &Comparison, confidence: f64) -> Option<Interval> {
    let in_range = confidence > 0.0 && confidence < 1.0;
    if !in_range || comparison.deviation <= 0.0 {
        return None;
    }
    let half = comparison.freedom / 2.0;
    let correction = (ln_gamma(half) - ln_gamma(half - 0.5)).exp() / half.sqrt();
    // With one degree of freedom the correction is zero: nothing is known of the deviation.
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

/// The smallest difference, as a share, that so many executions a side find in 80 of 100 experiments at 95 %
/// confidence: 0.05 is 5 %. `None` without an execution.
///
/// Source: the normal approximation of the power of a two-sample comparison, (1.96 + 0.84) · s · √(2/n); J. Cohen,
/// "Statistical power analysis for the behavioral sciences" (1988).
pub fn smallest_effect(deviation: f64, executions: usize) -> Option<f64> {
    (executions > 0).then(|| power_factor() * deviation * (2.0 / executions as f64).sqrt())
}

/// Executions a side after which a difference of `effect` (a share) would be found in 80 of 100 experiments; the
/// inverse of [`smallest_effect`]. `None` for an effect that is not positive.
pub fn executions_needed(deviation: f64, effect: f64) -> Option<usize> {
    if effect.is_nan() || effect <= 0.0 {
        return None;
    }
    let executions = 2.0 * (power_factor() * deviation / effect).powi(2);
    Some(((executions - 1e-9).ceil() as usize).max(EXECUTIONS_AT_LEAST))
}

/// Quantiles of the normal distribution for 95 % confidence, two-sided, and 80 % power.
fn power_factor() -> f64 {
    let normal = Normal::standard();
    normal.inverse_cdf(0.975) + normal.inverse_cdf(0.8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{comparison::compare, noise::Noise};

    #[test]
    fn effects_and_executions_are_each_others_inverse() {
        // 2.8 · s · √(2/n), in tenths of a percent.
        let table = [
            (0.01, [23, 18, 13, 9, 7]),
            (0.02, [46, 35, 25, 18, 14]),
            (0.05, [114, 89, 63, 44, 36]),
            (0.10, [229, 177, 125, 89, 72]),
        ];
        for (deviation, effects) in table {
            for (executions, effect) in [3, 5, 10, 20, 30].into_iter().zip(effects) {
                let found = smallest_effect(deviation, executions).unwrap();
                assert!((found * 1000.0 - f64::from(effect)).abs() < 0.6, "{found}");
                assert_eq!(executions_needed(deviation, found), Some(executions));
            }
        }
        assert_eq!(smallest_effect(0.1, 0), None);
        assert_eq!(executions_needed(0.1, 0.0), None);
        assert_eq!(executions_needed(0.1, f64::NAN), None);
    }

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
