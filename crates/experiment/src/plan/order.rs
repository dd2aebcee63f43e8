//! The order of the runs, from the seed.

use rand_chacha::{
    ChaCha8Rng,
    rand_core::{Rng, SeedableRng},
};
use sha2::{Digest, Sha256};

/// In which order the runs of a block go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// Any order of the block is as likely as any other.
    Random,
    /// The data sets in random order, and the runs on one data set in random order: data is changed seldom, but
    /// what changes slowly on the machine then looks like a difference between data sets.
    Grouped,
    /// As the file writes the levels, the last factor fastest.
    File,
}

/// The positions of a block's combinations in the order of their runs; `data_sets` names the data set of each.
///
/// Fisher and Yates's shuffle, driven by the stream of ChaCha with eight rounds, whose key is made of the seed and
/// the block: further repeats leave the order of the first blocks as it was.
pub(crate) fn of_block(order: Order, seed: u64, block: u32, data_sets: &[String]) -> Vec<usize> {
    let mut positions: Vec<usize> = (0..data_sets.len()).collect();
    let mut stream = ChaCha8Rng::from_seed(derived(seed, block, "order"));
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

/// The seed of one run: the same for a combination of a block wherever the order puts it.
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

/// A number from 0 up to, not including, `bound`, each as likely: the uneven rest of the range is drawn again.
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

    /// A seed means the same order for ever, on every machine. The values come from another implementation of the
    /// same recipe, in Python.
    #[test]
    fn golden_orders() {
        assert_eq!(
            of_block(Order::Random, 1, 1, &data_sets(8)),
            [1, 5, 3, 4, 0, 6, 2, 7]
        );
        assert_eq!(
            of_block(Order::Random, 1, 2, &data_sets(8)),
            [0, 7, 5, 4, 2, 6, 3, 1]
        );
        assert_eq!(
            of_block(Order::Grouped, 1, 1, &data_sets(8)),
            [6, 3, 0, 1, 7, 4, 5, 2]
        );
        assert_eq!(of_block(Order::File, 1, 1, &data_sets(3)), [0, 1, 2]);
        assert_eq!(run_seed(1, 1, "connections=4"), 7_445_041_845_871_715_272);
    }

    #[test]
    fn every_order_is_as_likely() {
        let mut seen = std::collections::BTreeMap::new();
        for seed in 0..6000 {
            *seen
                .entry(of_block(Order::Random, seed, 1, &data_sets(3)))
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
            let order = of_block(Order::Grouped, seed, 1, &data_sets);
            let changes = order
                .windows(2)
                .filter(|pair| data_sets[pair[0]] != data_sets[pair[1]]);
            assert_eq!(changes.count(), 2, "seed {seed}");
        }
    }
}
