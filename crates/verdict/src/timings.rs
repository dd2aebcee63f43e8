//! Times of statements, each executed on two sides in every block, decided until all are known.

use stats::{StoppingDecision, UntilDecided};

use crate::{
    decision::{CONFIDENCE, Decision},
    family::{decide_by_looks, decide_family, decision_of},
    measure::Measure,
    measure_comparison::Compared,
    metric::Metric,
    values::{BlockValue, Values},
};

/// Comparisons of times that are decided together, by the rule of an experiment that runs until decided.
#[derive(Debug, Clone)]
pub struct TimedFamily {
    margin: f64,
    /// Error that each comparison may have.
    of_each: f64,
    rule: UntilDecided,
    /// Seconds of A and of B, block by block, of each comparison.
    pairs: Vec<Vec<(f64, f64)>>,
}

impl TimedFamily {
    /// A family of this many comparisons with a margin (the smallest difference that matters, as a share) and a budget
    /// of blocks. With `is_beyond_margin` a side is faster only if the whole interval is beyond the margin, as between
    /// copies of a server, which differ by themselves.
    ///
    /// `None` for a margin that is not positive, for fewer than three blocks, and without comparisons.
    pub fn new(
        comparisons: usize,
        margin: f64,
        blocks_at_most: usize,
        is_beyond_margin: bool,
    ) -> Option<Self> {
        let of_each = (1.0 - CONFIDENCE) / comparisons as f64;
        let rule = UntilDecided::new(margin, blocks_at_most, of_each)?;
        Some(Self {
            margin,
            of_each,
            rule: if is_beyond_margin {
                rule.beyond_margin()
            } else {
                rule
            },
            pairs: vec![Vec::new(); comparisons],
        })
    }

    /// Adds a block of one comparison: seconds of A, the baseline, and of B.
    pub fn add(&mut self, comparison: usize, pair: (f64, f64)) {
        self.pairs[comparison].push(pair);
    }

    /// The blocks of a comparison so far, seconds.
    pub fn pairs(&self, comparison: usize) -> &[(f64, f64)] {
        &self.pairs[comparison]
    }

    /// Whether a comparison needs no further block: it is decided, or its budget is spent.
    pub fn is_decided(&self, comparison: usize) -> bool {
        let standing = self.rule.judge(&self.pairs[comparison]);
        standing.is_some_and(|it| {
            matches!(
                it.step,
                StoppingDecision::Decided(_) | StoppingDecision::Spent
            )
        })
    }

    /// The comparisons with their decisions; `None` for one without a block.
    pub fn compared(&self) -> Vec<Option<Compared>> {
        let mut all: Vec<Option<Compared>> = self.pairs.iter().map(|it| self.of(it)).collect();
        let mut family: Vec<&mut Compared> = all.iter_mut().flatten().collect();
        decide_family(self.margin, &mut family);
        for it in family {
            decide_by_looks(&self.rule, self.of_each, it);
        }
        all
    }

    /// The decision about these blocks, seconds of A and of B, by the rule of the family.
    pub fn decide(&self, pairs: &[(f64, f64)]) -> Decision {
        let standing = self.rule.judge(pairs);
        standing.map_or(Decision::Inconclusive, |it| {
            decision_of(it.step, Metric::Elapsed.more_is_better())
        })
    }

    /// The comparison of blocks that are not in the family, such as those of a sum of its times, by its rule. It counts as
    /// one comparison of the family, which is to have no block there. `None` without a block.
    pub fn compare(&self, pairs: &[(f64, f64)]) -> Option<Compared> {
        let mut compared = self.of(pairs)?;
        decide_by_looks(&self.rule, self.of_each, &mut compared);
        Some(compared)
    }

    fn of(&self, pairs: &[(f64, f64)]) -> Option<Compared> {
        let side = |of: fn(&(f64, f64)) -> f64| -> Vec<BlockValue<'static>> {
            let blocks = pairs.iter().zip(1..);
            let values = blocks.map(|(pair, block)| BlockValue {
                results: 0,
                block,
                value: of(pair),
                comparable: of(pair),
                slices: None,
            });
            values.collect()
        };
        let values = Values::of(&side(|pair| pair.0), &side(|pair| pair.1));
        let means = values.means(CONFIDENCE)?;
        let measure = Measure::Metric(Metric::Elapsed);
        let blocks = Some(self.rule.blocks_at_most());
        Some(Compared::new(measure, means, values, blocks))
    }
}

#[cfg(test)]
mod simulation;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_statement_is_decided_by_its_own_blocks() {
        let mut family = TimedFamily::new(3, 0.02, 30, false).unwrap();
        let noise = [0.0, 0.004, -0.003, 0.002, -0.005, 0.001];
        for (block, noise) in noise.iter().cycle().take(12).enumerate() {
            let other = noise * f64::from(u8::try_from(block % 3).unwrap());
            family.add(0, (1.0 + noise, 0.5 + other));
            family.add(1, (1.0 + noise, 1.0 + other));
            family.add(2, (1.0 + noise, if block % 2 == 0 { 0.6 } else { 1.7 }));
        }
        let decided: Vec<Decision> = family
            .compared()
            .into_iter()
            .map(|it| it.unwrap().decision)
            .collect();
        let (faster, same) = (Decision::Faster, Decision::Equivalent);
        assert_eq!(decided, [faster, same, Decision::Inconclusive]);
        let is_decided = [0, 1, 2].map(|at| family.is_decided(at));
        assert_eq!(is_decided, [true, true, false]);
    }

    #[test]
    fn copies_that_differ_by_less_than_the_margin_are_never_faster() {
        let noise = [0.0, 0.002, -0.001, 0.001, -0.002];
        let decided = |ratio: f64, is_beyond_margin: bool| {
            let mut family = TimedFamily::new(1, 0.05, 12, is_beyond_margin).unwrap();
            for noise in noise.iter().cycle() {
                if family.is_decided(0) {
                    break;
                }
                family.add(0, (1.0 + noise, ratio));
            }
            let blocks = family.pairs(0).len();
            (family.compared()[0].as_ref().unwrap().decision, blocks)
        };
        // The interval is beyond 0, and it includes the margin up to the last block.
        assert_eq!(decided(0.9525, false).0, Decision::Faster);
        assert_eq!(decided(0.9525, true), (Decision::Inconclusive, 12));
        assert_eq!(decided(0.5, true).0, Decision::Faster);
        assert_eq!(decided(1.2, true).0, Decision::Slower);
        assert_eq!(decided(0.98, true).0, Decision::Equivalent);
    }

    #[test]
    fn other_blocks_are_decided_as_those_of_the_family() {
        let mut family = TimedFamily::new(2, 0.05, 12, true).unwrap();
        let noise = [0.0, 0.002, -0.001, 0.001, -0.002];
        for noise in noise.iter().cycle().take(12) {
            family.add(0, (1.0 + noise, 0.5));
        }
        let own = family.compared().remove(0).unwrap();
        let other = family.compare(family.pairs(0)).unwrap();
        let decisions = [own.decision, other.decision, family.decide(family.pairs(0))];
        assert_eq!(decisions, [Decision::Faster; 3]);
        assert_eq!(other.means, own.means);
        let [own, other] = [own, other].map(|it| it.comparison.unwrap().ratio);
        assert_eq!(other, own);
        let two = &family.pairs(0)[..2];
        let decisions = [family.compare(two).unwrap().decision, family.decide(two)];
        assert_eq!(decisions, [Decision::Inconclusive; 2]);
    }

    #[test]
    fn without_blocks_there_is_no_comparison() {
        let family = TimedFamily::new(1, 0.02, 30, false).unwrap();
        assert!(family.compared()[0].is_none() && !family.is_decided(0));
        assert!(family.compare(&[]).is_none());
        for (margin, blocks) in [(0.0, 30), (0.02, 2)] {
            assert!(TimedFamily::new(1, margin, blocks, false).is_none());
        }
    }
}
