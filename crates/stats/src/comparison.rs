//! The difference between two sides, with the execution as the unit of replication.

use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::{mean_interval::Interval, spread::Spread};

/// Executions per side below which there is no verdict: two values do not determine a spread.
pub const EXECUTIONS_AT_LEAST: usize = 3;

/// The executions of side B compared with those of side A.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Comparison {
    /// B divided by A, the ratio of the geometric means: 1.05 is 5 % more; with the interval at the given confidence.
    pub ratio: Interval,
    /// Probability of a difference at least this large if there were none; two-sided.
    pub p_value: f64,
    /// Standard deviation of one execution, as a share: 0.02 is 2 %.
    pub deviation: f64,
    /// Executions of the smaller side.
    pub executions: usize,
    /// Standard error of the ratio's logarithm.
    pub error: f64,
    /// Degrees of freedom of that error.
    pub freedom: f64,
}

impl Comparison {
    /// Probability of executions as similar as these, if the sides differed by `margin` (a share, 0.02 is 2 %) or more
    /// in either direction: below 5 % the sides are equivalent within that margin.
    ///
    /// 1 for a margin that is not positive.
    ///
    /// Source: two one-sided tests: D. J. Schuirmann, "A comparison of the two one-sided tests procedure and the power
    /// approach for assessing the equivalence of average bioavailability", Journal of Pharmacokinetics and
    /// Biopharmaceutics 15 (1987). The bounds are 1 / (1 + margin) and 1 + margin, so that the sides can be exchanged.
    pub fn equivalence_p_value(&self, margin: f64) -> f64 {
        let distance = margin.ln_1p() - self.ratio.estimate.ln().abs();
        let student = StudentsT::new(0.0, 1.0, self.freedom);
        match student {
            _ if margin.is_nan() || margin <= 0.0 => 1.0,
            Ok(student) if self.error > 0.0 => student.sf(distance / self.error),
            _ if distance > 0.0 => 0.0,
            _ => 1.0,
        }
    }
}

/// The difference of side B from side A in the unit of the values, for sides with values near zero, whose ratio is
/// meaningless.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Difference {
    /// B minus A, the difference of the means; with the interval at the given confidence.
    pub amount: Interval,
    /// Probability of a difference at least this large if there were none; two-sided.
    pub p_value: f64,
    /// Standard deviation of one execution, in the unit of the values.
    pub deviation: f64,
    /// Executions of the smaller side.
    pub executions: usize,
}

/// Compares executions in pairs, one of each side per block, so that an effect on a whole block (a busy hour of the
/// machine) cancels.
///
/// The values are throughputs or response times, one per execution. `None` for fewer than two pairs, for a value that
/// is not positive and finite, and for a confidence outside of 0 to 1.
///
/// Source: Student's t on the logarithm of each pair's ratio; on the execution as the unit: Kalibera and Jones,
/// "Rigorous benchmarking in reasonable time", ISMM 2013; on blocks: R. A. Fisher, "The arrangement of field
/// experiments" (1926).
pub fn compare_pairs(pairs: &[(f64, f64)], confidence: f64) -> Option<Comparison> {
    compare_differences(&log_ratios(pairs)?, MeanError::INDEPENDENT, confidence)
}

/// What the error of a mean of differences has besides their spread.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MeanError {
    /// The variance of the mean as a multiple of that of independent differences.
    pub(crate) inflation: f64,
    /// Variance that more differences do not reduce.
    pub(crate) lasting: f64,
}

impl MeanError {
    const INDEPENDENT: Self = Self {
        inflation: 1.0,
        lasting: 0.0,
    };
}

/// Compares pairs by the logarithms of their ratios. The deviation is that of independent executions whose mean would be as
/// uncertain, without the lasting variance.
pub(crate) fn compare_differences(
    logs: &[f64],
    error: MeanError,
    confidence: f64,
) -> Option<Comparison> {
    Gap::of_pairs(logs, error)?.as_ratio(confidence)
}

/// As [`compare_differences`], by the differences in the unit of the values.
pub(crate) fn subtract_differences(
    differences: &[f64],
    error: MeanError,
    confidence: f64,
) -> Option<Difference> {
    Gap::of_pairs(differences, error)?.as_amount(confidence)
}

/// The logarithm of B divided by A of each pair; `None` for a value that is not positive and finite.
pub(crate) fn log_ratios(pairs: &[(f64, f64)]) -> Option<Vec<f64>> {
    pairs
        .iter()
        .map(|(a, b)| Some(log(*b)? - log(*a)?))
        .collect()
}

/// Compares two unpaired lists of executions.
///
/// As [`compare_pairs`]; `None` for fewer than two values on a side.
///
/// Source: B. L. Welch, "The generalization of Student's problem when several different population variances are
/// involved", Biometrika 34 (1947), on logarithms.
pub fn compare(a: &[f64], b: &[f64], confidence: f64) -> Option<Comparison> {
    let logs = |values: &[f64]| values.iter().map(|value| log(*value)).collect();
    let (a, b): (Option<Vec<f64>>, Option<Vec<f64>>) = (logs(a), logs(b));
    Gap::of_lists(&a?, &b?)?.as_ratio(confidence)
}

/// As [`compare_pairs`], by the differences themselves: values may be zero.
pub fn subtract_pairs(pairs: &[(f64, f64)], confidence: f64) -> Option<Difference> {
    let differences: Vec<f64> = pairs.iter().map(|(a, b)| b - a).collect();
    subtract_differences(&differences, MeanError::INDEPENDENT, confidence)
}

/// As [`compare`], by the values themselves, which may be zero.
pub fn subtract(a: &[f64], b: &[f64], confidence: f64) -> Option<Difference> {
    Gap::of_lists(a, b)?.as_amount(confidence)
}

/// The probabilities of several comparisons, each raised so that the chance of any wrong verdict below 5 % is at most
/// 5 % for all of them together; in the order given.
///
/// Source: S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6
/// (1979).
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|a, b| p_values[*a].total_cmp(&p_values[*b]));
    let mut adjusted = vec![0.0; p_values.len()];
    let mut highest: f64 = 0.0;
    for (rank, at) in order.into_iter().enumerate() {
        let tests_left = (p_values.len() - rank) as f64;
        highest = highest.max((p_values[at] * tests_left).min(1.0));
        adjusted[at] = highest;
    }
    adjusted
}

fn log(value: f64) -> Option<f64> {
    (value.is_finite() && value > 0.0).then(|| value.ln())
}

/// A difference of means, with the inputs of Student's t test.
struct Gap {
    difference: f64,
    /// Standard error of the difference.
    error: f64,
    /// Degrees of freedom of that error.
    freedom: f64,
    /// Standard deviation of one execution.
    deviation: f64,
    executions: usize,
}

impl Gap {
    fn of_pairs(differences: &[f64], error: MeanError) -> Option<Self> {
        let spread = Spread::of(differences)?;
        let variance = error.inflation * spread.variance;
        Some(Self {
            difference: spread.mean,
            error: (variance / spread.count + error.lasting).sqrt(),
            freedom: spread.count - 1.0,
            // The difference of two executions has twice the variance of one.
            deviation: (variance / 2.0).sqrt(),
            executions: differences.len(),
        })
    }

    fn of_lists(a: &[f64], b: &[f64]) -> Option<Self> {
        let (a, b) = (Spread::of(a)?, Spread::of(b)?);
        let (error_a, error_b) = (a.variance / a.count, b.variance / b.count);
        let freedoms = a.count + b.count - 2.0;
        let pooled = ((a.count - 1.0) * a.variance + (b.count - 1.0) * b.variance) / freedoms;
        let error = (error_a + error_b).sqrt();
        Some(Self {
            difference: b.mean - a.mean,
            error,
            freedom: if error > 0.0 {
                (error_a + error_b).powi(2)
                    / (error_a.powi(2) / (a.count - 1.0) + error_b.powi(2) / (b.count - 1.0))
            } else {
                freedoms
            },
            deviation: pooled.sqrt(),
            executions: a.count.min(b.count) as usize,
        })
    }

    /// The gap as a ratio; its means are those of logarithms.
    fn as_ratio(&self, confidence: f64) -> Option<Comparison> {
        let (interval, p_value) = self.judged(confidence)?;
        Some(Comparison {
            ratio: Interval {
                estimate: interval.estimate.exp(),
                low: interval.low.exp(),
                high: interval.high.exp(),
            },
            p_value,
            deviation: self.deviation,
            executions: self.executions,
            error: self.error,
            freedom: self.freedom,
        })
    }

    fn as_amount(&self, confidence: f64) -> Option<Difference> {
        let (amount, p_value) = self.judged(confidence)?;
        Some(Difference {
            amount,
            p_value,
            deviation: self.deviation,
            executions: self.executions,
        })
    }

    /// The difference with its interval, and the probability of one at least this large if there were none.
    fn judged(&self, confidence: f64) -> Option<(Interval, f64)> {
        if !(confidence > 0.0 && confidence < 1.0) {
            return None;
        }
        let student = StudentsT::new(0.0, 1.0, self.freedom).ok()?;
        let half_width = student.inverse_cdf(0.5 + confidence / 2.0) * self.error;
        let p_value = if self.error > 0.0 {
            2.0 * student.sf((self.difference / self.error).abs())
        } else if self.difference == 0.0 {
            1.0
        } else {
            0.0
        };
        let interval = Interval {
            estimate: self.difference,
            low: self.difference - half_width,
            high: self.difference + half_width,
        };
        Some((interval, p_value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::Noise;

    fn close(value: f64, expected: f64) -> bool {
        (value - expected).abs() < 1e-3 * expected.abs().max(1.0)
    }

    #[test]
    fn pairs_cancel_what_a_block_has_in_common() {
        // Blocks differ by a factor of four, each pair by 10 %: the logarithms of the ratios are all ln 1.1.
        let pairs = [(100.0, 110.0), (200.0, 220.0), (50.0, 55.0)];
        let paired = compare_pairs(&pairs, 0.95).unwrap();
        assert!(close(paired.ratio.low, 1.1) && close(paired.ratio.high, 1.1));
        let (a, b): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
        let unpaired = compare(&a, &b, 0.95).unwrap();
        assert!(unpaired.ratio.low < 1.0 && unpaired.ratio.high > 1.0);
        assert!(close(unpaired.ratio.estimate, 1.1));
    }

    #[test]
    fn known_values() {
        // Log ratios 0.1, 0.2, 0.3: mean 0.2, s = 0.1, t(2, 0.975) = 4.3027, half-width 0.2484, t = 3.4641, and
        // P(|t(2)| > 3.4641) = 0.0742 from printed tables.
        let pairs = [0.1_f64, 0.2, 0.3].map(|log| (1.0, log.exp()));
        let found = compare_pairs(&pairs, 0.95).unwrap();
        assert!(close(found.ratio.estimate, 0.2_f64.exp()));
        assert!(
            close(found.ratio.low, (0.2_f64 - 0.2484).exp()),
            "{found:?}"
        );
        assert!(close(found.ratio.high, (0.2_f64 + 0.2484).exp()));
        assert!((found.p_value - 0.0742).abs() < 1e-3, "{found:?}");
    }

    #[test]
    fn amounts_of_known_values() {
        // Differences 1, 2, 3: mean 2, s = 1, t(2, 0.975) = 4.3027, half-width 4.3027 / √3 = 2.4842.
        let found = subtract_pairs(&[(0.0, 1.0), (1.0, 3.0), (0.0, 3.0)], 0.95).unwrap();
        assert!(close(found.amount.estimate, 2.0));
        assert!(close(found.amount.low, -0.4842), "{found:?}");
        assert!(close(found.deviation, 0.5_f64.sqrt()));
        // Mean 4, s = 1 on one side and none on the other: 2 degrees of freedom, the same half-width.
        let found = subtract(&[0.0; 3], &[3.0, 4.0, 5.0], 0.95).unwrap();
        assert!(close(found.amount.low, 1.5159) && close(found.amount.high, 6.4841));
        assert!((found.p_value - 0.0203).abs() < 1e-3, "{found:?}");
        let none = subtract(&[0.0; 3], &[0.0; 3], 0.95).unwrap();
        assert_eq!(
            (none.amount.low, none.amount.high, none.p_value),
            (0.0, 0.0, 1.0)
        );
        assert_eq!(subtract_pairs(&[(0.0, 1.0)], 0.95), None);
    }

    #[test]
    fn undefined_is_none() {
        for pairs in [
            &[][..],
            &[(1.0, 2.0)],
            &[(1.0, 2.0), (0.0, 1.0)],
            &[(1.0, 2.0), (1.0, f64::NAN)],
        ] {
            assert_eq!(compare_pairs(pairs, 0.95), None, "{pairs:?}");
        }
        assert_eq!(compare(&[1.0, 2.0], &[1.0], 0.95), None);
        assert_eq!(compare(&[1.0, 2.0], &[1.0, 3.0], 1.0), None);
    }

    #[test]
    fn equivalence_is_the_wider_interval_within_the_margin() {
        // Logarithms ±0.01 around 0.01: error 0.01 / √3, t(2, 0.95) = 2.920.
        let pairs = [0.0_f64, 0.01, 0.02].map(|log| (1.0, log.exp()));
        let found = compare_pairs(&pairs, 0.95).unwrap();
        let margin = (0.01 + 2.920 * 0.01 / 3.0_f64.sqrt()).exp_m1();
        assert!(close(found.equivalence_p_value(margin), 0.05), "{found:?}");
        assert!(found.equivalence_p_value(2.0 * margin) < 0.05);
        assert_eq!(found.equivalence_p_value(0.0), 1.0);
        assert_eq!(found.equivalence_p_value(f64::NAN), 1.0);
        let exact = compare_pairs(&[(1.0, 1.01); 3], 0.95).unwrap();
        assert!(exact.equivalence_p_value(0.02) < 1e-6);
        assert!(exact.equivalence_p_value(0.005) > 0.999);
    }

    /// Sides that differ by exactly the margin are called equivalent no more often than the level allows.
    #[test]
    fn equivalence_errs_rarely() {
        let mut noise = Noise::new(14);
        let wrong = (0..4000)
            .filter(|_| {
                let mut side = |mean: f64| -> Vec<f64> {
                    (0..8)
                        .map(|_| (mean + 0.02 * noise.normal()).exp())
                        .collect()
                };
                let (a, b) = (side(0.0), side(0.05_f64.ln_1p()));
                compare(&a, &b, 0.95).unwrap().equivalence_p_value(0.05) < 0.05
            })
            .count();
        assert!(wrong <= 240, "{wrong} of 4000");
    }

    #[test]
    fn holm_raises_the_smallest_most() {
        let adjusted = holm(&[0.04, 0.01, 0.03]);
        for (value, expected) in adjusted.iter().zip([0.06, 0.03, 0.06]) {
            assert!(close(*value, expected), "{adjusted:?}");
        }
        assert_eq!(holm(&[0.9, 0.8]), [1.0, 1.0]);
    }

    /// Coverage of the interval: the share of simulated experiments whose interval contains the true ratio.
    #[test]
    fn ninety_five_percent_hold_the_truth() {
        const EXPERIMENTS: usize = 4000;
        for (seed, executions) in [(11, 3), (12, 6), (13, 12)] {
            let mut noise = Noise::new(seed);
            let mut held = [0_usize; 2];
            for _ in 0..EXPERIMENTS {
                let pairs: Vec<(f64, f64)> = (0..executions)
                    .map(|_| {
                        let block = 0.2 * noise.normal();
                        let mut one =
                            |truth: f64| (truth.ln() + block + 0.05 * noise.normal()).exp();
                        (one(40_000.0), one(42_000.0))
                    })
                    .collect();
                let (a, b): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
                for (held, found) in held.iter_mut().zip([
                    compare_pairs(&pairs, 0.95).unwrap(),
                    compare(&a, &b, 0.95).unwrap(),
                ]) {
                    *held += usize::from(found.ratio.low <= 1.05 && 1.05 <= found.ratio.high);
                }
            }
            let paired = held[0] as f64 / EXPERIMENTS as f64;
            assert!((0.93..=0.97).contains(&paired), "{paired} of {executions}");
            // The variation between blocks widens the unpaired interval: it is never too narrow.
            let unpaired = held[1] as f64 / EXPERIMENTS as f64;
            assert!(unpaired >= 0.93, "{unpaired} of {executions}");
        }
    }
}
