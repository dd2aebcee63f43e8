//! Significance levels for several looks at growing data, with the error rate of a single test in total.

use statrs::distribution::{Continuous, ContinuousCDF, Normal};

/// Number of points of a density between two limits.
const POINTS: usize = 401;

/// The two-sided significance level of a look after each number of blocks up to `blocks_at_most`, if there is a look
/// after each block from `first` on and all looks together may reject wrongly in `alpha` of all experiments. 0 where
/// there is no look.
///
/// The error probability is spent in proportion to the blocks: early looks have a fair share, so that a large
/// difference ends an experiment early.
///
/// Source: K. K. G. Lan and D. L. DeMets, "Discrete sequential boundaries for clinical trials", Biometrika 70 (1983),
/// with the linear spending function of K. Kim and DeMets, Biometrika 74 (1987); the recursion over looks: P. Armitage,
/// C. K. McPherson and B. C. Rowe, "Repeated significance tests on accumulating data", Journal of the Royal Statistical
/// Society A 132 (1969).
pub(crate) fn nominal_levels(first: usize, blocks_at_most: usize, alpha: f64) -> Vec<f64> {
    let normal = Normal::standard();
    let mut levels = vec![0.0; blocks_at_most + 1];
    if first == 0 || first > blocks_at_most {
        return levels;
    }
    let spent = |blocks: usize| alpha * blocks as f64 / blocks_at_most as f64;
    // The sum of the errors of `first` blocks, each with deviation 1, over the experiments that no look has ended yet.
    levels[first] = spent(first);
    let deviation = (first as f64).sqrt();
    let limit = -normal.inverse_cdf(levels[first] / 2.0) * deviation;
    let mut going_on = Density::new(limit, |sum| normal.pdf(sum / deviation) / deviation);
    for (blocks, level) in levels.iter_mut().enumerate().skip(first + 1) {
        let share = spent(blocks) - spent(blocks - 1);
        let limit = going_on.limit_for(share);
        *level = 2.0 * normal.sf(limit / (blocks as f64).sqrt());
        going_on = going_on.after_one_more(limit);
    }
    levels
}

/// A symmetric density between two limits, at equally spaced points from the lower to the upper one.
struct Density {
    limit: f64,
    at: Vec<f64>,
}

impl Density {
    fn new(limit: f64, density: impl Fn(f64) -> f64) -> Self {
        // The density is symmetric: half of the points mirror the others.
        let half = POINTS / 2;
        let lower: Vec<f64> = (0..=half)
            .map(|point| density(place(limit, point)))
            .collect();
        let mirror = lower[..half].iter().rev().copied().collect::<Vec<_>>();
        Self {
            limit,
            at: [lower, mirror].concat(),
        }
    }

    /// The integral of the density times a function (Simpson's rule).
    fn integral(&self, function: impl Fn(f64) -> f64) -> f64 {
        let weight = |point: usize| match point {
            0 => 1.0,
            point if point == POINTS - 1 => 1.0,
            point if point % 2 == 1 => 4.0,
            _ => 2.0,
        };
        let sum: f64 = self
            .at
            .iter()
            .enumerate()
            .map(|(point, density)| weight(point) * density * function(place(self.limit, point)))
            .sum();
        sum * 2.0 * self.limit / (POINTS - 1) as f64 / 3.0
    }

    /// The limit that `share` of all experiments exceed with the next block, in either direction.
    fn limit_for(&self, share: f64) -> f64 {
        let normal = Normal::standard();
        let beyond = |limit: f64| 2.0 * self.integral(|sum| normal.sf(limit - sum));
        let (mut low, mut high) = (0.0, self.limit + 10.0);
        while high - low > 1e-6 {
            let middle = f64::midpoint(low, high);
            if beyond(middle) > share {
                low = middle;
            } else {
                high = middle;
            }
        }
        high
    }

    fn after_one_more(&self, limit: f64) -> Self {
        let normal = Normal::standard();
        Self::new(limit, |next| self.integral(|sum| normal.pdf(next - sum)))
    }
}

fn place(limit: f64, point: usize) -> f64 {
    limit * (2.0 * point as f64 / (POINTS - 1) as f64 - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::Noise;

    #[test]
    fn one_look_spends_all_and_none_nothing() {
        assert!((nominal_levels(3, 3, 0.05)[3] - 0.05).abs() < 1e-12);
        assert_eq!(nominal_levels(3, 2, 0.05), [0.0; 3]);
        assert_eq!(nominal_levels(0, 1, 0.05), [0.0; 2]);
    }

    #[test]
    fn printed_boundaries() {
        // Linear spending over five equal looks, 5 % two-sided: boundaries from the tables of Lan and DeMets.
        let levels = nominal_levels(1, 5, 0.05);
        let normal = Normal::standard();
        for (level, limit) in levels[1..].iter().zip([2.576, 2.490, 2.410, 2.345, 2.291]) {
            let found = -normal.inverse_cdf(level / 2.0);
            assert!((found - limit).abs() < 0.02, "{found} for {limit}");
        }
    }

    #[test]
    fn all_looks_together_err_as_seldom_as_promised() {
        let levels = nominal_levels(3, 30, 0.05);
        let normal = Normal::standard();
        let limits: Vec<f64> = (3..=30_usize)
            .map(|blocks| -normal.inverse_cdf(levels[blocks] / 2.0) * (blocks as f64).sqrt())
            .collect();
        let mut noise = Noise::new(111);
        let wrong = (0..20_000)
            .filter(|_| {
                let mut sum = noise.normal() + noise.normal();
                limits.iter().any(|limit| {
                    sum += noise.normal();
                    sum.abs() > *limit
                })
            })
            .count();
        let share = wrong as f64 / 20_000.0;
        assert!((0.046..=0.054).contains(&share), "{share}");
    }
}
