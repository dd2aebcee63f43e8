//! Seeded random numbers for resampling and permutations.

use rand_chacha::{
    ChaCha8Rng,
    rand_core::{Rng, SeedableRng},
};

/// A stream of random numbers.
pub struct Random(ChaCha8Rng);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    /// A uniform index below `length`, which must not be zero.
    pub fn below(&mut self, length: usize) -> usize {
        // Upper half of the product: no division, and a bias of less than length / 2^64.
        ((u128::from(self.0.next_u64()) * length as u128) >> 64) as usize
    }

    /// Shuffles the values (Fisher and Yates).
    pub fn shuffle<T>(&mut self, values: &mut [T]) {
        for last in (1..values.len()).rev() {
            values.swap(last, self.below(last + 1));
        }
    }
}
