//! Random draws for one row or one terminal, each a pure function of the seed, the purpose and the ordinal.

use std::ops::RangeInclusive;

use rand_xoshiro::{
    SplitMix64, Xoshiro256PlusPlus,
    rand_core::{Rng, SeedableRng},
};

/// Purpose of random numbers: each purpose has its own sequence for the same seed.
///
/// The discriminants are part of the generated data and must never change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    Item = 1,
    Warehouse = 2,
    District = 3,
    Customer = 4,
    History = 5,
    Stock = 6,
    Orders = 7,
    OrderLine = 8,
    /// The order in which the customers of a district placed their first orders.
    Permutation = 9,
    /// Number of lines of an order, which must be equal in orders and order lines.
    LineCount = 10,
    /// C of NURand.
    Constants = 11,
    Terminal = 12,
}

/// A sequence of random numbers.
#[derive(Debug, Clone)]
pub(super) struct Draw(Xoshiro256PlusPlus);

impl Draw {
    /// The sequence of the `ordinal`-th object of a purpose.
    #[inline]
    pub(super) fn new(seed: u64, purpose: Purpose, ordinal: u64) -> Self {
        // Two rounds of mixing make neighbouring ordinals and purposes independent.
        let base = SplitMix64::seed_from_u64(seed ^ ((purpose as u64) << 56)).next_u64();
        Self(Xoshiro256PlusPlus::seed_from_u64(
            base.wrapping_add(ordinal.wrapping_mul(0x9e37_79b9_7f4a_7c15)),
        ))
    }

    /// 64 random bits.
    #[inline]
    pub(super) fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Uniform over the range, which is not empty; the bias is below 2^-40.
    #[inline]
    pub(super) fn uniform(&mut self, range: RangeInclusive<u32>) -> u32 {
        let (low, high) = range.into_inner();
        let count = u128::from(high - low) + 1;
        low + ((u128::from(self.bits()) * count) >> 64) as u32
    }

    /// True with this probability in percent.
    #[inline]
    pub(super) fn percent(&mut self, percent: u32) -> bool {
        self.uniform(1..=100) <= percent
    }

    /// Uniform over the open interval (0, 1).
    pub(super) fn unit(&mut self) -> f64 {
        ((self.bits() >> 12) as f64 + 0.5) / (1_u64 << 52) as f64
    }

    /// Puts the elements in random order (Fisher-Yates).
    pub(super) fn shuffle<T>(&mut self, elements: &mut [T]) {
        for last in (1..elements.len()).rev() {
            let other = self.uniform(0..=last as u32) as usize;
            elements.swap(last, other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_depend_on_seed_purpose_and_ordinal() {
        let first = |seed, purpose, ordinal| Draw::new(seed, purpose, ordinal).bits();
        let one = first(1, Purpose::Item, 1);
        assert_eq!(one, first(1, Purpose::Item, 1));
        assert_ne!(one, first(2, Purpose::Item, 1));
        assert_ne!(one, first(1, Purpose::Stock, 1));
        assert_ne!(one, first(1, Purpose::Item, 2));
    }

    #[test]
    fn uniform_reaches_every_value_alike() {
        let mut draw = Draw::new(1, Purpose::Item, 0);
        let mut counts = [0_f64; 11];
        for _ in 0..110_000 {
            counts[draw.uniform(5..=15) as usize - 5] += 1.0;
        }
        let chi_square: f64 = counts.iter().map(|n| (n - 1e4).powi(2) / 1e4).sum();
        // 10 degrees of freedom: exceeded once in 10,000 sequences.
        assert!(chi_square < 35.6, "{chi_square}");
        assert_eq!(draw.uniform(7..=7), 7);
        assert!((0..1000).all(|_| (0.0..1.0).contains(&draw.unit())));
    }

    #[test]
    fn a_shuffle_keeps_all() {
        let mut draw = Draw::new(1, Purpose::Item, 0);
        let mut cards: Vec<u32> = (0..23).collect();
        draw.shuffle(&mut cards);
        assert_ne!(cards, (0..23).collect::<Vec<_>>());
        cards.sort_unstable();
        assert_eq!(cards, (0..23).collect::<Vec<_>>());
    }
}
