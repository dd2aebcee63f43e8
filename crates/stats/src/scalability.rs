//! The Universal Scalability Law (USL): throughput as a function of concurrency, and its peak.

mod fit;
mod usl;

use std::fmt;

use self::fit::fit;
pub use self::usl::{Point, UslModel, curve_residual};
use crate::{bootstrap::Resampling, mean_interval::Interval, random::Random};

/// Required number of different concurrencies: the law has three parameters, and a residual needs a fourth point.
const CONCURRENCIES_AT_LEAST: usize = 4;

/// Share of the peak's concurrency, anywhere in its interval, that the measurements must reach before a peak is
/// reported: from points up to 16 connections a peak "at 22 or more" is a guess.
const REACHED_AT_LEAST: f64 = 0.7;

/// The fitted law with its uncertainty.
#[derive(Debug, Clone, PartialEq)]
pub struct Scalability {
    /// The law with the best fit.
    pub law: UslModel,
    /// Highest measured concurrency, connections or threads.
    pub measured_up_to: f64,
    /// Concurrency and throughput of the peak; an error if the measured range does not determine it.
    pub peak: Result<Peak, NoPeak>,
    /// Fits of the bootstrap resamples, for the interval at any concurrency.
    draws: Vec<UslModel>,
    confidence: f64,
}

/// The peak of the throughput.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Peak {
    /// Concurrency of the peak, connections or threads.
    pub concurrency: Interval,
    /// Throughput at the peak, operations per second.
    pub throughput_per_s: Interval,
}

/// Why no peak is reported.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NoPeak {
    /// Highest measured concurrency, connections or threads.
    pub measured_up_to: f64,
    /// Interval of the peak's concurrency.
    pub concurrency: Interval,
}

impl fmt::Display for NoPeak {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Interval { low, high, .. } = self.concurrency;
        write!(
            out,
            "measured up to {:.0} connections, ",
            self.measured_up_to
        )?;
        if high > 100.0 * self.measured_up_to {
            write!(out, "the peak lies beyond {low:.0}")
        } else {
            write!(out, "the peak lies between {low:.0} and {high:.0}")
        }
    }
}

impl Scalability {
    /// A law with its uncertainty from the fits of resamples that the caller drew, for example of whole executions.
    ///
    /// `None` without draws, and for a confidence outside of 0 to 1.
    pub fn of_draws(
        law: UslModel,
        draws: Vec<UslModel>,
        measured_up_to: f64,
        confidence: f64,
    ) -> Option<Self> {
        let in_range = confidence > 0.0 && confidence < 1.0;
        if draws.is_empty() || !in_range {
            return None;
        }
        let peaks = |of: fn(&UslModel) -> f64| {
            let mut peaks: Vec<f64> = draws.iter().map(of).collect();
            between(of(&law), &mut peaks, confidence)
        };
        let concurrency = peaks(UslModel::peak);
        let peak = if measured_up_to >= REACHED_AT_LEAST * concurrency.high {
            Ok(Peak {
                concurrency,
                throughput_per_s: peaks(|law| law.at(law.peak())),
            })
        } else {
            Err(NoPeak {
                measured_up_to,
                concurrency,
            })
        };
        Some(Self {
            law,
            measured_up_to,
            peak,
            draws,
            confidence,
        })
    }

    /// Throughput at a concurrency with its interval, per second. Beyond the measured range the interval soon spans a
    /// factor: an extrapolation is uncertain.
    pub fn at(&self, concurrency: f64) -> Interval {
        let mut draws: Vec<f64> = self.draws.iter().map(|law| law.at(concurrency)).collect();
        between(self.law.at(concurrency), &mut draws, self.confidence)
    }
}

/// Fits the law to points of several executions, and estimates its uncertainty by bootstrap.
///
/// Least squares of logarithms, over the logarithms of the three parameters, so that none becomes negative. The
/// resamples add the residuals, scaled up for the fitted parameters, to the curve of the fit.
///
/// `None` for fewer than four different concurrencies, for a value that is not positive and finite or a concurrency
/// below 1, without resamples, and for a confidence outside of 0 to 1.
///
/// Source: N. J. Gunther, "Guerrilla Capacity Planning" (2007), chapter 4, with λ for the throughput of one; residual
/// bootstrap: Davison and Hinkley, "Bootstrap methods and their application" (1997), section 6.2.3.
pub fn scalability(
    points: &[Point],
    confidence: f64,
    resampling: Resampling,
) -> Option<Scalability> {
    let law = usl_fit(points, None)?;
    let draws = draws(points, &law, resampling);
    let concurrencies = points.iter().map(|point| point.concurrency);
    let measured_up_to = concurrencies.fold(0.0, f64::max);
    Scalability::of_draws(law, draws, measured_up_to, confidence)
}

/// The law with the least squares for points, searched from a law that is near it, or from several defaults.
///
/// `None` for fewer than four different concurrencies, and for a value that is not positive and finite or a concurrency
/// below 1.
///
/// Source: as [`scalability`].
pub fn usl_fit(points: &[Point], near: Option<&UslModel>) -> Option<UslModel> {
    let is_valid = |point: &Point| {
        let throughput = point.throughput_per_s;
        let concurrency = point.concurrency;
        throughput.is_finite() && throughput > 0.0 && (1.0..1e9).contains(&concurrency)
    };
    let mut concurrencies: Vec<f64> = points.iter().map(|point| point.concurrency).collect();
    concurrencies.sort_by(f64::total_cmp);
    concurrencies.dedup();
    let is_enough = concurrencies.len() >= CONCURRENCIES_AT_LEAST;
    (is_enough && points.iter().all(is_valid)).then(|| fit(points, near))
}

fn draws(points: &[Point], law: &UslModel, resampling: Resampling) -> Vec<UslModel> {
    let mut random = Random::new(resampling.seed);
    // The fit of three parameters makes the residuals smaller than the noise.
    let count = points.len() as f64;
    let larger = (count / (count - 3.0)).sqrt();
    let residuals: Vec<f64> = points
        .iter()
        .map(|point| (point.throughput_per_s / law.at(point.concurrency)).ln() * larger)
        .collect();
    let mean = residuals.iter().sum::<f64>() / count;
    let mut drawn = points.to_vec();
    (0..resampling.resamples)
        .map(|_| {
            for point in &mut drawn {
                let residual = residuals[random.below(residuals.len())] - mean;
                point.throughput_per_s = law.at(point.concurrency) * residual.exp();
            }
            fit(&drawn, Some(law))
        })
        .collect()
}

/// The interval between two quantiles of the draws; it contains the estimate.
fn between(estimate: f64, draws: &mut [f64], confidence: f64) -> Interval {
    draws.sort_by(f64::total_cmp);
    let last = draws.len() - 1;
    let at = |quantile: f64| draws[(quantile * last as f64).round() as usize];
    let tail = (1.0 - confidence) / 2.0;
    Interval {
        estimate,
        low: at(tail).min(estimate),
        high: at(1.0 - tail).max(estimate),
    }
}

#[cfg(test)]
mod tests;
