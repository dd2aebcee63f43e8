//! NURand, the non-uniform random numbers of clause 2.1.6, with one constant C per field.

use std::ops::RangeInclusive;

use super::random::{Draw, Purpose};

/// Ranges of the three fields: last names, customers of a district and items.
const LAST_NAMES: RangeInclusive<u32> = 0..=999;
const CUSTOMERS: RangeInclusive<u32> = 1..=3_000;
const ITEMS: RangeInclusive<u32> = 1..=100_000;

/// The constants C of a run or of a load: one per field, the same for all terminals.
///
/// Source: TPC-C 5.11, clauses 2.1.6 and 2.1.6.1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Constants {
    /// For C_LAST, 0 to 255.
    pub last_name: u32,
    /// For C_ID, 0 to 1023.
    pub customer: u32,
    /// For OL_I_ID, 0 to 8191.
    pub item: u32,
}

impl Constants {
    /// The constants of a load with this seed.
    pub fn of_load(seed: u64) -> Self {
        Self::drawn(seed, 0)
    }

    /// The constants of a run with this seed; the C-Delta rule is applied where C-Load of C_LAST is known.
    pub fn of_run(seed: u64, last_name_at_load: Option<u32>) -> Self {
        let mut constants = Self::drawn(seed, 1);
        if let Some(at_load) = last_name_at_load {
            constants.last_name = at_a_legal_distance(seed, at_load);
        }
        constants
    }

    fn drawn(seed: u64, ordinal: u64) -> Self {
        let mut draw = Draw::new(seed, Purpose::Constants, ordinal);
        Self {
            last_name: draw.uniform(0..=255),
            customer: draw.uniform(0..=1023),
            item: draw.uniform(0..=8191),
        }
    }

    /// Number of a last name.
    pub(super) fn last_name(&self, draw: &mut Draw) -> u32 {
        nurand(draw, 255, self.last_name, LAST_NAMES)
    }

    /// Value of C_ID.
    pub(super) fn customer(&self, draw: &mut Draw) -> u32 {
        nurand(draw, 1023, self.customer, CUSTOMERS)
    }

    /// Value of OL_I_ID.
    pub(super) fn item(&self, draw: &mut Draw) -> u32 {
        nurand(draw, 8191, self.item, ITEMS)
    }
}

/// Whether clause 2.1.6.1 allows the difference of these two constants for C_LAST.
fn is_legal_delta(at_load: u32, at_run: u32) -> bool {
    let delta = at_load.abs_diff(at_run);
    (65..=119).contains(&delta) && delta != 96 && delta != 112
}

/// A constant in 0..=255 whose C-Delta is legal: one exists for every `at_load`, above or below it.
fn at_a_legal_distance(seed: u64, at_load: u32) -> u32 {
    let mut draw = Draw::new(seed, Purpose::Constants, 2);
    loop {
        let at_run = draw.uniform(0..=255);
        if is_legal_delta(at_load, at_run) {
            return at_run;
        }
    }
}

/// NURand(A, x, y) = (((random(0, A) | random(x, y)) + C) % (y - x + 1)) + x.
#[inline]
fn nurand(draw: &mut Draw, a: u32, c: u32, range: RangeInclusive<u32>) -> u32 {
    let (x, y) = (*range.start(), *range.end());
    let both = draw.uniform(0..=a) | draw.uniform(range);
    (both + c) % (y - x + 1) + x
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_constant_of_a_load_has_a_legal_one_for_the_run() {
        for at_load in 0..=255 {
            for seed in 0..20 {
                let run = Constants::of_run(seed, Some(at_load));
                assert!(is_legal_delta(at_load, run.last_name), "{at_load} {run:?}");
                assert!(run.last_name <= 255 && run.customer <= 1023 && run.item <= 8191);
            }
        }
        for (delta, legal) in [
            (64, false),
            (65, true),
            (96, false),
            (112, false),
            (119, true),
            (120, false),
        ] {
            assert_eq!(is_legal_delta(0, delta), legal, "{delta}");
            assert_eq!(is_legal_delta(delta, 0), legal, "{delta}");
        }
    }

    /// Exact probabilities of NURand by counting all pairs, for the small field.
    fn expected() -> Vec<f64> {
        let mut counts = vec![0_f64; 1000];
        for a in 0..=255_u32 {
            for b in 0..=999_u32 {
                counts[((a | b) % 1000) as usize] += 1.0 / 256_000.0;
            }
        }
        counts
    }

    #[test]
    fn last_names_follow_the_exact_distribution() {
        let constants = Constants {
            last_name: 77,
            customer: 0,
            item: 0,
        };
        let draws = 200_000;
        let mut counts = vec![0_f64; 1000];
        let mut draw = Draw::new(3, Purpose::Terminal, 0);
        for _ in 0..draws {
            // Without C, the distribution is that of the pairs.
            let name = (constants.last_name(&mut draw) + 1000 - 77) % 1000;
            counts[name as usize] += 1.0;
        }
        // Numbers that no pair gives must not occur, and cells with low expectations are combined.
        let (mut chi_square, mut cells, mut rest) = (0.0, 0, (0.0, 0.0));
        for (found, share) in counts.iter().zip(expected()) {
            let awaited = share * f64::from(draws);
            if awaited == 0.0 {
                assert_eq!(*found, 0.0);
            } else if awaited < 5.0 {
                rest = (rest.0 + found, rest.1 + awaited);
            } else {
                chi_square += (found - awaited).powi(2) / awaited;
                cells += 1;
            }
        }
        if rest.1 > 0.0 {
            chi_square += (rest.0 - rest.1).powi(2) / rest.1;
        }
        let freedom = f64::from(cells);
        // About four standard deviations above the mean of the chi-square distribution.
        assert!(
            chi_square < freedom + 4.0 * (2.0 * freedom).sqrt(),
            "{chi_square} with {freedom} degrees of freedom"
        );
    }

    #[test]
    fn a_tenth_of_the_items_gets_most_of_the_draws() {
        let constants = Constants::of_run(1, None);
        let mut draw = Draw::new(1, Purpose::Terminal, 0);
        let mut counts = vec![0_u32; 100_001];
        let draws = 500_000;
        for _ in 0..draws {
            counts[constants.item(&mut draw) as usize] += 1;
        }
        assert_eq!(counts[0], 0);
        counts.sort_unstable_by(|a, b| b.cmp(a));
        let top: u32 = counts[..10_000].iter().sum();
        let share = f64::from(top) / f64::from(draws);
        // 72.1 % with unlimited draws, slightly more with few; uniform draws give 12 %.
        assert!((0.71..0.76).contains(&share), "{share}");
    }
}
