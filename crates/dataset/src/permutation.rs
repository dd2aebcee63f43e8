//! A permutation of numbers that a seed selects; it is that of pgbench's language.

use rand_xoshiro::{
    Xoroshiro128StarStar,
    rand_core::{Rng, SeedableRng},
};

const ROUNDS: usize = 6;

/// The position of `value` (modulo `size`) in a permutation of `0..size` that the seed selects; `size` is above 0.
///
/// Each round mixes the lower part of the range, as large as the largest power of two in it, then the upper part of
/// the same size, and shifts all by a random offset: each of the three steps is a permutation.
pub fn permute(value: i64, size: i64, seed: i64) -> i64 {
    if size < 2 {
        return 0;
    }
    let size = size as u64;
    let mut random = Xoroshiro128StarStar::seed_from_u64(seed as u64);
    let bits = size.ilog2();
    let mask = (1 << bits) - 1;
    let mut place = value as u64 % size;
    for _ in 0..ROUNDS {
        let (factor, flips) = (random.next_u64() | 1, random.next_u64() & mask);
        if place <= mask {
            place = mixed(place, factor, flips, bits);
        }
        let (factor, flips) = (random.next_u64() | 1, random.next_u64() & mask);
        let from_end = size - 1 - place;
        if from_end <= mask {
            place = size - 1 - mixed(from_end, factor, flips, bits);
        }
        let offset = below(size, &mut random);
        // Both are below 2^63.
        place = (place + offset) % size;
    }
    place as i64
}

/// A permutation of the numbers of `bits` bits: an odd factor, some bits flipped, all bits turned left by one.
fn mixed(number: u64, factor: u64, flips: u64, bits: u32) -> u64 {
    let mask = (1 << bits) - 1;
    let product = (number.wrapping_mul(factor) ^ flips) & mask;
    ((product << 1) & mask) | (product >> (bits - 1))
}

/// A uniform number below `size`, which is above 1: numbers of the fewest bits, until one fits.
fn below(size: u64, random: &mut impl Rng) -> u64 {
    let unused_bits = (size - 1).leading_zeros();
    loop {
        let number = random.next_u64() >> unused_bits;
        if number < size {
            return number;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_is_taken_once() {
        for size in [1, 2, 3, 5, 64, 1000] {
            let mut places: Vec<i64> = (0..size).map(|value| permute(value, size, 7)).collect();
            places.sort_unstable();
            assert!(places.into_iter().eq(0..size), "{size}");
        }
    }

    /// Computed by pgbench 15.18.
    #[test]
    fn the_permutation_is_that_of_pgbench() {
        for (value, size, seed, place) in [
            (5, 1000, 42, 387),
            (123_456_789, 1_000_000_007, 7, 354_990_864),
        ] {
            assert_eq!(permute(value, size, seed), place);
        }
    }
}
