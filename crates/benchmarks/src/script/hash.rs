//! The hash functions of pgbench's language.
//!
//! Source: FNV-1a (Fowler, Noll, Vo) and MurmurHash64A (Appleby), each of the eight bytes of one integer.

/// MurmurHash64A: the multiplier and the shift of each round.
const MURMUR_MULTIPLIER: u64 = 0xc6a4_a793_5bd1_e995;
const MURMUR_SHIFT: u32 = 47;

/// 64-bit FNV: where it begins, and its prime.
const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0100_0000_01b3;

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

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of the manual.
    #[test]
    fn hashes_are_those_of_the_manual() {
        assert_eq!(murmur2(10, 5432), -5_817_877_081_768_721_676);
        assert_eq!(fnv1a(10, 5432), -7_793_829_335_365_542_153);
    }
}
