//! The random distributions of pgbench's language.
//!
//! Source: PostgreSQL manual, "pgbench", random functions; Devroye, "Non-Uniform Random Variate Generation", page 551,
//! for Zipf's law; Box and Muller for the Gaussian one.

use rand_xoshiro::{Xoshiro256PlusPlus, rand_core::Rng};

use crate::uniform::unit;

const EXPONENTIAL_ABOVE: f64 = 0.0;
const GAUSSIAN_MIN: f64 = 2.0;
/// Smallest parameter of Zipf's law.
pub const ZIPFIAN_MIN: f64 = 1.001;
/// Largest parameter of Zipf's law.
pub const ZIPFIAN_MAX: f64 = 1000.0;

#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum DrawError {
    #[error("random range from {0} to {1} is empty")]
    EmptyRange(i64, i64),
    /// The range is too long for a signed count.
    #[error("random range from {0} to {1} has more than 2^63 - 1 numbers")]
    LargeRange(i64, i64),
    #[error("the parameter of random_exponential must be above 0, not {0}")]
    Exponential(f64),
    #[error("the parameter of random_gaussian must be at least 2.0, not {0}")]
    Gaussian(f64),
    #[error("the parameter of random_zipfian must be between 1.001 and 1000, not {0}")]
    Zipfian(f64),
}

/// A range of integers, both ends included, with at most 2^63 - 1 numbers.
#[derive(Debug, Clone, Copy)]
pub struct Range {
    first: i64,
    numbers: u64,
}

impl Range {
    /// The integers from `first` to `last`.
    ///
    /// # Errors
    /// The range is empty, or has too many numbers.
    pub fn new(first: i64, last: i64) -> Result<Self, DrawError> {
        if first > last {
            return Err(DrawError::EmptyRange(first, last));
        }
        let numbers = i128::from(last) - i128::from(first) + 1;
        match u64::try_from(numbers) {
            Ok(numbers) if i64::try_from(numbers).is_ok() => Ok(Self { first, numbers }),
            _ => Err(DrawError::LargeRange(first, last)),
        }
    }

    /// The number at a share of the range.
    fn at(self, share: f64) -> i64 {
        // Rounding can reach the end of the range.
        let offset = ((self.numbers as f64 * share) as u64).min(self.numbers - 1);
        self.offset(offset)
    }

    fn offset(self, offset: u64) -> i64 {
        self.first.wrapping_add(offset as i64)
    }

    /// Every number with the same probability.
    pub fn uniform(self, random: &mut Xoshiro256PlusPlus) -> i64 {
        self.offset(below(self.numbers, random))
    }

    /// Truncated exponential: the first numbers are the frequent ones.
    pub fn exponential(
        self,
        parameter: f64,
        random: &mut Xoshiro256PlusPlus,
    ) -> Result<i64, DrawError> {
        if parameter.is_nan() || parameter <= EXPONENTIAL_ABOVE {
            return Err(DrawError::Exponential(parameter));
        }
        let cut = (-parameter).exp();
        let uniform = 1.0 - unit(random);
        Ok(self.at(-(cut + (1.0 - cut) * uniform).ln() / parameter))
    }

    /// Truncated Gaussian: the middle numbers are the frequent ones; the ends are `parameter` deviations away from it.
    pub fn gaussian(
        self,
        parameter: f64,
        random: &mut Xoshiro256PlusPlus,
    ) -> Result<i64, DrawError> {
        if parameter.is_nan() || parameter < GAUSSIAN_MIN {
            return Err(DrawError::Gaussian(parameter));
        }
        // At least 95 % of the draws fall within two deviations.
        let deviations = loop {
            let (length, angle) = (1.0 - unit(random), unit(random));
            let normal = (-2.0 * length.ln()).sqrt() * (std::f64::consts::TAU * angle).sin();
            if normal >= -parameter && normal < parameter {
                break normal;
            }
        };
        Ok(self.at((deviations + parameter) / (2.0 * parameter)))
    }

    /// Zipf's law: the number of rank n has the weight n^-`parameter`.
    pub fn zipfian(
        self,
        parameter: f64,
        random: &mut Xoshiro256PlusPlus,
    ) -> Result<i64, DrawError> {
        if !(ZIPFIAN_MIN..=ZIPFIAN_MAX).contains(&parameter) {
            return Err(DrawError::Zipfian(parameter));
        }
        Ok(self.offset(zipf_rank(self.numbers, parameter, random) - 1))
    }
}

/// A rank from 1 to `ranks` by Zipf's law, by rejection; `parameter` is above 1.
pub fn zipf_rank(ranks: u64, parameter: f64, random: &mut Xoshiro256PlusPlus) -> u64 {
    if ranks <= 1 {
        return 1;
    }
    let less_one = parameter - 1.0;
    let bound = less_one.exp2();
    loop {
        let (u, v) = (1.0 - unit(random), unit(random));
        let rank = u.powf(-1.0 / less_one).floor();
        let ratio = (1.0 + 1.0 / rank).powf(less_one);
        if v * rank * (ratio - 1.0) / (bound - 1.0) <= ratio / bound && rank <= ranks as f64 {
            return (rank as u64).min(ranks);
        }
    }
}

/// A uniform number below `count`, which is above 0.
#[inline]
pub fn below(count: u64, random: &mut Xoshiro256PlusPlus) -> u64 {
    // Lemire, "Fast random integer generation in an interval": the rest of the product says when a draw is biased.
    loop {
        let product = u128::from(random.next_u64()) * u128::from(count);
        if product as u64 >= count.wrapping_neg() % count {
            return (product >> 64) as u64;
        }
    }
}

#[cfg(test)]
mod tests {
    use rand_xoshiro::rand_core::SeedableRng;

    use super::*;

    const DRAWS: usize = 400_000;

    type Draw = dyn Fn(Range, &mut Xoshiro256PlusPlus) -> i64;

    /// Holds that the shares of the numbers from 11 to 20 are the expected ones: chi-squared of 9 degrees of freedom, of
    /// which 44 has a probability of one in a million.
    fn assert_shares(draw: &Draw, expected: impl Fn(f64) -> f64) {
        let range = Range::new(11, 20).unwrap();
        let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
        let mut counts = [0_u32; 10];
        for _ in 0..DRAWS {
            counts[(draw(range, &mut random) - 11) as usize] += 1;
        }
        let chi_squared: f64 = (counts.iter().zip(0..))
            .map(|(count, rank)| {
                let expected = expected(f64::from(rank)) * DRAWS as f64;
                (f64::from(*count) - expected).powi(2) / expected
            })
            .sum();
        assert!(chi_squared < 44.0, "{chi_squared} {counts:?}");
    }

    /// The formulas are those of the manual, with the ranks from 0 to 9.
    #[test]
    fn the_shares_are_those_of_the_manual() {
        assert_shares(&|range, random| range.uniform(random), |_| 0.1);
        let parameter = 2.5_f64;
        assert_shares(
            &|range, random| range.exponential(2.5, random).unwrap(),
            |rank| {
                let at = |rank: f64| (-parameter * rank / 10.0).exp();
                (at(rank) - at(rank + 1.0)) / (1.0 - (-parameter).exp())
            },
        );
        let phi = |x: f64| {
            // Simpson's rule for the integral of the normal density from 0 to x.
            let steps = 2000;
            let width = x / f64::from(steps);
            let density = |at: f64| (-at * at / 2.0).exp() / std::f64::consts::TAU.sqrt();
            let sum: f64 = (0..=steps)
                .map(|step| {
                    let weight = match step {
                        0 => 1.0,
                        step if step == steps => 1.0,
                        step if step % 2 == 1 => 4.0,
                        _ => 2.0,
                    };
                    weight * density(width * f64::from(step))
                })
                .sum();
            0.5 + sum * width / 3.0
        };
        assert_shares(
            &|range, random| range.gaussian(2.5, random).unwrap(),
            |rank| {
                let at = |rank: f64| phi(2.0 * parameter * (rank / 10.0 - 0.5));
                (at(rank + 1.0) - at(rank)) / (2.0 * phi(parameter) - 1.0)
            },
        );
        let exponent = 1.3_f64;
        let all: f64 = (1..=10).map(|rank| f64::from(rank).powf(-exponent)).sum();
        assert_shares(
            &|range, random| range.zipfian(1.3, random).unwrap(),
            |rank| (rank + 1.0).powf(-exponent) / all,
        );
    }

    #[test]
    fn ranges_and_parameters_are_bounded() {
        assert!(Range::new(2, 1).is_err());
        assert!(Range::new(i64::MIN, i64::MAX).is_err());
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let one = Range::new(i64::MAX, i64::MAX).unwrap();
        assert_eq!(one.uniform(&mut random), i64::MAX);
        assert_eq!(one.zipfian(1.5, &mut random), Ok(i64::MAX));
        let large = Range::new(i64::MIN, -2).unwrap();
        for _ in 0..1000 {
            assert!(large.uniform(&mut random) <= -2);
            assert!(large.exponential(0.1, &mut random).unwrap() <= -2);
        }
        for parameter in [0.0, -1.0, f64::NAN] {
            assert!(one.exponential(parameter, &mut random).is_err());
        }
        for parameter in [1.9, f64::NAN] {
            assert!(one.gaussian(parameter, &mut random).is_err());
        }
        for parameter in [1.0, 1001.0, f64::NAN] {
            assert!(one.zipfian(parameter, &mut random).is_err());
        }
    }
}
