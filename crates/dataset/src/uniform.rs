//! Uniform numbers of a generator.

use rand_xoshiro::{Xoshiro256PlusPlus, rand_core::Rng};

/// A number from 0 to `count` - 1, without division; its bias is below `count` / 2^64.
#[inline]
pub fn below(random: &mut Xoshiro256PlusPlus, count: u64) -> u64 {
    ((u128::from(random.next_u64()) * u128::from(count)) >> 64) as u64
}

/// A number in [0, 1), in steps of 2^-53.
#[inline]
pub fn unit(random: &mut Xoshiro256PlusPlus) -> f64 {
    (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}
