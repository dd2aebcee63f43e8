//! The order of the runs, derived from the seed.

use std::ops::RangeInclusive;

use rand_chacha::{
    ChaCha8Rng,
    rand_core::{Rng, SeedableRng},
};
use sha2::{Digest, Sha256};

/// Number of blocks whose orders are drawn together.
const DRAWN_TOGETHER: u32 = 3;

/// The order of the runs in a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// All orders of a block are equally likely, except that the first three blocks do not all have the same one.
    Random,
    /// The data sets in random order, and the runs on one data set in random order: data is changed rarely, but a slow
    /// change of the machine then looks like a difference between data sets.
    Grouped,
    /// The order of the levels in the file, the last factor fastest.
    File,
}

/// The orders that a draw may return.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Draw {
    /// All of them.
    Free,
    /// Not those in which the first three blocks have the same order: two sides would alternate strictly, and anything
    /// that alternates with them looks like a difference between them. With two sides, one free draw in four has this
    /// property.
    ///
    /// Source: W. J. Youden, "Randomization and Experimentation", Technometrics 14 (1972), on leaving out bad draws.
    Restricted,
}

/// The order of each block, from the first: positions of the block's combinations in the order of their runs;
/// `data_sets` names the data set of each. Further blocks do not change the order of the first ones.
pub(crate) fn of_blocks(
    order: Order,
    draw: Draw,
    seed: u64,
    blocks: u32,
    data_sets: &[String],
) -> Vec<Vec<usize>> {
    let drawn = |attempt: u32, blocks: RangeInclusive<u32>| -> Vec<Vec<usize>> {
        let block = |block| of_block(order, seed, block, attempt, data_sets);
        blocks.map(block).collect()
    };
    let has_choice = order != Order::File && data_sets.len() > 1;
    let mut first = drawn(0, 1..=DRAWN_TOGETHER);
    if draw == Draw::Restricted && has_choice {
        let mut attempts = 1..;
        while first.iter().all(|order| *order == first[0]) {
            let attempt = attempts.next().expect("attempts have no end");
            first = drawn(attempt, 1..=DRAWN_TOGETHER);
        }
    }
    first.truncate(blocks as usize);
    first.extend(drawn(0, DRAWN_TOGETHER + 1..=blocks));
    first
}

/// The order of one block.
///
/// Fisher and Yates's shuffle, driven by the stream of ChaCha with eight rounds, whose key consists of the seed, the
/// block and, after a rejected draw, the number of the attempt.
fn of_block(order: Order, seed: u64, block: u32, attempt: u32, data_sets: &[String]) -> Vec<usize> {
    let mut positions: Vec<usize> = (0..data_sets.len()).collect();
    let purpose = match attempt {
        0 => "order".to_owned(),
        attempt => format!("order {attempt}"),
    };
    let mut stream = ChaCha8Rng::from_seed(derived(seed, block, &purpose));
    match order {
        Order::File => positions,
        Order::Random => {
            shuffle(&mut positions, &mut stream);
            positions
        }
        Order::Grouped => {
            let mut groups: Vec<&String> = Vec::new();
            for data_set in data_sets {
                if !groups.contains(&data_set) {
                    groups.push(data_set);
                }
            }
            shuffle(&mut groups, &mut stream);
            shuffle(&mut positions, &mut stream);
            positions.sort_by_key(|&at| groups.iter().position(|group| **group == data_sets[at]));
            positions
        }
    }
}

/// The seed of one run: the same for a combination of a block at any position in the order.
pub(crate) fn run_seed(seed: u64, block: u32, combination: &str) -> u64 {
    let bytes = derived(seed, block, combination);
    u64::from_le_bytes(bytes[..8].try_into().expect("a slice of eight bytes"))
}

fn derived(seed: u64, block: u32, purpose: &str) -> [u8; 32] {
    Sha256::new()
        .chain_update(seed.to_le_bytes())
        .chain_update(block.to_le_bytes())
        .chain_update(purpose)
        .finalize()
        .into()
}

/// Source: R. Durstenfeld, "Algorithm 235: Random permutation", Communications of the ACM 7 (1964).
fn shuffle<T>(items: &mut [T], stream: &mut ChaCha8Rng) {
    for last in (1..items.len()).rev() {
        items.swap(last, below(last as u64 + 1, stream) as usize);
    }
}

/// A number from 0 to `bound` (exclusive), uniformly distributed: values in the incomplete rest of the range are drawn
/// again.
fn below(bound: u64, stream: &mut ChaCha8Rng) -> u64 {
    let even = u64::MAX - u64::MAX % bound;
    loop {
        let drawn = stream.next_u64();
        if drawn < even {
            return drawn % bound;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data_sets(count: usize) -> Vec<String> {
        (0..count).map(|at| format!("set {}", at % 3)).collect()
    }

    /// A seed always gives the same order, on every machine. The values come from another implementation of the same
    /// algorithm, in Python.
    #[test]
    fn golden_orders() {
        assert_eq!(
            of_block(Order::Random, 1, 1, 0, &data_sets(8)),
            [1, 5, 3, 4, 0, 6, 2, 7]
        );
        assert_eq!(
            of_block(Order::Random, 1, 2, 0, &data_sets(8)),
            [0, 7, 5, 4, 2, 6, 3, 1]
        );
        assert_eq!(
            of_block(Order::Grouped, 1, 1, 0, &data_sets(8)),
            [6, 3, 0, 1, 7, 4, 5, 2]
        );
        assert_eq!(of_block(Order::File, 1, 1, 0, &data_sets(3)), [0, 1, 2]);
        assert_eq!(run_seed(1, 1, "connections=4"), 7_445_041_845_871_715_272);
    }

    #[test]
    fn every_order_is_as_likely() {
        let mut seen = std::collections::BTreeMap::new();
        for seed in 0..6000 {
            *seen
                .entry(of_block(Order::Random, seed, 1, 0, &data_sets(3)))
                .or_insert(0) += 1;
        }
        assert_eq!(seen.len(), 6);
        // 1000 each, standard deviation 29.
        assert!(
            seen.values().all(|count| (870..1130).contains(count)),
            "{seen:?}"
        );
    }

    #[test]
    fn grouped_runs_of_a_data_set_are_adjacent() {
        let data_sets = data_sets(12);
        for seed in 0..50 {
            let order = of_block(Order::Grouped, seed, 1, 0, &data_sets);
            let changes = order
                .windows(2)
                .filter(|pair| data_sets[pair[0]] != data_sets[pair[1]]);
            assert_eq!(changes.count(), 2, "seed {seed}");
        }
    }

    fn orders(draw: Draw, seed: u64, blocks: u32) -> Vec<Vec<usize>> {
        of_blocks(Order::Random, draw, seed, blocks, &data_sets(2))
    }

    #[test]
    fn a_free_draw_alternates_in_a_quarter_of_the_plans_and_a_restricted_one_never() {
        let is_strict = |orders: &[Vec<usize>]| orders.iter().all(|order| *order == orders[0]);
        let strict = |draw| (0..4000).filter(move |&seed| is_strict(&orders(draw, seed, 3)));
        // 1000, standard deviation 27.
        assert!((900..1100).contains(&strict(Draw::Free).count()));
        assert_eq!(strict(Draw::Restricted).count(), 0);
    }

    #[test]
    fn every_allowed_order_is_as_likely() {
        let mut seen = std::collections::BTreeMap::new();
        for seed in 0..6000 {
            *seen.entry(orders(Draw::Restricted, seed, 3)).or_insert(0) += 1;
        }
        assert_eq!(seen.len(), 6);
        assert!(
            seen.values().all(|count| (870..1130).contains(count)),
            "{seen:?}"
        );
    }

    #[test]
    fn further_blocks_leave_the_first_as_they_were() {
        for seed in 0..100 {
            let twelve = orders(Draw::Restricted, seed, 12);
            for blocks in 1..12 {
                assert_eq!(
                    orders(Draw::Restricted, seed, blocks),
                    twelve[..blocks as usize]
                );
            }
        }
    }

    #[test]
    fn one_combination_and_the_order_of_the_file_are_always_the_same() {
        let one = of_blocks(Order::Random, Draw::Restricted, 1, 4, &data_sets(1));
        assert_eq!(one, vec![vec![0]; 4]);
        let file = of_blocks(Order::File, Draw::Restricted, 1, 4, &data_sets(2));
        assert_eq!(file, vec![vec![0, 1]; 4]);
    }

    /// A subject compared with itself in pairs, while the machine drifts linearly and in a wave with a period of two
    /// runs: the rate at which Student's t at 5 % reports a difference. The limits of t are those of its table.
    #[test]
    fn what_is_left_out_keeps_the_rate_of_false_alarms() {
        for (blocks, limit) in [(3, 4.303), (5, 2.776), (12, 2.201)] {
            for (drift, wave) in [(0.0, 0.0), (0.2, 0.0), (0.0, 1.0)] {
                let t = |seed| t_of_nothing(seed, blocks, drift, wave);
                let alarms = (0..2500).filter(|&seed| t(seed).abs() > limit);
                let rate = alarms.count() as f64 / 2500.0;
                // 5 %, standard error 0.44.
                assert!(
                    rate < 0.062,
                    "{blocks} blocks, drift {drift}, wave {wave}: {rate}"
                );
            }
        }
    }

    /// Student's t of the pairs of one simulated experiment; drift per run and the wave's height in standard deviations
    /// of the noise.
    fn t_of_nothing(seed: u64, blocks: u32, drift: f64, wave: f64) -> f64 {
        let mut noise = ChaCha8Rng::seed_from_u64(seed);
        // The sum of twelve uniform numbers is sufficiently normal, and has a variance of one.
        let mut normal = || {
            let uniform = |_| (noise.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
            (0..12).map(uniform).sum::<f64>() - 6.0
        };
        let mut run = 0.0;
        let mut differences = Vec::new();
        for order in orders(Draw::Restricted, seed, blocks) {
            let mut sides = [0.0; 2];
            for side in order {
                let is_odd = run % 2.0 == 1.0;
                sides[side] = normal() + drift * run + if is_odd { wave } else { 0.0 };
                run += 1.0;
            }
            differences.push(sides[0] - sides[1]);
        }
        let n = differences.len() as f64;
        let mean = differences.iter().sum::<f64>() / n;
        let squares: f64 = differences.iter().map(|it| (it - mean).powi(2)).sum();
        mean / (squares / (n - 1.0) / n).sqrt()
    }
}
