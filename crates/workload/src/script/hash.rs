//! The hash functions of pgbench's language, and its permutation.
//!
//! Source: FNV-1a (Fowler, Noll, Vo) and MurmurHash64A (Appleby), each of the eight bytes of one integer.

use rand_xoshiro::{
    Xoroshiro128StarStar,
    rand_core::{Rng, SeedableRng},
};

/// MurmurHash64A: the multiplier and the shift of each round.
const MURMUR_MULTIPLIER: u64 = 0xc6a4_a793_5bd1_e995;
const MURMUR_SHIFT: u32 = 47;

/// 64-bit FNV: where it begins, and its prime.
const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0100_0000_01b3;

/// Rounds of the permutation.
const ROUNDS: usize = 6;

/// MurmurHash64A of an integer.
pub(super) fn murmur2(value: i64, seed: i64) -> i64 {
    let mut word = (value as u64).wrapping_mul(MURMUR_MULTIPLIER);
    word ^= word >> MURMUR_SHIFT;
    word = word.wrapping_mul(MURMUR_MULTIPLIER);
    let length = size_of::<i64>() as u64;
    let mut hash = seed as u64 ^ MURMUR_MULTIPLIER.wrapping_mul(length);
    hash = (hash ^ word).wrapping_mul(MURMUR_MULTIPLIER);
    hash ^= hash >> MURMUR_SHIFT;
    hash = hash.wrapping_mul(MURMUR_MULTIPLIER);
    (hash ^ (hash >> MURMUR_SHIFT)) as i64
}

/// FNV-1a of an integer, lowest byte first.
pub(super) fn fnv1a(value: i64, seed: i64) -> i64 {
    let bytes = value.to_le_bytes().into_iter();
    let hash = bytes.fold(FNV_OFFSET ^ seed as u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(FNV_PRIME)
    });
    hash as i64
}

/// The position of `value` (modulo `size`) in a permutation of `0..size` that the seed selects; `size` is above 0.
///
/// Each round mixes the lower part of the range, as large as the largest power of two in it, then the upper part of
/// the same size, and shifts all by a random offset: each of the three steps is a permutation.
pub(crate) fn permute(value: i64, size: i64, seed: i64) -> i64 {
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

    /// The examples of the manual.
    #[test]
    fn hashes_are_those_of_the_manual() {
        assert_eq!(murmur2(10, 5432), -5_817_877_081_768_721_676);
        assert_eq!(fnv1a(10, 5432), -7_793_829_335_365_542_153);
    }

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
