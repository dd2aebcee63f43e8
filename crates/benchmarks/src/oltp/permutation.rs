//! A permutation of the 32-bit numbers that looks random and never repeats one.

/// The largest prime below 2^32 that is 3 modulo 4.
const PRIME: u64 = 4_294_967_291;

/// A permutation of the 32-bit numbers: the quadratic residues of numbers below p / 2 are distinct for a prime p that
/// is 3 modulo 4, and their negatives are the remaining numbers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Permutation {
    offset: u32,
}

impl Permutation {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            offset: (seed ^ (seed >> 32)) as u32,
        }
    }

    pub(super) fn at(self, place: u32) -> u32 {
        residue(residue(place).wrapping_add(self.offset))
    }
}

fn residue(place: u32) -> u32 {
    let wide = u64::from(place);
    if wide >= PRIME {
        return place;
    }
    let square = wide * wide % PRIME;
    let number = if wide <= PRIME / 2 {
        square
    } else {
        PRIME - square
    };
    number as u32
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_number_comes_twice() {
        let permutation = Permutation::new(42);
        let places = (0..100_000).chain(u32::MAX - 100_000..=u32::MAX);
        let numbers: BTreeSet<u32> = places.map(|place| permutation.at(place)).collect();
        assert_eq!(numbers.len(), 200_001);
        assert_eq!(PRIME % 4, 3);
    }

    #[test]
    fn another_seed_gives_another_order() {
        assert_ne!(Permutation::new(1).at(7), Permutation::new(2).at(7));
    }
}
