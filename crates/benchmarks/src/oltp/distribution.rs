//! Distribution of the requested rows: uniform, or one of sysbench's uneven distributions.

use std::fmt;

use dataset::uniform::{below, unit};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A kind of distribution with its parameters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RandType {
    /// Every number with the same probability.
    Uniform,
    /// The mean of `iterations` uniform numbers: a bell curve around the middle.
    Gaussian {
        /// Uniform numbers per draw.
        iterations: u32,
    },
    /// A share of the draws is for a few numbers in the middle, the rest is Gaussian.
    ///
    /// As measured of sysbench 1.0.20: of the numbers from a to b, with d = (b - a) times the part, a favoured draw is
    /// (a + b) / 2 - d / 2 + u (d + 1), cut off, for a uniform u between 1 - share and 1.
    Special {
        /// Uniform numbers per draw of the Gaussian rest.
        iterations: u32,
        /// Part of the range, in percent.
        part_percent: f64,
        /// Share of the draws, in percent; below 100.
        share_percent: f64,
    },
    /// Self-similar: the first `h` of the range receives the share 1 - `h` of the draws, recursively.
    Pareto {
        /// Part of the range, between 0 and 1.
        h: f64,
    },
    /// The number of rank n has the weight n^-`exponent`.
    Zipfian {
        /// Exponent of the weights, at least 0.
        exponent: f64,
    },
}

impl fmt::Display for RandType {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Uniform => write!(formatter, "uniform"),
            Self::Gaussian { iterations } => {
                write!(formatter, "gaussian ({iterations} iterations)")
            }
            Self::Special {
                part_percent,
                share_percent,
                ..
            } => write!(
                formatter,
                "special ({share_percent} % of the accesses to {part_percent} % of the rows)"
            ),
            Self::Pareto { h } => write!(formatter, "pareto (h {h})"),
            Self::Zipfian { exponent } => write!(formatter, "zipfian (exponent {exponent})"),
        }
    }
}

/// Draws numbers between two bounds.
#[derive(Debug, Clone)]
pub(super) struct Distribution {
    from: u64,
    count: u64,
    shape: Shape,
}

#[derive(Debug, Clone)]
enum Shape {
    Uniform,
    Gaussian {
        iterations: u32,
    },
    Special {
        iterations: u32,
        /// The draw is Gaussian below this share of 1.
        gaussian_below: f64,
        /// Width of the favoured part, as a share of the range.
        part: f64,
    },
    Pareto {
        power: f64,
    },
    Zipfian(Zipf),
}

impl Distribution {
    /// Numbers from `from` to `to`, inclusive.
    pub(super) fn new(rand_type: RandType, from: u64, to: u64) -> Self {
        let count = to.saturating_sub(from) + 1;
        let shape = match rand_type {
            RandType::Uniform => Shape::Uniform,
            RandType::Gaussian { iterations } => Shape::Gaussian {
                iterations: iterations.max(1),
            },
            RandType::Special {
                iterations,
                part_percent,
                share_percent,
            } => Shape::Special {
                iterations: iterations.max(1),
                gaussian_below: 1.0 - share_percent / 100.0,
                part: part_percent / 100.0,
            },
            RandType::Pareto { h } => Shape::Pareto {
                power: h.ln() / (1.0 - h).ln(),
            },
            RandType::Zipfian { exponent } => Shape::Zipfian(Zipf::new(count, exponent)),
        };
        Self { from, count, shape }
    }

    /// The next number.
    #[inline]
    pub(super) fn draw(&self, random: &mut Xoshiro256PlusPlus) -> u64 {
        let offset = match &self.shape {
            Shape::Uniform => below(random, self.count),
            Shape::Gaussian { iterations } => self.gaussian(*iterations, random),
            Shape::Special {
                iterations,
                gaussian_below,
                part,
            } => {
                let place = unit(random);
                if place < *gaussian_below {
                    self.gaussian(*iterations, random)
                } else {
                    let range = (self.count - 1) as f64;
                    let hot = range * part;
                    let offset = range / 2.0 - hot / 2.0 + place * (hot + 1.0);
                    (offset as u64).min(self.count - 1)
                }
            }
            Shape::Pareto { power } => self.at(unit(random).powf(*power)),
            Shape::Zipfian(zipf) => zipf.draw(random) - 1,
        };
        self.from + offset
    }

    fn gaussian(&self, iterations: u32, random: &mut Xoshiro256PlusPlus) -> u64 {
        let sum: f64 = (0..iterations).map(|_| unit(random)).sum();
        self.at(sum / f64::from(iterations))
    }

    /// The offset at this share (0 to 1) of the range.
    fn at(&self, share: f64) -> u64 {
        ((share * self.count as f64) as u64).min(self.count - 1)
    }
}

/// Draws ranks from 1 to `count` by rejection-inversion: a continuous curve over the weights is inverted, and a draw
/// between the curve and the weight's bar is rejected and repeated.
/// Source: Hoermann and Derflinger, "Rejection-inversion to generate variates from monotone discrete distributions",
/// ACM TOMACS 6.3 (1996).
#[derive(Debug, Clone)]
struct Zipf {
    count: u64,
    exponent: f64,
    /// Area up to the first rank, minus its whole bar.
    area_from: f64,
    /// Area up to the last rank.
    area_to: f64,
    /// Within this distance of its rank a draw is accepted without a test.
    sure: f64,
}

impl Zipf {
    fn new(count: u64, exponent: f64) -> Self {
        Self {
            count,
            exponent,
            area_from: area(1.5, exponent) - 1.0,
            area_to: area(count as f64 + 0.5, exponent),
            sure: 2.0 - inverse_area(area(2.5, exponent) - 2f64.powf(-exponent), exponent),
        }
    }

    fn draw(&self, random: &mut Xoshiro256PlusPlus) -> u64 {
        loop {
            let area_drawn = self.area_to + unit(random) * (self.area_from - self.area_to);
            let place = inverse_area(area_drawn, self.exponent);
            let rank = place.round().clamp(1.0, self.count as f64);
            let bar = rank.powf(-self.exponent);
            if rank - place <= self.sure || area_drawn >= area(rank + 0.5, self.exponent) - bar {
                return rank as u64;
            }
        }
    }
}

/// The integral of x^-exponent from 1 to `to`.
fn area(to: f64, exponent: f64) -> f64 {
    let log = to.ln();
    expm1_over((1.0 - exponent) * log) * log
}

fn inverse_area(area: f64, exponent: f64) -> f64 {
    // Rounding can bring the argument of the logarithm below 0.
    let scaled = (area * (1.0 - exponent)).max(-1.0);
    (ln1p_over(scaled) * area).exp()
}

/// (e^x - 1) / x, accurate near 0.
fn expm1_over(x: f64) -> f64 {
    if x.abs() > 1e-8 {
        x.exp_m1() / x
    } else {
        1.0 + x / 2.0
    }
}

/// ln(1 + x) / x, accurate near 0.
fn ln1p_over(x: f64) -> f64 {
    if x.abs() > 1e-8 {
        x.ln_1p() / x
    } else {
        1.0 - x / 2.0
    }
}

#[cfg(test)]
mod tests {
    use rand_xoshiro::rand_core::SeedableRng;

    use super::*;

    const DRAWS: usize = 400_000;

    /// Sorted draws from 1 to 1,000.
    fn draws(rand_type: RandType) -> Vec<u64> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
        let distribution = Distribution::new(rand_type, 1, 1000);
        let mut draws: Vec<_> = (0..DRAWS).map(|_| distribution.draw(&mut random)).collect();
        draws.sort_unstable();
        draws
    }

    #[test]
    fn quantiles_are_those_that_sysbench_draws() {
        // Measured with sysbench 1.0.20: two million draws from 1 to 1,000; zipfian from its definition.
        for (rand_type, quantiles) in [
            (
                RandType::Uniform,
                [(0.05, 50), (0.5, 501), (0.95, 951), (0.99, 991)],
            ),
            (
                RandType::Gaussian { iterations: 12 },
                [(0.05, 363), (0.5, 501), (0.95, 638), (0.99, 692)],
            ),
            (
                RandType::Special {
                    iterations: 12,
                    part_percent: 1.0,
                    share_percent: 75.0,
                },
                [(0.05, 429), (0.25, 499), (0.5, 502), (0.95, 571)],
            ),
            (
                RandType::Pareto { h: 0.2 },
                [(0.05, 1), (0.5, 7), (0.75, 126), (0.95, 692)],
            ),
        ] {
            let draws = draws(rand_type);
            for (quantile, expected) in quantiles {
                let found = draws[(quantile * DRAWS as f64) as usize];
                assert!(
                    found.abs_diff(expected) <= 3,
                    "{rand_type} at {quantile}: {found} instead of {expected}"
                );
            }
            assert!(draws[0] >= 1 && draws[DRAWS - 1] <= 1000);
        }
    }

    /// A million draws of sysbench 1.0.20 per case: the rows of the favoured zone, and the shares of draws at its ends.
    #[test]
    fn the_favoured_zone_is_that_of_sysbench() {
        let special = RandType::Special {
            iterations: 12,
            part_percent: 1.0,
            share_percent: 75.0,
        };
        let cases = [
            (
                1_000,
                [(498, 0.0692), (499, 0.0926), (505, 0.0924), (506, 0.0462)],
            ),
            (
                10_000,
                [
                    (4975, 0.0027),
                    (4976, 0.0099),
                    (5050, 0.0099),
                    (5051, 0.0050),
                ],
            ),
            (
                100,
                [(50, 0.2625), (51, 0.5115), (50, 0.2625), (51, 0.5115)],
            ),
        ];
        for (rows, expected) in cases {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
            let distribution = Distribution::new(special, 1, rows);
            let draws: Vec<u64> = (0..DRAWS).map(|_| distribution.draw(&mut random)).collect();
            for (row, share) in expected {
                let found = draws.iter().filter(|draw| **draw == row).count() as f64;
                let found = found / DRAWS as f64;
                // Five standard deviations of both counts, and the rounding of the table.
                let slack = 5.0 * (share / DRAWS as f64 * 1.4).sqrt() + 0.0001;
                assert!((found - share).abs() < slack, "{rows} rows, {row}: {found}");
            }
        }
    }

    #[test]
    fn zipfian_ranks_have_their_weights() {
        for exponent in [0.5, 0.8, 1.0, 1.3] {
            let draws = draws(RandType::Zipfian { exponent });
            let weights: f64 = (1..=1000).map(|rank| f64::from(rank).powf(-exponent)).sum();
            for rank in [1u64, 2, 10, 100] {
                let expected = (rank as f64).powf(-exponent) / weights * DRAWS as f64;
                let found = draws.iter().filter(|draw| **draw == rank).count() as f64;
                // Six standard deviations of a count.
                assert!(
                    (found - expected).abs() < 6.0 * expected.sqrt(),
                    "exponent {exponent}, rank {rank}: {found} instead of {expected}"
                );
            }
        }
    }

    #[test]
    fn bounds_are_kept_where_there_is_little_choice() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        for rand_type in [
            RandType::Uniform,
            RandType::Gaussian { iterations: 12 },
            RandType::Pareto { h: 0.2 },
            RandType::Zipfian { exponent: 0.8 },
        ] {
            let one = Distribution::new(rand_type, 5, 5);
            let two = Distribution::new(rand_type, 5, 6);
            for _ in 0..100 {
                assert_eq!(one.draw(&mut random), 5, "{rand_type}");
                assert!((5..=6).contains(&two.draw(&mut random)), "{rand_type}");
            }
        }
    }
}
