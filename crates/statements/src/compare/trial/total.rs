//! The sum of the times of the statements that a side makes faster or slower, each as many times as it is executed.
//!
//! If a side makes one statement faster and another one slower, their own comparisons do not say whether it saves time.
//! The difference of their means does, but it has no interval, so that the decision changes from one trial to the next.

use std::collections::{BTreeMap, BTreeSet};

use verdict::{Compared, Decision, TimedFamily};

use crate::compare::comparison::Comparison;

/// The sums of all sides.
pub(super) struct Totals {
    /// How many times each statement is executed; empty if no sum is decided.
    weights: Vec<f64>,
    /// The measured comparisons, as the family has them.
    members: Vec<Member>,
    /// Each block: seconds of the baseline and of the side, by the number of the member.
    blocks: Vec<BTreeMap<usize, (f64, f64)>>,
}

/// A measured comparison.
struct Member {
    statement: usize,
    side: usize,
    /// Whether the results are the same: otherwise it may be another one that is there faster.
    is_same: bool,
}

impl Totals {
    /// The sums of these comparisons, which are in the order of their family.
    pub(super) fn new<'c>(
        weights: Vec<f64>,
        measured: impl Iterator<Item = &'c Comparison>,
    ) -> Self {
        let members = measured.map(|it| Member {
            statement: it.statement,
            side: it.side,
            is_same: it.sameness.is_same(),
        });
        Self {
            weights,
            members: members.collect(),
            blocks: Vec::new(),
        }
    }

    /// Adds a block: times of some members.
    pub(super) fn add(&mut self, pairs: Vec<(usize, (f64, f64))>) {
        self.blocks.push(pairs.into_iter().collect());
    }

    /// The members that need further blocks because the sum of their side is not decided yet.
    pub(super) fn open(&self, family: &TimedFamily) -> Vec<usize> {
        let sides: BTreeSet<usize> = self.members.iter().map(|it| it.side).collect();
        let mut open = Vec::new();
        for side in sides {
            let changed = self.changed(side, family);
            if is_mixed(&changed) && family.decide(&self.sums(&changed)) == Decision::Inconclusive {
                open.extend(changed.iter().map(|(member, _)| *member));
            }
        }
        open
    }

    /// The sum of a side. `None` unless it makes some statements faster and others slower, and without a block of all
    /// of them.
    pub(super) fn of_side(&self, side: usize, family: &TimedFamily) -> Option<Compared> {
        let changed = self.changed(side, family);
        if is_mixed(&changed) {
            family.compare(&self.sums(&changed))
        } else {
            None
        }
    }

    /// The members of a side that are certainly faster or slower, with their decisions. Any other difference is too
    /// small or too uncertain to count, and its noise would hide theirs.
    fn changed(&self, side: usize, family: &TimedFamily) -> Vec<(usize, Decision)> {
        if self.weights.is_empty() {
            return Vec::new();
        }
        let members = self.members.iter().enumerate();
        let of_side = members.filter(|(_, it)| it.side == side);
        let changed = of_side.filter_map(|(member, it)| {
            let decision = family.decide(family.pairs(member));
            let is_changed = match decision {
                Decision::Faster => it.is_same,
                Decision::Slower => true,
                Decision::Equivalent | Decision::Inconclusive => false,
            };
            is_changed.then_some((member, decision))
        });
        changed.collect()
    }

    /// The sums of members in each block that has all of them: seconds of the baseline and of the side.
    fn sums(&self, members: &[(usize, Decision)]) -> Vec<(f64, f64)> {
        let sum_of = |block: &BTreeMap<usize, (f64, f64)>| {
            let mut members = members.iter();
            members.try_fold((0.0, 0.0), |(before_s, after_s), (member, _)| {
                let weight = self.weights[self.members[*member].statement];
                let (own_before_s, own_after_s) = block.get(member)?;
                Some((
                    before_s + weight * own_before_s,
                    after_s + weight * own_after_s,
                ))
            })
        };
        self.blocks.iter().filter_map(sum_of).collect()
    }
}

fn is_mixed(changed: &[(usize, Decision)]) -> bool {
    let has = |decision| changed.iter().any(|(_, it)| *it == decision);
    has(Decision::Faster) && has(Decision::Slower)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two statements with these weights, and milliseconds before and after, measured until all is decided.
    fn decided(weights: &[f64], times_ms: [(f64, f64); 2], is_same: bool) -> Option<Decision> {
        let members = [0, 1].map(|statement| Member {
            statement,
            side: 1,
            is_same,
        });
        let mut family = TimedFamily::new(3, 0.05, 12, true).unwrap();
        let mut totals = Totals {
            weights: weights.to_vec(),
            members: members.into(),
            blocks: Vec::new(),
        };
        for block in 0..12 {
            let of_totals = totals.open(&family);
            let is_open = |it: &usize| !family.is_decided(*it) || of_totals.contains(it);
            let open: Vec<usize> = (0..2).filter(is_open).collect();
            let noise = 1.0 + 0.02 * f64::from(block % 3 - 1);
            let pair = |it: usize| (times_ms[it].0, times_ms[it].1 * noise);
            let pairs: Vec<(usize, (f64, f64))> =
                open.into_iter().map(|it| (it, pair(it))).collect();
            for (member, pair) in &pairs {
                if !family.is_decided(*member) {
                    family.add(*member, *pair);
                }
            }
            totals.add(pairs);
        }
        totals.of_side(1, &family).map(|it| it.decision)
    }

    #[test]
    fn a_sum_is_decided_if_statements_are_faster_and_slower() {
        let covering = [(30.0, 0.5), (4.0, 15.0)];
        // The sum needs more blocks than either statement.
        let order = [(26.0, 0.4), (4.0, 35.0)];
        for (weights, times_ms, expected) in [
            (&[1.0, 1.0][..], covering, Some(Decision::Faster)),
            (&[1.0, 1.0], order, Some(Decision::Slower)),
            (
                &[1.0, 1.0],
                [(20.0, 1.0), (4.0, 23.0)],
                Some(Decision::Equivalent),
            ),
            // The one that is slower is executed seldom.
            (&[10.0, 1.0], order, Some(Decision::Faster)),
            (&[1.0, 1.0], [(30.0, 0.5), (4.0, 4.0)], None),
            (&[1.0, 1.0], [(30.0, 60.0), (4.0, 35.0)], None),
            (&[], order, None),
        ] {
            let found = decided(weights, times_ms, true);
            assert_eq!(found, expected, "{weights:?} {times_ms:?}");
        }
        // What may be faster because of another result is no saving.
        assert_eq!(decided(&[1.0, 1.0], covering, false), None);
    }

    #[test]
    fn blocks_without_one_of_the_statements_do_not_count() {
        let members = [0, 1].map(|statement| Member {
            statement,
            side: 1,
            is_same: true,
        });
        let mut totals = Totals {
            weights: vec![2.0, 1.0],
            members: members.into(),
            blocks: Vec::new(),
        };
        totals.add(vec![(0, (3.0, 1.0)), (1, (2.0, 4.0))]);
        totals.add(vec![(1, (2.0, 4.0))]);
        let both = [(0, Decision::Faster), (1, Decision::Slower)];
        assert_eq!(totals.sums(&both), [(8.0, 6.0)]);
    }
}
