//! The text columns of a row: `c` is ten groups of eleven random digits, `pad` is five.

use dataset::uniform::below;
use rand_xoshiro::Xoshiro256PlusPlus;

/// Digits per group.
const GROUP: usize = 11;
/// Length of `c` in bytes.
pub(super) const C: usize = 10 * (GROUP + 1) - 1;
/// Length of `pad` in bytes.
pub(super) const PAD: usize = 5 * (GROUP + 1) - 1;

/// The decimal digits of 0 to 99, two per number.
const PAIRS: [u8; 200] = pairs();

const fn pairs() -> [u8; 200] {
    let mut pairs = [0; 200];
    let mut number = 0;
    while number < 100 {
        pairs[2 * number] = b'0' + (number / 10) as u8;
        pairs[2 * number + 1] = b'0' + (number % 10) as u8;
        number += 1;
    }
    pairs
}

/// Fills `text` with groups such as `83868641912-28773972837`; its length must be a whole number of groups.
#[inline]
pub(super) fn fill(text: &mut [u8], random: &mut Xoshiro256PlusPlus) {
    for group in text.chunks_mut(GROUP + 1) {
        // One random word has enough digits for a group.
        let mut rest = below(random, 100_000_000_000);
        for pair in (1..GROUP).step_by(2).rev() {
            let index = 2 * (rest % 100) as usize;
            group[pair..pair + 2].copy_from_slice(&PAIRS[index..index + 2]);
            rest /= 100;
        }
        group[0] = b'0' + rest as u8;
        if let Some(separator) = group.get_mut(GROUP) {
            *separator = b'-';
        }
    }
}

#[cfg(test)]
mod tests {
    use rand_xoshiro::rand_core::SeedableRng;

    use super::*;

    #[test]
    fn groups_of_random_digits() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut seen = [0u32; 10];
        for _ in 0..2000 {
            let mut pad = [0; PAD];
            fill(&mut pad, &mut random);
            let groups: Vec<&[u8]> = pad.split(|byte| *byte == b'-').collect();
            assert_eq!(groups.len(), 5);
            for digit in groups.concat() {
                seen[usize::from(digit - b'0')] += 1;
            }
            assert!(groups.iter().all(|group| group.len() == GROUP));
        }
        // 110,000 digits: 11,000 of each, with a standard deviation of 100.
        assert!(
            seen.iter().all(|count| count.abs_diff(11_000) < 600),
            "{seen:?}"
        );
    }

    #[test]
    fn lengths_are_those_of_the_columns() {
        assert_eq!((C, PAD), (119, 59));
    }
}
