//! A permutation of the numbers below a count that can be taken back.

use rand_xoshiro::{
    SplitMix64,
    rand_core::{Rng, SeedableRng},
};

/// Enough for an order that looks random; this is no cipher.
const ROUNDS: usize = 4;

/// A permutation of the numbers below `count`: a Feistel network over an even number of bits, repeated until its number is below
/// the count.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shuffle {
    count: u64,
    half_bits: u32,
    keys: [u64; ROUNDS],
}

impl Shuffle {
    /// The permutation of the numbers below `count`, which is above 0 and at most 2^62, that `seed` selects.
    pub(super) fn new(count: u64, seed: u64) -> Self {
        let bits = u64::BITS - (count - 1).leading_zeros();
        let mut keys = SplitMix64::seed_from_u64(seed);
        Self {
            count,
            half_bits: bits.div_ceil(2).max(1),
            keys: std::array::from_fn(|_| keys.next_u64()),
        }
    }

    /// The number at this place.
    pub(super) fn at(self, place: u64) -> u64 {
        let mut number = place;
        loop {
            for key in self.keys {
                let (left, right) = self.halves(number);
                number = right << self.half_bits | left ^ self.mixed(right, key);
            }
            if number < self.count {
                return number;
            }
        }
    }

    pub(super) fn place_of(self, number: u64) -> u64 {
        let mut place = number;
        loop {
            for key in self.keys.into_iter().rev() {
                let (right, left) = self.halves(place);
                place = (left ^ self.mixed(right, key)) << self.half_bits | right;
            }
            if place < self.count {
                return place;
            }
        }
    }

    fn halves(self, number: u64) -> (u64, u64) {
        (number >> self.half_bits, number & self.mask())
    }

    fn mixed(self, half: u64, key: u64) -> u64 {
        let product = (half ^ key).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (product >> 32) & self.mask()
    }

    fn mask(self) -> u64 {
        (1 << self.half_bits) - 1
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_number_has_one_place() {
        for count in [1, 2, 3, 7, 64, 1000, 1025] {
            let shuffle = Shuffle::new(count, 5);
            let numbers: BTreeSet<u64> = (0..count).map(|place| shuffle.at(place)).collect();
            assert_eq!(numbers, (0..count).collect());
            assert!((0..count).all(|place| shuffle.place_of(shuffle.at(place)) == place));
        }
    }

    #[test]
    fn neighbours_are_far_apart() {
        let shuffle = Shuffle::new(1_000_000, 1);
        let distances = (0..1000).map(|place| shuffle.at(place).abs_diff(shuffle.at(place + 1)));
        // Two numbers drawn at random are a third of the range apart.
        let mean = distances.sum::<u64>() / 1000;
        assert!((280_000..390_000).contains(&mean), "{mean}");
    }
}
