//! Seeded randomness: the same seed, kind and number give the same case.

/// A splitmix64 generator.
#[derive(Debug, Clone)]
pub(crate) struct Chance(u64);

impl Chance {
    /// The generator of a case.
    pub(crate) fn new(seed: u64, kind: &str, number: u64) -> Self {
        let mut state = seed;
        for byte in kind.bytes().chain(number.to_le_bytes()) {
            state = (state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        Self(state)
    }

    /// A random number.
    pub(crate) fn any(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`; 0 if `end` is 0.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.any().checked_rem(end as u64).unwrap_or(0) as usize
    }

    /// A random element.
    pub(crate) fn one_of<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.below(choices.len())]
    }

    /// True with probability 1 / `times`.
    pub(crate) fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// Random bytes.
    pub(crate) fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.any() as u8).collect()
    }
}

/// The element at position `number` of a seeded shuffle of `0..count`, with a new shuffle after each `count` positions.
pub(crate) fn shuffled(seed: u64, kind: &str, number: u64, count: usize) -> usize {
    let round = number / count as u64;
    let mut chance = Chance::new(seed, kind, !round);
    let mut order: Vec<_> = (0..count).collect();
    for end in (1..count).rev() {
        order.swap(end, chance.below(end + 1));
    }
    order[(number % count as u64) as usize]
}

#[test]
fn a_case_is_the_same_again_and_all_come() {
    let draw = |seed| Chance::new(seed, "relay", 7).bytes(8);
    assert_eq!(draw(1), draw(1));
    assert_ne!(draw(1), draw(2));
    let mut all: Vec<_> = (0..40).map(|number| shuffled(3, "x", number, 40)).collect();
    all.sort_unstable();
    assert_eq!(all, (0..40).collect::<Vec<_>>());
}
