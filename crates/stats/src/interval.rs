//! How far the truth may be from an estimate.

use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::spread::Spread;

/// An estimate with the interval that holds the truth with the asked confidence; all in the unit of the values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// The estimate itself.
    pub estimate: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// The mean of independent values with its two-sided interval at `confidence` (0.95 for 95 %), in the unit of the
/// values.
///
/// The values are one per execution (a run after a restart or a restore). Seconds of one run are not independent:
/// an interval over them is far too narrow and says nothing about the next execution.
///
/// `None` for fewer than two values (one execution has no spread to look at), for a value that is not finite, and
/// for a confidence outside of 0 to 1.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::Noise;

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

    /// The promise of the number: of many experiments, the share whose interval holds the truth.
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
