//! Confidence intervals of means.

use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::spread::Spread;

/// An estimate with the interval that contains the truth at the given confidence; all in the unit of the values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    pub estimate: f64,
    pub low: f64,
    pub high: f64,
}

/// The mean of independent values with its two-sided interval at `confidence` (0.95 for 95 %), in the unit of the
/// values.
///
/// The values are one per execution (a run after a restart or a restore). Seconds of one run are not independent:
/// an interval over them is far too narrow and does not predict the next execution.
///
/// `None` for fewer than two values (one execution has no spread), for a value that is not finite, and for a confidence
/// outside of 0 to 1.
///
/// Source: Student, "The probable error of a mean", Biometrika 6 (1908): mean ± t(n-1) · s / √n. On the execution
/// as the unit: Kalibera and Jones, "Rigorous benchmarking in reasonable time", ISMM 2013.
pub fn mean_interval(values: &[f64], confidence: f64) -> Option<Interval> {
    let in_range = confidence > 0.0 && confidence < 1.0;
    if !in_range || values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let Spread {
        count,
        mean,
        variance,
    } = Spread::of(values)?;
    let student = StudentsT::new(0.0, 1.0, count - 1.0).ok()?;
    let quantile = student.inverse_cdf(0.5 + confidence / 2.0);
    let half_width = quantile * (variance / count).sqrt();
    Some(Interval {
        estimate: mean,
        low: mean - half_width,
        high: mean + half_width,
    })
}

/// The mean over executions with its two-sided interval, both in the unit of the values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ExecutionMean {
    /// The mean: geometric if all values are above 0.
    pub mean: f64,
    /// Bounds of its interval, lower first; `None` with fewer than two values.
    pub bounds: Option<(f64, f64)>,
}

/// The mean of the executions of one combination that was selected from several because it is the highest (or the
/// lowest). Selection favours chance, so the interval is as wide as simultaneous intervals of all combinations.
///
/// `None` as for [`execution_mean`].
///
/// Source: C. E. Bonferroni (1936), as for all simultaneous intervals: R. G. Miller, "Simultaneous Statistical Inference"
/// (1981).
pub fn chosen_mean(values: &[f64], combinations: usize, confidence: f64) -> Option<ExecutionMean> {
    execution_mean(
        values,
        1.0 - (1.0 - confidence) / combinations.max(1) as f64,
    )
}

/// The mean over executions as every output shows it, with its interval at `confidence` (0.95 for 95 %).
///
/// A throughput, a time or a cost is never negative and varies by a factor rather than by an amount. If all values are
/// above 0, the mean is therefore the geometric one and the interval is that of the logarithms: it is wider above than
/// below, and does not reach 0. If a value is 0, the mean is the arithmetic one, and the interval ends at 0.
///
/// `None` without values, for a value that is negative or not finite, and for a confidence outside of 0 to 1.
///
/// Source: as [`mean_interval`], on logarithms: D. J. Finney, "On the distribution of a variate whose logarithm is
/// normally distributed", Journal of the Royal Statistical Society, Supplement 7 (1941); on the geometric mean of ratios:
/// P. J. Fleming and J. J. Wallace, "How not to lie with statistics", Communications of the ACM 29 (1986).
pub fn execution_mean(values: &[f64], confidence: f64) -> Option<ExecutionMean> {
    let is_amount = |value: &f64| value.is_finite() && *value >= 0.0;
    let in_range = confidence > 0.0 && confidence < 1.0;
    if values.is_empty() || !in_range || !values.iter().all(is_amount) {
        return None;
    }
    let count = values.len() as f64;
    if values.iter().all(|value| *value > 0.0) {
        let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
        let is_one = values.iter().all(|value| *value == values[0]);
        let mean = if is_one {
            // The exponential of a logarithm may differ from the value in the last digit.
            values[0]
        } else {
            (logs.iter().sum::<f64>() / count).exp()
        };
        let bounds = mean_interval(&logs, confidence).map(|it| {
            if is_one {
                (mean, mean)
            } else {
                (it.low.exp(), it.high.exp())
            }
        });
        return Some(ExecutionMean { mean, bounds });
    }
    Some(ExecutionMean {
        mean: values.iter().sum::<f64>() / count,
        bounds: mean_interval(values, confidence).map(|it| (it.low.max(0.0), it.high)),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use units::fine_percent;

    use super::*;
    use crate::noise::Noise;

    proptest! {
        #[test]
        fn the_interval_of_an_amount_holds_its_mean_and_is_never_negative(
            values in prop::collection::vec(0.0..1e6, 1..12),
        ) {
            let found = execution_mean(&values, 0.95).unwrap();
            prop_assert_eq!(found.bounds.is_some(), values.len() > 1);
            let (low, high) = found.bounds.unwrap_or((found.mean, found.mean));
            prop_assert!(0.0 <= low && low <= found.mean * (1.0 + 1e-12) && found.mean <= high * (1.0 + 1e-12));
        }
    }

    /// The highest of several equal combinations: its ordinary 95 % interval misses the truth too often.
    #[test]
    fn trust_the_interval_of_the_highest_holds_its_mean() {
        let is_long = std::env::var_os("DBDYNO_TRUST").is_some();
        let repetitions = if is_long { 20_000 } else { 1_500 };
        for (combinations, executions) in [(2, 5), (8, 3), (8, 5), (36, 3), (36, 12)] {
            let mut noise = Noise::new(63);
            let mut held = [0_u32; 2];
            for _ in 0..repetitions {
                let runs = |noise: &mut Noise| -> Vec<f64> {
                    (0..executions)
                        .map(|_| (0.05 * noise.normal()).exp())
                        .collect()
                };
                let all: Vec<Vec<f64>> = (0..combinations).map(|_| runs(&mut noise)).collect();
                let mean = |values: &Vec<f64>| execution_mean(values, 0.95).unwrap().mean;
                let highest = all
                    .iter()
                    .max_by(|a, b| mean(a).total_cmp(&mean(b)))
                    .unwrap();
                for (held, among) in held.iter_mut().zip([1, combinations]) {
                    let (low, high) = chosen_mean(highest, among, 0.95).unwrap().bounds.unwrap();
                    *held += u32::from(low <= 1.0 && 1.0 <= high);
                }
            }
            let [alone, chosen] = held.map(|count| f64::from(count) / f64::from(repetitions));
            println!(
                "the highest of {combinations} combinations, {executions} executions: its interval holds in {}, as one of a \
                 single combination it would in {}",
                fine_percent(chosen),
                fine_percent(alone)
            );
            assert!(chosen >= 0.93 && alone < chosen, "{alone} {chosen}");
        }
    }

    #[test]
    fn the_mean_of_executions() {
        // ln 1, ln 10, ln 100: mean ln 10, s = ln 10, half-width 4.3027 · ln 10 / √3.
        let found = execution_mean(&[1.0, 10.0, 100.0], 0.95).unwrap();
        let half_width = 4.3027 * 10f64.ln() / 3f64.sqrt();
        let (low, high) = found.bounds.unwrap();
        assert!((found.mean - 10.0).abs() < 1e-9);
        assert!((low.ln() - (10f64.ln() - half_width)).abs() < 1e-3, "{low}");
        assert!((high.ln() - (10f64.ln() + half_width)).abs() < 1e-3);
        let with_nothing = execution_mean(&[0.0, 3.0], 0.95).unwrap();
        assert_eq!(
            (with_nothing.mean, with_nothing.bounds.unwrap().0),
            (1.5, 0.0)
        );
        let same = execution_mean(&[0.1; 3], 0.95).unwrap();
        assert_eq!((same.mean, same.bounds), (0.1, Some((0.1, 0.1))));
        assert_eq!(execution_mean(&[7.0], 0.95).unwrap().bounds, None);
        for values in [&[][..], &[-1.0, 2.0], &[1.0, f64::NAN]] {
            assert_eq!(execution_mean(values, 0.95), None, "{values:?}");
        }
        assert_eq!(execution_mean(&[1.0], 1.0), None);
    }

    /// As for [`mean_interval`]: executions that vary by a factor, with the truth at their geometric centre.
    #[test]
    fn ninety_five_percent_hold_the_middle_of_what_varies_by_a_factor() {
        const EXPERIMENTS: usize = 4000;
        for (seed, executions) in [(21, 3), (22, 5), (23, 12)] {
            let mut noise = Noise::new(seed);
            let held = (0..EXPERIMENTS)
                .filter(|_| {
                    let values: Vec<f64> = (0..executions)
                        .map(|_| 700.0 * (0.5 * noise.normal()).exp())
                        .collect();
                    let found = execution_mean(&values, 0.95).unwrap();
                    let (low, high) = found.bounds.unwrap();
                    low <= 700.0 && 700.0 <= high
                })
                .count();
            let share = held as f64 / EXPERIMENTS as f64;
            assert!((0.93..=0.97).contains(&share), "{share} of {executions}");
        }
    }

    #[test]
    fn known_values() {
        // t(4, 0.975) = 2.7764 and t(1, 0.975) = 12.7062 from printed tables; s² of 1..5 is 2.5.
        let cases: &[(&[f64], f64, f64, f64)] = &[
            (
                &[1.0, 2.0, 3.0, 4.0, 5.0],
                0.95,
                3.0,
                2.7764 * 0.5_f64.sqrt(),
            ),
            (&[10.0, 12.0], 0.95, 11.0, 12.7062),
            (&[10.0, 12.0], 0.5, 11.0, 1.0),
            (&[7.0, 7.0, 7.0], 0.95, 7.0, 0.0),
        ];
        for (values, confidence, mean, half_width) in cases {
            let interval = mean_interval(values, *confidence).unwrap();
            assert!((interval.estimate - mean).abs() < 1e-9, "{values:?}");
            assert!(
                (interval.high - mean - half_width).abs() < 1e-3,
                "{values:?}: {interval:?}"
            );
            assert!((mean - interval.low - half_width).abs() < 1e-3);
        }
    }

    #[test]
    fn undefined_is_none() {
        let cases: &[(&[f64], f64)] = &[
            (&[], 0.95),
            (&[1.0], 0.95),
            (&[1.0, f64::NAN], 0.95),
            (&[1.0, f64::INFINITY], 0.95),
            (&[1.0, 2.0], 0.0),
            (&[1.0, 2.0], 1.0),
            (&[1.0, 2.0], f64::NAN),
        ];
        for (values, confidence) in cases {
            assert_eq!(mean_interval(values, *confidence), None, "{values:?}");
        }
    }

    /// Coverage: the share of simulated experiments whose interval contains the truth.
    #[test]
    fn ninety_five_percent_hold_the_truth() {
        const EXPERIMENTS: usize = 4000;
        for (seed, executions) in [(1, 3), (2, 5), (3, 12)] {
            let mut noise = Noise::new(seed);
            let held = (0..EXPERIMENTS)
                .filter(|_| {
                    let means: Vec<f64> = (0..executions)
                        .map(|_| 40_000.0 * (1.0 + 0.19 * noise.normal()))
                        .collect();
                    let interval = mean_interval(&means, 0.95).unwrap();
                    interval.low <= 40_000.0 && 40_000.0 <= interval.high
                })
                .count();
            let share = held as f64 / EXPERIMENTS as f64;
            assert!(
                (0.93..=0.97).contains(&share),
                "{share} of {executions} executions"
            );
        }
    }
}
