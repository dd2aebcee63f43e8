//! The fit of a search: the share of operations over the limit as a logistic function of the rate.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::stage::{ADDED_OVER, Counts, RateStage, log_odds};
use crate::mean_interval::Interval;

/// Largest number of steps of a fit.
const STEPS_AT_MOST: usize = 100;
/// A step that changes all log-odds by less has reached the end.
const STEP_AT_LEAST: f64 = 1e-9;
/// Part of a step below which it is not halved again: the rest is rounding.
const PART_AT_LEAST: f64 = 1e-6;

/// The two parameters of the fit have used up as many stages: the spread of all others around the curve is known.
const PARAMETERS: usize = 2;

/// Largest leverage that corrects a residual. A stage with more of it determines the curve alone, and its residual shows
/// nothing.
const LEVERAGE_AT_MOST: f64 = 0.75;

/// The curve around a center: log-odds = level + slope · (rate / center - 1), both less the log-odds of the limit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Fit {
    center_per_s: f64,
    pub(super) level: f64,
    pub(super) slope: f64,
    covariance: Symmetric,
    stages: usize,
}

/// A symmetric matrix of two rows, for level and slope.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct Symmetric {
    of_level: f64,
    of_both: f64,
    of_slope: f64,
}

/// A stage in the fit.
struct Measured {
    /// The rate, as a share above the center.
    offset: f64,
    counts: Counts,
}

/// A stage beside a curve.
struct Residual {
    offset: f64,
    /// Operations over the limit, measured less expected.
    over: f64,
    /// The binomial variance of the expected ones.
    variance: f64,
}

impl Fit {
    /// The most likely curve for these stages. The operations of a stage need not be independent: each stage is one
    /// batch, and the covariance of the parameters follows from the differences between the stages and the curve, not from
    /// the number of operations. These differences count at least as much as those of independent operations.
    ///
    /// `None` for fewer than two different rates.
    ///
    /// Source: logistic regression: P. McCullagh and J. A. Nelder, "Generalized Linear Models" (1989), chapter 4; the
    /// covariance, which allows for busy stages that vary more than calm ones: J. G. MacKinnon and H. White, "Some
    /// heteroskedasticity-consistent covariance matrix estimators with improved finite sample properties", Journal of
    /// Econometrics 29 (1985), the estimator like a jackknife (HC3).
    pub(super) fn of(stages: &[RateStage], allowed: f64, center_per_s: f64) -> Option<Self> {
        // In each stage they would add up to a curve that is too flat where hardly a stage is near the limit.
        let added = PARAMETERS as f64 * ADDED_OVER / stages.len() as f64;
        let measured: Vec<Measured> = stages
            .iter()
            .map(|stage| Measured {
                offset: stage.rate_per_s / center_per_s - 1.0,
                counts: Counts::with_added(stage, allowed, added),
            })
            .collect();
        let offsets = measured.iter().map(|it| it.offset);
        let lowest = offsets.clone().fold(f64::INFINITY, f64::min);
        let highest = offsets.fold(f64::NEG_INFINITY, f64::max);
        if lowest >= highest {
            return None;
        }
        let (mut level, mut slope) = (0.0, 0.0);
        for _ in 0..STEPS_AT_MOST {
            let residuals = residuals(&measured, allowed, level, slope);
            let (by_level, by_slope) = step(&residuals)?;
            let change = |offset: f64| (by_level + by_slope * offset).abs();
            let largest = change(lowest).max(change(highest));
            if largest < STEP_AT_LEAST {
                break;
            }
            // Far from the most likely curve a whole step may be too long.
            let now = log_likelihood(&measured, allowed, level, slope);
            let after = |part: f64| {
                log_likelihood(
                    &measured,
                    allowed,
                    level + part * by_level,
                    slope + part * by_slope,
                )
            };
            let mut part = 1.0;
            while part > PART_AT_LEAST && after(part) < now - 1e-12 * now.abs() {
                part /= 2.0;
            }
            level += part * by_level;
            slope += part * by_slope;
        }
        let residuals = residuals(&measured, allowed, level, slope);
        Some(Self {
            center_per_s,
            level,
            slope,
            covariance: covariance(&residuals)?,
            stages: stages.len(),
        })
    }

    /// The rate at which the curve reaches the limit, operations per second; `None` if the curve does not rise.
    pub(super) fn estimate(&self) -> Option<f64> {
        let is_rising = self.slope > 0.0;
        is_rising.then(|| self.rate(-self.level / self.slope))
    }

    fn rate(&self, offset: f64) -> f64 {
        (self.center_per_s * (1.0 + offset)).max(0.0)
    }

    /// The rate at which the curve reaches the limit, with the interval of a test at this significance level; operations
    /// per second.
    ///
    /// `None` if the slope is not significant (the interval would be unbounded), and for no more stages than parameters.
    ///
    /// Source: E. C. Fieller, "Some problems in interval estimation", Journal of the Royal Statistical Society B 16
    /// (1954): all rates whose log-odds do not differ significantly from those of the limit.
    pub(super) fn interval(&self, significance: f64) -> Option<Interval> {
        let freedom = self.stages.checked_sub(PARAMETERS).filter(|it| *it > 0)?;
        let student = StudentsT::new(0.0, 1.0, freedom as f64).ok()?;
        let factor = student.inverse_cdf(1.0 - significance / 2.0).powi(2);
        // The roots of a · x² + 2 b · x + c.
        let a = self.slope.powi(2) - factor * self.covariance.of_slope;
        let b = self.level * self.slope - factor * self.covariance.of_both;
        let c = self.level.powi(2) - factor * self.covariance.of_level;
        if !a.is_finite() || a <= 0.0 {
            return None;
        }
        let root = (b * b - a * c).max(0.0).sqrt();
        Some(Interval {
            estimate: self.estimate()?,
            low: self.rate((-b - root) / a),
            high: self.rate((-b + root) / a),
        })
    }
}

impl Symmetric {
    /// The sum of these multiples of the products of (1, offset) with itself.
    fn sum(parts: impl Iterator<Item = (f64, f64)>) -> Self {
        parts.fold(Self::default(), |sum, (offset, multiple)| Self {
            of_level: sum.of_level + multiple,
            of_both: sum.of_both + multiple * offset,
            of_slope: sum.of_slope + multiple * offset * offset,
        })
    }

    /// `None` where it has none within the precision of the numbers.
    fn inverse(self) -> Option<Self> {
        let diagonal = self.of_level * self.of_slope;
        let determinant = diagonal - self.of_both * self.of_both;
        let is_known = determinant.is_finite() && determinant > 1e-12 * diagonal;
        is_known.then(|| Self {
            of_level: self.of_slope / determinant,
            of_both: -self.of_both / determinant,
            of_slope: self.of_level / determinant,
        })
    }

    /// This matrix times a vector.
    fn times(self, (level, slope): (f64, f64)) -> (f64, f64) {
        (
            self.of_level * level + self.of_both * slope,
            self.of_both * level + self.of_slope * slope,
        )
    }
}

fn residuals(measured: &[Measured], allowed: f64, level: f64, slope: f64) -> Vec<Residual> {
    let residual = |it: &Measured| {
        let odds = (log_odds(allowed) + level + slope * it.offset).exp();
        // In this form also for infinite odds.
        let share = 1.0 / (1.0 + 1.0 / odds);
        Residual {
            offset: it.offset,
            over: it.counts.over - it.counts.operations * share,
            variance: it.counts.operations * share * (1.0 - share),
        }
    };
    measured.iter().map(residual).collect()
}

/// The logarithm of the likelihood of these stages, without the parts that no parameter changes.
fn log_likelihood(measured: &[Measured], allowed: f64, level: f64, slope: f64) -> f64 {
    let of_stage = |it: &Measured| {
        let log_odds = log_odds(allowed) + level + slope * it.offset;
        // ln(1 + odds), also for odds that no number holds.
        let of_all = log_odds.max(0.0) + (-log_odds.abs()).exp().ln_1p();
        it.counts.over * log_odds - it.counts.operations * of_all
    };
    measured.iter().map(of_stage).sum()
}

/// The inverse of the information of these stages: the covariance of the parameters if all operations were independent.
fn independent(residuals: &[Residual]) -> Option<Symmetric> {
    Symmetric::sum(residuals.iter().map(|it| (it.offset, it.variance))).inverse()
}

/// Newton's step of level and slope.
fn step(residuals: &[Residual]) -> Option<(f64, f64)> {
    let level: f64 = residuals.iter().map(|it| it.over).sum();
    let slope: f64 = residuals.iter().map(|it| it.over * it.offset).sum();
    Some(independent(residuals)?.times((level, slope)))
}

/// The covariance of level and slope, as [`Fit::of`] says.
fn covariance(residuals: &[Residual]) -> Option<Symmetric> {
    let inverse = independent(residuals)?;
    // The effect of one operation over the limit, at this offset, on level and slope.
    let effect = |offset: f64| inverse.times((1.0, offset));
    let parts = residuals.iter().map(|it| {
        let (on_level, on_slope) = effect(it.offset);
        let leverage = it.variance * (on_level + on_slope * it.offset);
        let deleted = it.over / (1.0 - leverage.min(LEVERAGE_AT_MOST));
        (on_level, on_slope, (deleted * deleted).max(it.variance))
    });
    Some(
        parts.fold(Symmetric::default(), |sum, (level, slope, squared)| {
            Symmetric {
                of_level: sum.of_level + squared * level * level,
                of_both: sum.of_both + squared * level * slope,
                of_slope: sum.of_slope + squared * slope * slope,
            }
        }),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALLOWED: f64 = 0.01;

    /// A stage whose share over the limit has these log-odds, less those of the limit.
    fn stage(rate_per_s: f64, log_odds_over: f64) -> RateStage {
        let odds = (log_odds(ALLOWED) + log_odds_over).exp();
        let operations = 10_000_000_u64;
        RateStage {
            rate_per_s,
            operations,
            over: (operations as f64 * odds / (1.0 + odds)).round() as u64,
            is_offered: true,
        }
    }

    /// Log-odds that rise by 20 for a rate of 100 % more, and are those of the limit at 1,030/s.
    fn on_a_curve(rates: &[f64]) -> Vec<RateStage> {
        let of = |rate: &f64| stage(*rate, 20.0 * (rate / 1_000.0 - 1.03));
        rates.iter().map(of).collect()
    }

    #[test]
    fn the_curve_of_exact_stages_is_found() {
        let stages = on_a_curve(&[900.0, 950.0, 1_000.0, 1_050.0, 1_100.0]);
        let fit = Fit::of(&stages, ALLOWED, 1_000.0).unwrap();
        assert!((fit.slope - 20.0).abs() < 0.01, "{fit:?}");
        assert!((fit.level + 0.6).abs() < 0.001, "{fit:?}");
        let found = fit.interval(0.05).unwrap();
        assert!((found.estimate - 1_030.0).abs() < 0.1, "{found:?}");
        assert!(found.low < found.estimate && found.estimate < found.high);
        assert!(found.high - found.low < 2.0, "{found:?}");
        // The center is only the origin of the offsets.
        let other = Fit::of(&stages, ALLOWED, 800.0).unwrap();
        let other = other.interval(0.05).unwrap();
        assert!((other.low - found.low).abs() < 1e-3, "{other:?} {found:?}");
        assert!((other.high - found.high).abs() < 1e-3);
    }

    #[test]
    fn stages_that_scatter_around_the_curve_widen_the_interval() {
        let rates = [900.0, 900.0, 1_000.0, 1_000.0, 1_100.0, 1_100.0];
        let width = |scatter: f64| {
            let signs = [1.0, -1.0, -1.0, 1.0, 1.0, -1.0];
            let stages = rates
                .iter()
                .zip(signs)
                .map(|(rate, sign)| stage(*rate, 20.0 * (rate / 1_000.0 - 1.03) + sign * scatter));
            let stages: Vec<RateStage> = stages.collect();
            let found = Fit::of(&stages, ALLOWED, 1_000.0).unwrap();
            let found = found.interval(0.05).unwrap();
            found.high - found.low
        };
        let (exact, scattered, more) = (width(0.0), width(0.1), width(0.2));
        assert!(scattered > 5.0 * exact, "{exact} {scattered}");
        assert!(
            (1.5..4.0).contains(&(more / scattered)),
            "{scattered} {more}"
        );
    }

    #[test]
    fn undetermined_parameters_are_none() {
        let at_one_rate = on_a_curve(&[1_000.0, 1_000.0, 1_000.0]);
        assert_eq!(Fit::of(&at_one_rate, ALLOWED, 1_000.0), None);
        assert_eq!(Fit::of(&[], ALLOWED, 1_000.0), None);
        let two = Fit::of(&on_a_curve(&[900.0, 1_100.0]), ALLOWED, 1_000.0).unwrap();
        assert_eq!(two.interval(0.05), None);
        let flat = [900.0, 1_000.0, 1_000.0, 1_100.0].map(|rate| stage(rate, 0.3));
        let flat = Fit::of(&flat, ALLOWED, 1_000.0).unwrap();
        assert_eq!(flat.interval(0.05), None);
    }

    #[test]
    fn a_stage_without_an_operation_over_the_limit_has_a_finite_curve() {
        let mut stages = on_a_curve(&[900.0, 1_000.0, 1_100.0]);
        stages[0].over = 0;
        stages[2].over = stages[2].operations;
        let fit = Fit::of(&stages, ALLOWED, 1_000.0).unwrap();
        assert!(fit.slope.is_finite() && fit.slope > 20.0, "{fit:?}");
    }
}
