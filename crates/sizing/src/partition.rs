//! The partition of systems into groups whose largest cost is smallest.

/// Systems up to which all partitions are tried: 8 have 4,140 of them.
const EXHAUSTIVE_AT_MOST: usize = 8;

/// Which partitions are allowed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    /// Number of groups, none of them empty.
    pub(crate) groups: usize,
    /// Largest size of a group.
    pub(crate) size_at_most: usize,
}

/// How a partition was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Search {
    /// All partitions were tried; their number.
    Exhaustive(usize),
    /// One system after the other, the one with the highest peak first, was put where the largest peak grew least.
    Greedy,
}

/// The partition of the systems `0..systems` with the smallest largest cost of a group; of equal ones that with the
/// smallest sum of costs, then the first one.
pub(crate) fn best_partition(
    systems: usize,
    shape: Shape,
    cost: impl Fn(&[usize]) -> f64,
) -> (Vec<Vec<usize>>, Search) {
    if systems > EXHAUSTIVE_AT_MOST {
        return (greedy(systems, shape, cost), Search::Greedy);
    }
    let mut trial = Trial {
        systems,
        shape,
        cost,
        known: vec![None; 1 << systems],
        best: None,
        tried: 0,
    };
    trial.place(0, &mut Vec::new());
    let groups = trial.best.map_or_else(Vec::new, |it| it.groups);
    (groups, Search::Exhaustive(trial.tried))
}

/// A partition with the largest cost of its groups and the sum of their costs.
struct Scored {
    score: (f64, f64),
    groups: Vec<Vec<usize>>,
}

struct Trial<F> {
    systems: usize,
    shape: Shape,
    cost: F,
    /// Costs of groups, by the bits of their systems.
    known: Vec<Option<f64>>,
    /// The best partition so far.
    best: Option<Scored>,
    tried: usize,
}

impl<F: Fn(&[usize]) -> f64> Trial<F> {
    /// Places this system and all behind it in every allowed way.
    fn place(&mut self, system: usize, groups: &mut Vec<Vec<usize>>) {
        if system == self.systems {
            self.compare(groups);
            return;
        }
        let left = self.systems - system;
        let lacking = self.shape.groups - groups.len();
        // Each group that is still to be opened takes one of the systems that are left.
        if left > lacking {
            for at in 0..groups.len() {
                if groups[at].len() < self.shape.size_at_most {
                    groups[at].push(system);
                    self.place(system + 1, groups);
                    groups[at].pop();
                }
            }
        }
        if lacking > 0 {
            groups.push(vec![system]);
            self.place(system + 1, groups);
            groups.pop();
        }
    }

    fn compare(&mut self, groups: &[Vec<usize>]) {
        self.tried += 1;
        let mut score = (0.0_f64, 0.0);
        for group in groups {
            let bits = group
                .iter()
                .fold(0_usize, |bits, system| bits | (1_usize << *system));
            let cost = match self.known[bits] {
                Some(cost) => cost,
                None => *self.known[bits].insert((self.cost)(group)),
            };
            score = (score.0.max(cost), score.1 + cost);
        }
        if self.best.as_ref().is_none_or(|best| score < best.score) {
            let groups = groups.to_vec();
            self.best = Some(Scored { score, groups });
        }
    }
}

fn greedy(systems: usize, shape: Shape, cost: impl Fn(&[usize]) -> f64) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..systems).collect();
    let alone: Vec<f64> = order.iter().map(|it| cost(&[*it])).collect();
    order.sort_by(|one, other| alone[*other].total_cmp(&alone[*one]));
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (placed, system) in order.into_iter().enumerate() {
        let with = |group: &[usize]| cost(&[group, &[system]].concat());
        let lacking = shape.groups - groups.len();
        let mut place = (lacking > 0).then_some((groups.len(), alone[system]));
        if systems - placed > lacking {
            for (at, group) in groups.iter().enumerate() {
                let cost = with(group);
                let is_better = place.is_none_or(|(_, least)| cost < least);
                if group.len() < shape.size_at_most && is_better {
                    place = Some((at, cost));
                }
            }
        }
        match place {
            Some((at, _)) if at < groups.len() => groups[at].push(system),
            _ => groups.push(vec![system]),
        }
    }
    for group in &mut groups {
        group.sort_unstable();
    }
    groups.sort();
    groups
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PAIRS: fn(usize) -> Shape = |systems| Shape {
        groups: systems.div_ceil(2),
        size_at_most: 2,
    };

    /// The cost of a group whose systems have these weights.
    fn weights(weights: &[f64]) -> impl Fn(&[usize]) -> f64 {
        move |group| group.iter().map(|it| weights[*it]).sum()
    }

    #[test]
    fn the_largest_goes_with_the_smallest() {
        let (groups, search) = best_partition(4, PAIRS(4), weights(&[5.0, 4.0, 2.0, 1.0]));
        assert_eq!(groups, [vec![0, 3], vec![1, 2]]);
        // {01,23}, {02,13}, {03,12}.
        assert_eq!(search, Search::Exhaustive(3));
        let (groups, _) = best_partition(3, PAIRS(3), weights(&[5.0, 1.0, 2.0]));
        assert_eq!(groups, [vec![0], vec![1, 2]]);
        let two = Shape {
            groups: 2,
            size_at_most: 4,
        };
        let (groups, search) = best_partition(4, two, weights(&[6.0, 2.0, 2.0, 2.0]));
        assert_eq!(groups, [vec![0], vec![1, 2, 3]]);
        // The Stirling number of the second kind of 4 and 2.
        assert_eq!(search, Search::Exhaustive(7));
    }

    #[test]
    fn many_systems_are_placed_one_after_the_other() {
        let all: Vec<f64> = (1..=10).map(f64::from).collect();
        let (groups, search) = best_partition(10, PAIRS(10), weights(&all));
        assert_eq!(search, Search::Greedy);
        let sums: Vec<f64> = groups.iter().map(|it| weights(&all)(it)).collect();
        assert_eq!(sums, [11.0; 5]);
    }

    proptest! {
        #[test]
        fn each_system_is_in_one_group(
            all in prop::collection::vec(0.0..10.0_f64, 2..14),
            groups in 1..14_usize,
        ) {
            let shape = Shape { groups: groups.min(all.len()), size_at_most: all.len() };
            for shape in [shape, PAIRS(all.len())] {
                let (found, _) = best_partition(all.len(), shape, weights(&all));
                prop_assert_eq!(found.len(), shape.groups);
                prop_assert!(found.iter().all(|it| !it.is_empty() && it.len() <= shape.size_at_most));
                let mut systems: Vec<usize> = found.concat();
                systems.sort_unstable();
                prop_assert_eq!(systems, (0..all.len()).collect::<Vec<_>>());
            }
        }
    }
}
