//! The confidence interval of an estimate over one long series, by sectioning.

use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::Interval;

/// Number of sections from which their spread is used.
const SECTIONS_AT_LEAST: usize = 10;

/// The interval of an estimate over a whole series at `confidence` (0.95 for 95 %), from the same estimate over
/// consecutive sections of the series; all in the unit of the values.
///
/// For a quantile of response times, whose interval by order statistics would treat neighbours in time as independent.
/// Correlated sections count for fewer: with the correlation r between neighbours, n of them count as
/// n (1 - r) / (1 + r). The interval is about this run only; the next run may differ by more.
///
/// `None` for fewer than ten sections or an effective number below three, for a value that is not finite, and for a
/// confidence outside of 0 to 1.
///
/// Source: sectioning as in Asmussen and Glynn, "Stochastic Simulation", 2007, III.5, for quantiles in Nakayama,
/// "Confidence intervals for quantiles using sectioning when applying variance-reduction techniques", ACM TOMACS 24
/// (2014); effective number of correlated values: Law, "Simulation Modeling and Analysis", for a first-order process.
pub fn sectioned_interval(estimate: f64, sections: &[f64], confidence: f64) -> Option<Interval> {
    let in_range = confidence > 0.0 && confidence < 1.0;
    let finite = estimate.is_finite() && sections.iter().all(|value| value.is_finite());
    if sections.len() < SECTIONS_AT_LEAST || !in_range || !finite {
        return None;
    }
    let count = sections.len() as f64;
    let squares: f64 = sections
        .iter()
        .map(|value| (value - estimate).powi(2))
        .sum();
    let products: f64 = sections
        .windows(2)
        .map(|pair| (pair[0] - estimate) * (pair[1] - estimate))
        .sum();
    let correlation = if squares > 0.0 {
        (products / squares).clamp(0.0, 1.0)
    } else {
        0.0
    };
    let worth = count * (1.0 - correlation) / (1.0 + correlation);
    if worth < 3.0 {
        return None;
    }
    let student = StudentsT::new(0.0, 1.0, worth - 1.0).ok()?;
    let variance = squares / (count - 1.0);
    let half_width = student.inverse_cdf(0.5 + confidence / 2.0) * (variance / worth).sqrt();
    Some(Interval {
        estimate,
        low: estimate - half_width,
        high: estimate + half_width,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::Noise;

    #[test]
    fn known_values() {
        // No correlation between neighbours: 1.8331 = t(9, 0.95), s² = 10 / 9.
        let sections = [1.0, -1.0, -1.0, 1.0, 1.0, -1.0, -1.0, 1.0, 1.0, -1.0];
        let interval = sectioned_interval(0.0, &sections, 0.9).unwrap();
        assert!((interval.high - 1.8331 / 3.0).abs() < 1e-4, "{interval:?}");
        assert!((interval.low + interval.high).abs() < 1e-12);
        let still = sectioned_interval(7.0, &[7.0; 10], 0.95).unwrap();
        assert_eq!((still.low, still.high), (7.0, 7.0));
    }

    #[test]
    fn undefined_is_none() {
        let drifting: Vec<f64> = (0..12).map(f64::from).collect();
        let cases: &[(f64, &[f64], f64)] = &[
            (1.0, &[1.0; 9], 0.95),
            (f64::NAN, &[1.0; 10], 0.95),
            (1.0, &[f64::INFINITY; 10], 0.95),
            (1.0, &[1.0; 10], 1.0),
            (5.5, &drifting, 0.95),
        ];
        for (estimate, sections, confidence) in cases {
            assert_eq!(sectioned_interval(*estimate, sections, *confidence), None);
        }
    }

    /// Coverage, for the 95th percentile of skewed values that come in bursts.
    #[test]
    fn ninety_five_percent_hold_the_truth() {
        const SERIES: usize = 200;
        const LENGTH: usize = 4_000;
        // exp of a standard normal deviate: its 95th percentile is exp of the deviate's.
        let truth = 1.644_853_6_f64.exp();
        for (seed, phi) in [(21, 0.0), (22, 0.6)] {
            let mut noise = Noise::new(seed);
            let p95 = |values: &[f64]| {
                let mut sorted = values.to_vec();
                sorted.sort_by(f64::total_cmp);
                sorted[sorted.len() * 95 / 100]
            };
            let held = (0..SERIES)
                .filter(|_| {
                    let series = noise.autocorrelated(LENGTH, phi);
                    let series: Vec<f64> = series.into_iter().map(f64::exp).collect();
                    let sections: Vec<f64> = series.chunks(200).map(p95).collect();
                    let interval = sectioned_interval(p95(&series), &sections, 0.95).unwrap();
                    interval.low <= truth && truth <= interval.high
                })
                .count();
            let share = held as f64 / SERIES as f64;
            assert!(
                (0.92..=0.98).contains(&share),
                "{share} at correlation {phi}"
            );
        }
    }
}
