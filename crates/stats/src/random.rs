//! Random numbers that a seed determines, for resampling and permutations.

use rand_chacha::{
    ChaCha8Rng,
    rand_core::{Rng, SeedableRng},
};

/// A stream of random numbers.
pub(crate) struct Random(ChaCha8Rng);

impl Random {
    /// The stream of `seed`.
    pub(crate) fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    /// An index below `length`, which is not zero.
    pub(crate) fn below(&mut self, length: usize) -> usize {
        // The product's upper half: without a remainder's division, uneven by less than length / 2^64.
        ((u128::from(self.0.next_u64()) * length as u128) >> 64) as usize
    }

    /// Brings the values into a random order (Fisher and Yates).
    pub(crate) fn shuffle<T>(&mut self, values: &mut [T]) {
        for last in (1..values.len()).rev() {
            values.swap(last, self.below(last + 1));
        }
    }
}
