//! The least-squares fit of the Universal Scalability Law to logarithms.

use super::usl::{Point, UslModel};

/// Lower limit of a parameter: below it the parameter is effectively zero, and its logarithm would diverge.
const SMALLEST: f64 = 1e-12;

/// Largest number of steps of a fit.
const STEPS_AT_MOST: usize = 100;

/// Logarithms of λ, σ and κ.
type Parameters = [f64; 3];

/// The best fit, from the given start or from several default starts.
///
/// Source: K. Levenberg, "A method for the solution of certain non-linear problems in least squares", Quarterly of
/// Applied Mathematics 2 (1944), and D. W. Marquardt, SIAM Journal 11 (1963).
pub(super) fn fit(points: &[Point], guess: Option<&UslModel>) -> UslModel {
    let single = |point: &Point| point.throughput_per_s / point.concurrency;
    let highest = points.iter().map(single).fold(0.0, f64::max);
    let starts: Vec<UslModel> = match guess {
        Some(law) => vec![*law],
        None => [(0.01, 1e-4), (0.1, 1e-3), (0.001, 1e-6), (0.5, 0.01)]
            .into_iter()
            .map(|(contention, coherency)| UslModel {
                single_per_s: highest,
                contention,
                coherency,
            })
            .collect(),
    };
    let fits = starts.iter().map(|law| descend(points, parameters(law)));
    let best = fits.min_by(|a, b| squares(points, a).total_cmp(&squares(points, b)));
    law(&best.expect("there is at least one start"))
}

fn parameters(law: &UslModel) -> Parameters {
    [law.single_per_s, law.contention, law.coherency].map(|value| value.max(SMALLEST).ln())
}

fn law(parameters: &Parameters) -> UslModel {
    let [single_per_s, contention, coherency] = parameters.map(f64::exp);
    UslModel {
        single_per_s,
        contention,
        coherency,
    }
}

fn squares(points: &[Point], parameters: &Parameters) -> f64 {
    let law = law(parameters);
    points
        .iter()
        .map(|point| {
            (point.throughput_per_s / law.at(point.concurrency))
                .ln()
                .powi(2)
        })
        .sum()
}

fn descend(points: &[Point], start: Parameters) -> Parameters {
    let mut at = start;
    let mut error = squares(points, &at);
    let mut damping = 1e-3;
    for _ in 0..STEPS_AT_MOST {
        let (matrix, gradient) = normal_equations(points, &at);
        let mut damped = matrix;
        for (index, row) in damped.iter_mut().enumerate() {
            // A parameter without any effect would make the matrix singular.
            row[index] += damping * matrix[index][index].max(1e-12);
        }
        let step = solve(damped, gradient);
        let mut next = at;
        for (value, step) in next.iter_mut().zip(step) {
            *value += step.clamp(-2.0, 2.0);
        }
        // Contention is at most 1, and no parameter is below the smallest.
        next[1] = next[1].clamp(SMALLEST.ln(), 0.0);
        next[2] = next[2].clamp(SMALLEST.ln(), 0.0);
        let next_error = squares(points, &next);
        if next_error < error {
            let gained = error - next_error;
            (at, error) = (next, next_error);
            damping = (damping / 10.0).max(1e-12);
            if gained <= 1e-12 * error {
                break;
            }
        } else {
            damping *= 10.0;
            if damping > 1e12 {
                break;
            }
        }
    }
    at
}

/// J'J and J'r of the residuals ln x - ln X(N).
fn normal_equations(points: &[Point], parameters: &Parameters) -> ([Parameters; 3], Parameters) {
    let law = law(parameters);
    let (mut matrix, mut gradient) = ([[0.0; 3]; 3], [0.0; 3]);
    for point in points {
        let concurrency = point.concurrency;
        let others = concurrency - 1.0;
        let cost = 1.0 + law.contention * others + law.coherency * concurrency * others;
        let slopes = [
            1.0,
            -law.contention * others / cost,
            -law.coherency * concurrency * others / cost,
        ];
        let residual = (point.throughput_per_s / law.at(concurrency)).ln();
        for row in 0..3 {
            gradient[row] += slopes[row] * residual;
            for column in 0..3 {
                matrix[row][column] += slopes[row] * slopes[column];
            }
        }
    }
    (matrix, gradient)
}

/// Solves three equations by Cramer's rule; returns a zero step for a singular system.
fn solve(matrix: [Parameters; 3], right: Parameters) -> Parameters {
    let determinant = |m: [Parameters; 3]| {
        m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1])
            - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0])
            + m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0])
    };
    let whole = determinant(matrix);
    let solved = [0, 1, 2].map(|column| {
        let mut replaced = matrix;
        for (row, value) in replaced.iter_mut().zip(right) {
            row[column] = value;
        }
        determinant(replaced) / whole
    });
    if solved.iter().all(|value| value.is_finite()) {
        solved
    } else {
        [0.0; 3]
    }
}
