//! The shift of a measurement's mean from the level of its end, caused by a remaining warm-up or a drift.

use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::{mean_interval::Interval, mser::batch_means};

/// Observations below which a shift is not judged.
pub const SHIFT_OBSERVATIONS_AT_LEAST: usize = 12;

/// Largest number of batches of a course of any length: the work is quadratic in it.
const BATCHES_AT_MOST: usize = 240;

/// Time constants of the warm-ups that are fitted, as shares of the course; dense enough that one is near any other.
const TIME_CONSTANTS: [f64; 9] = [0.035, 0.05, 0.07, 0.1, 0.14, 0.2, 0.28, 0.4, 0.56];

/// Highest lag-1 correlation that is used: with a higher one no shift would ever be certain.
const CORRELATION_AT_MOST: f64 = 0.97;

/// Effect of the estimated mean and slope of one execution on the correlation of its residuals, in observations; found
/// by simulation (this file's tests), because the formulas for long series are too optimistic.
const TAKEN_FROM_CORRELATION: f64 = 4.0;
const LOST_TO_CORRELATION: f64 = 6.0;

/// Share of an error probability for each of several combinations, so that noise alone is found in any of them no more
/// often than in a single one. It is smaller than one over their number: with so few values the tails are heavier than
/// those of the approximating distribution (calibrated by simulation, this file's tests).
pub fn chance_of_each(combinations: usize) -> f64 {
    (combinations.max(1) as f64).powf(-1.8)
}

/// The shape of a course.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShiftShape {
    /// An approach to a final level, as after a warm-up.
    EarlyPart,
    /// A rise or fall over the whole course.
    Line,
}

/// The shift of a course's mean from the level of its end.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeanShift {
    /// The shape that fits the course best.
    pub shape: ShiftShape,
    /// The mean divided by the level of the end, minus 1: -0.06 is 6 % below it.
    pub moved: f64,
    /// The change from the first to the last observation, as a share of the mean.
    pub change: f64,
    /// Standard error of `moved`.
    error: f64,
    /// Degrees of freedom of `error`.
    freedom: f64,
}

impl MeanShift {
    /// The shift of the mean with its interval at `confidence`.
    pub fn interval(&self, confidence: f64) -> Interval {
        let reach = self.reach(f64::midpoint(1.0, confidence));
        Interval {
            estimate: self.moved,
            low: self.moved - reach,
            high: self.moved + reach,
        }
    }

    /// The smallest shift that is certain except for this error probability, as a share without sign; 0 if none is
    /// certain.
    pub fn proven(&self, chance: f64) -> f64 {
        (self.moved.abs() - self.reach(1.0 - chance)).max(0.0)
    }

    /// As [`Self::proven`], for the change over the whole course.
    pub fn proven_change(&self, chance: f64) -> f64 {
        if self.moved == 0.0 {
            0.0
        } else {
            self.proven(chance) * (self.change / self.moved).abs()
        }
    }

    fn reach(&self, quantile: f64) -> f64 {
        match StudentsT::new(0.0, 1.0, self.freedom) {
            Ok(student) if self.error > 0.0 => student.inverse_cdf(quantile) * self.error,
            _ => 0.0,
        }
    }
}

/// The shift of the mean of equal executions (one value per equal interval each) from the level of their end.
///
/// The best of several shapes is fitted to their mean course: warm-ups with several time constants, or a line. The
/// noise of several executions is their deviation from the mean course, whatever its shape; the noise of a single one
/// is the residual of the fit. It is modelled as a first-order process with its lag-1 correlation.
///
/// `None` for fewer than 12 observations in the shortest, and if a course has no positive mean.
///
/// Source: least squares with the variance of a first-order autoregressive error: G. E. P. Box, G. M. Jenkins and G. C.
/// Reinsel, "Time Series Analysis", 4th ed. (2008), section 9.5; the small-sample bias of the correlation: F. H. C.
/// Marriott and J. A. Pope, Biometrika 41 (1954). The choice of shapes is our own.
pub fn mean_shift(courses: &[&[f64]]) -> Option<MeanShift> {
    let length = courses.iter().map(|course| course.len()).min()?;
    if length < SHIFT_OBSERVATIONS_AT_LEAST {
        return None;
    }
    let batch = length.div_ceil(BATCHES_AT_MOST);
    let courses: Vec<Vec<f64>> = courses
        .iter()
        .map(|course| relative(&batch_means(&course[..length], batch)))
        .collect::<Option<_>>()?;
    let count = courses[0].len();
    let mean_course: Vec<f64> = (0..count)
        .map(|at| courses.iter().map(|course| course[at]).sum::<f64>() / courses.len() as f64)
        .collect();
    let noise = Noise::between(&courses, &mean_course);
    let shapes = shapes(count);
    let fits = shapes
        .iter()
        .map(|(shape, template)| Fit::of(*shape, template, &mean_course));
    let best = fits.min_by(|a, b| a.squares.total_cmp(&b.squares))?;
    let noise = noise.unwrap_or_else(|| best.noise());
    Some(best.shift(&noise))
}

/// A course in units of its mean.
fn relative(course: &[f64]) -> Option<Vec<f64>> {
    let mean = course.iter().sum::<f64>() / course.len() as f64;
    let is_sound = mean > 0.0 && mean.is_finite();
    is_sound.then(|| course.iter().map(|value| value / mean).collect())
}

fn shapes(count: usize) -> Vec<(ShiftShape, Vec<f64>)> {
    let at = |index: usize| (index as f64 + 0.5) / count as f64;
    let mut shapes: Vec<_> = TIME_CONSTANTS
        .iter()
        .map(|constant| {
            let template = (0..count).map(|index| (-at(index) / constant).exp());
            (ShiftShape::EarlyPart, template.collect())
        })
        .collect();
    shapes.push((
        ShiftShape::Line,
        (0..count).map(|index| 1.0 - at(index)).collect(),
    ));
    shapes
}

/// The noise of a mean course, relative to its mean.
struct Noise {
    variance: f64,
    /// Lag-1 correlation.
    correlation: f64,
    freedom: f64,
}

impl Noise {
    /// The noise from the deviations of executions from their mean course; `None` for a single one.
    fn between(courses: &[Vec<f64>], mean_course: &[f64]) -> Option<Self> {
        let executions = courses.len() as f64;
        let count = mean_course.len() as f64;
        if courses.len() < 2 {
            return None;
        }
        let (mut squares, mut products) = (0.0, 0.0);
        for course in courses {
            let residuals: Vec<f64> = course.iter().zip(mean_course).map(|(a, b)| a - b).collect();
            let (own_squares, own_products) = moments(&residuals);
            squares += own_squares;
            products += own_products;
        }
        let correlation = corrected(products / squares, count, 1.0, 3.0);
        // The part that the mean of each execution removes.
        let of_mean = quadratic(&vec![1.0 / count; mean_course.len()], correlation) * count;
        let left = (executions - 1.0) * (count - of_mean).max(0.5);
        Some(Self {
            variance: squares / left / executions,
            correlation,
            freedom: (worth(count, correlation) * (executions - 1.0)).max(2.0),
        })
    }
}

/// A template fitted to a course.
struct Fit<'a> {
    shape: ShiftShape,
    template: &'a [f64],
    slope: f64,
    residuals: Vec<f64>,
    squares: f64,
}

impl<'a> Fit<'a> {
    fn of(shape: ShiftShape, template: &'a [f64], course: &[f64]) -> Self {
        let (centred, spread) = centred(template);
        // The course's mean is 1.
        let products = course
            .iter()
            .zip(&centred)
            .map(|(value, it)| (value - 1.0) * it);
        let slope = products.sum::<f64>() / spread;
        let residuals: Vec<f64> = course
            .iter()
            .zip(&centred)
            .map(|(value, it)| value - 1.0 - slope * it)
            .collect();
        let (squares, _) = moments(&residuals);
        Self {
            shape,
            template,
            slope,
            residuals,
            squares,
        }
    }

    /// The noise of a single course: the residuals of the fit.
    fn noise(&self) -> Noise {
        let count = self.residuals.len() as f64;
        let (squares, products) = moments(&self.residuals);
        let correlation = corrected(
            products / squares,
            count,
            TAKEN_FROM_CORRELATION,
            LOST_TO_CORRELATION,
        );
        let (centred, spread) = centred(self.template);
        let of_mean = quadratic(&vec![1.0 / count; self.residuals.len()], correlation) * count;
        let of_slope = quadratic(&centred, correlation) / spread;
        Noise {
            variance: squares / (count - of_mean - of_slope).max(0.5),
            correlation,
            freedom: (worth(count, correlation) - 3.0).max(1.0),
        }
    }

    fn shift(&self, noise: &Noise) -> MeanShift {
        let (centred, spread) = centred(self.template);
        let to_end = -centred[centred.len() - 1];
        let weights: Vec<f64> = centred.iter().map(|it| it / spread * to_end).collect();
        let level = 1.0 - self.slope * to_end;
        MeanShift {
            shape: self.shape,
            moved: if level > 0.0 {
                1.0 / level - 1.0
            } else {
                f64::INFINITY
            },
            change: self.slope * (centred[centred.len() - 1] - centred[0]),
            error: (noise.variance * quadratic(&weights, noise.correlation)).sqrt(),
            freedom: noise.freedom,
        }
    }
}

/// A template minus its mean, and its sum of squares.
fn centred(template: &[f64]) -> (Vec<f64>, f64) {
    let mean = template.iter().sum::<f64>() / template.len() as f64;
    let centred: Vec<f64> = template.iter().map(|it| it - mean).collect();
    let spread = centred.iter().map(|it| it * it).sum();
    (centred, spread)
}

/// The sum of the squares, and the sum of the products of neighbours.
fn moments(residuals: &[f64]) -> (f64, f64) {
    let squares = residuals.iter().map(|it| it * it).sum();
    let products = residuals.windows(2).map(|pair| pair[0] * pair[1]).sum();
    (squares, products)
}

/// A correlation, corrected for the bias from an estimated mean and slope.
fn corrected(correlation: f64, count: f64, taken: f64, lost: f64) -> f64 {
    if correlation.is_nan() {
        return 0.0;
    }
    let kept = (1.0 - lost / count).max(0.3);
    ((correlation + taken / count) / kept).clamp(0.0, CORRELATION_AT_MOST)
}

/// Effective sample size of `count` values of a first-order process.
fn worth(count: f64, correlation: f64) -> f64 {
    count * (1.0 - correlation) / (1.0 + correlation)
}

/// The variance of a weighted sum of a first-order process of variance 1.
fn quadratic(weights: &[f64], correlation: f64) -> f64 {
    // The sum over all pairs, accumulated from one value to the next.
    let mut carried = 0.0;
    let mut sum = 0.0;
    for weight in weights {
        sum += weight * (weight + 2.0 * carried);
        carried = correlation * (carried + weight);
    }
    sum
}

#[cfg(test)]
pub(crate) mod tests;
