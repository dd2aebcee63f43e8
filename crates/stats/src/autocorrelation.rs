//! Effective sample size of a series, and the mean of one run with an interval that allows for autocorrelation.

use std::fmt;

use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::{mean_interval::Interval, spread::Spread};

/// Effective sample size from which the mean of a series has an interval.
const EFFECTIVE_AT_LEAST: f64 = 20.0;

/// Intervals below which the dependence of events in successive intervals cannot be estimated.
const INTERVALS_AT_LEAST: usize = 10;

/// Why a series has no interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Refusal {
    /// A value is not finite, or the confidence is not between 0 and 1.
    Undefined,
    /// Too few values for any series.
    Short { values: usize },
    /// The values are correlated over such a long time that their effective sample size is too small.
    Correlated {
        /// Effective sample size.
        effective: f64,
        /// Number of values that carry as much information as one independent value.
        correlation_time: f64,
    },
}

impl fmt::Display for Refusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Undefined => write!(out, "a value is not a number"),
            Self::Short { values } => {
                write!(out, "{values} values, fewer than {EFFECTIVE_AT_LEAST}")
            }
            Self::Correlated {
                effective,
                correlation_time,
            } => write!(
                out,
                "equivalent to {effective:.0} independent values, fewer than {EFFECTIVE_AT_LEAST}: {correlation_time:.0} values count as one"
            ),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunMean {
    /// The mean with its interval, in the unit of the values.
    pub mean: Interval,
    /// Effective sample size of the series.
    pub effective: f64,
    /// Integrated autocorrelation time in intervals of the series: 1 if all values are independent.
    pub correlation_time: f64,
}

/// The mean of a steady series (one value per equal interval) with its interval at `confidence`: the accuracy of this
/// one run's own mean.
///
/// Not for comparing runs: the next execution may differ by more than any second of this one ([`crate::compare`]).
///
/// # Errors
/// [`Refusal`] if the effective sample size is below 20: the correlation itself cannot be estimated then, and the
/// interval would be a guess.
///
/// Source: mean ± t · s / √n_eff with n_eff = n / τ; τ as in [`effective_values`].
pub fn run_mean(series: &[f64], confidence: f64) -> Result<RunMean, Refusal> {
    let in_range = confidence > 0.0 && confidence < 1.0;
    if !in_range || series.iter().any(|value| !value.is_finite()) {
        return Err(Refusal::Undefined);
    }
    let short = Refusal::Short {
        values: series.len(),
    };
    if (series.len() as f64) < EFFECTIVE_AT_LEAST {
        return Err(short);
    }
    let spread = Spread::of(series).ok_or(short)?;
    let correlation = Correlation::of(series);
    let effective = spread.count / correlation.time;
    // Squares of huge values overflow.
    if !(effective.is_finite() && spread.variance.is_finite()) {
        return Err(Refusal::Undefined);
    }
    if effective < EFFECTIVE_AT_LEAST {
        return Err(Refusal::Correlated {
            effective,
            correlation_time: correlation.time,
        });
    }
    // The variance of a sum over a window is itself estimated from this number of windows only.
    let freedom = (spread.count / (1.5 * correlation.window.max(1) as f64)).max(2.0);
    let student = StudentsT::new(0.0, 1.0, freedom).map_err(|_| Refusal::Undefined)?;
    let quantile = student.inverse_cdf(0.5 + confidence / 2.0);
    let reach = quantile * (spread.variance / effective).sqrt();
    Ok(RunMean {
        mean: Interval {
            estimate: spread.mean,
            low: spread.mean - reach,
            high: spread.mean + reach,
        },
        effective,
        correlation_time: correlation.time,
    })
}

/// Effective sample size of a series, at most its length: the length over the integrated autocorrelation time.
///
/// Below about 20 the figure is a guess, and usually too high. `None` for fewer than two values and for a value that is
/// not finite.
///
/// Source: initial monotone sequence: C. J. Geyer, "Practical Markov chain Monte Carlo", Statistical Science 7 (1992),
/// section 3.3; the correction for the estimated mean, which makes correlations seem smaller: M. B. Priestley, "Spectral
/// Analysis and Time Series" (1981), section 5.3.
pub fn effective_values(series: &[f64]) -> Option<f64> {
    if series.len() < 2 || series.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let count = series.len() as f64;
    let effective = count / Correlation::of(series).time;
    effective.is_finite().then(|| effective.min(count))
}

/// Effective sample size of a run's operations for the number of them beyond a quantile: the number of events if each
/// occurs alone, far fewer if they occur in bursts (a checkpoint causes a thousand slow operations at once).
///
/// `total` holds the operations of each equal interval, `beyond` those of them beyond the quantile. `None` for fewer
/// than ten intervals, for lists of different lengths, and if no or all operations lie beyond.
///
/// Source: the design effect of clustered samples: L. Kish, "Survey Sampling" (1965), section 5.4, with the ratio
/// estimator's residuals as a series and its autocorrelation time.
pub fn effective_events(total: &[f64], beyond: &[f64]) -> Option<f64> {
    let valid = |values: &[f64]| {
        values
            .iter()
            .all(|value| value.is_finite() && *value >= 0.0)
    };
    let counts_fit = total.len() == beyond.len() && valid(total) && valid(beyond);
    if !counts_fit || total.len() < INTERVALS_AT_LEAST {
        return None;
    }
    let events: f64 = total.iter().sum();
    let share = beyond.iter().sum::<f64>() / events;
    if !(share > 0.0 && share < 1.0) {
        return None;
    }
    let residuals: Vec<f64> = total
        .iter()
        .zip(beyond)
        .map(|(total, beyond)| beyond - share * total)
        .collect();
    let spread = Spread::of(&residuals)?;
    let time = Correlation::of(&residuals).time;
    let variance = spread.count * spread.variance * time / events.powi(2);
    let effective = share * (1.0 - share) / variance;
    (!effective.is_nan()).then(|| effective.min(events))
}

struct Correlation {
    /// Integrated autocorrelation time, in values.
    time: f64,
    /// Values over which the correlations were summed.
    window: usize,
}

impl Correlation {
    /// Lower limit: below it a series that oscillates around its mean would count as far more values than it has.
    const SHORTEST: f64 = 0.2;

    /// The values must be finite.
    fn of(series: &[f64]) -> Self {
        let count = series.len();
        let mean = series.iter().sum::<f64>() / count as f64;
        let errors: Vec<f64> = series.iter().map(|value| value - mean).collect();
        let covariance = |lag: usize| -> f64 {
            let later = errors.iter().skip(lag);
            errors.iter().zip(later).map(|(a, b)| a * b).sum()
        };
        let variance = covariance(0);
        if variance <= 0.0 {
            return Self {
                time: 1.0,
                window: 0,
            };
        }
        let mut time = -1.0;
        let mut smallest = f64::INFINITY;
        let mut window = 0;
        while window + 1 < count / 2 {
            let pair = (covariance(window) + covariance(window + 1)) / variance;
            if pair <= 0.0 {
                break;
            }
            smallest = pair.min(smallest);
            time += 2.0 * smallest;
            window += 2;
        }
        let of_mean = 1.0 - (2 * window + 1) as f64 / count as f64;
        Self {
            time: f64::max(time, Self::SHORTEST) / of_mean.max(0.1),
            window,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::noise::Noise;

    #[test]
    fn known_correlation_times() {
        // In an AR(1) series with φ, (1 + φ) / (1 - φ) values count as one.
        for (seed, phi) in [(81, 0.0), (82, 0.5), (83, 0.8)] {
            let series = Noise::new(seed).autocorrelated(20_000, phi);
            let expected = 20_000.0 * (1.0 - phi) / (1.0 + phi);
            let found = effective_values(&series).unwrap();
            assert!((found / expected - 1.0).abs() < 0.15, "{found} {expected}");
        }
        assert_eq!(effective_values(&[5.0; 50]), Some(50.0));
        assert_eq!(effective_values(&[5.0]), None);
    }

    #[test]
    fn what_cannot_be_estimated_is_refused() {
        let refused = |series: &[f64]| run_mean(series, 0.95).unwrap_err();
        assert_eq!(refused(&[1.0; 19]), Refusal::Short { values: 19 });
        assert_eq!(refused(&[f64::NAN; 30]), Refusal::Undefined);
        assert_eq!(run_mean(&[1.0; 30], 1.0), Err(Refusal::Undefined));
        let rising: Vec<f64> = (0..300).map(f64::from).collect();
        assert!(matches!(refused(&rising), Refusal::Correlated { .. }));
        assert_eq!(
            Refusal::Correlated {
                effective: 7.6,
                correlation_time: 39.2
            }
            .to_string(),
            "equivalent to 8 independent values, fewer than 20: 39 values count as one"
        );
        let still = run_mean(&[7.0; 30], 0.95).unwrap();
        assert_eq!((still.mean.low, still.mean.high), (7.0, 7.0));
    }

    #[test]
    fn bursts_are_worth_less_than_their_events() {
        let mut noise = Noise::new(84);
        let total = [1_000.0; 120];
        // One in a hundred, each alone: counts with binomial variance.
        let alone: Vec<f64> = (0..120)
            .map(|_| (10.0 + 9.9_f64.sqrt() * noise.normal()).round().max(0.0))
            .collect();
        let found = effective_events(&total, &alone).unwrap();
        assert!((70_000.0..=120_000.0).contains(&found), "{found}");
        // The same number, but all in every twentieth second.
        let bursts: Vec<f64> = (0..120)
            .map(|at| if at % 20 == 7 { 200.0 } else { 0.0 })
            .collect();
        let found = effective_events(&total, &bursts).unwrap();
        assert!(found < 2_000.0, "{found}");
        assert_eq!(effective_events(&total, &[0.0; 120]), None);
        assert_eq!(effective_events(&total, &[1.0; 119]), None);
        assert_eq!(effective_events(&total[..9], &[1.0; 9]), None);
    }

    proptest! {
        #[test]
        fn never_panics_and_holds_its_estimate(
            any in prop::collection::vec(prop::num::f64::ANY, 0..60),
            finite in prop::collection::vec(-1e6..1e6_f64, 0..60),
        ) {
            let _ = run_mean(&any, 0.95);
            let _ = effective_events(&any, &any);
            if let Ok(found) = run_mean(&finite, 0.95) {
                prop_assert!(found.mean.low <= found.mean.estimate);
                prop_assert!(found.mean.estimate <= found.mean.high);
                prop_assert!(found.effective >= EFFECTIVE_AT_LEAST);
            }
            if let Some(effective) = effective_values(&finite) {
                prop_assert!(effective > 0.0 && effective <= finite.len() as f64);
            }
        }
    }
}
