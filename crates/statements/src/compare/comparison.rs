//! One statement under one variant beside the baseline: both results, the times, and the verdict.

use verdict::{Compared, Decision};

use super::mechanism::is_explained;
use crate::{execution::StatementResult, other_work::UNEXPLAINED};

/// Whether the variant of a comparison gives the result of the baseline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ResultEquivalence {
    /// The same rows, each as often, or as many changed rows.
    Same,
    /// Other rows of those that the LIMIT leaves open: without it both have the same rows.
    Tied,
    /// Other rows, and whether the LIMIT of a subquery leaves them open was not decided.
    Undecided,
    /// Other rows, or another number of changed rows.
    Different,
    /// The baseline itself gives another result each time.
    Unknown,
}

impl ResultEquivalence {
    /// Whether both sides have the same result; `earlier` is the baseline's own from another execution.
    pub(super) fn of(earlier: StatementResult, [baseline, variant]: [StatementResult; 2]) -> Self {
        let result = |it: StatementResult| (it.rows, it.changed);
        if result(baseline) == result(variant) {
            Self::Same
        } else if result(earlier) == result(baseline) {
            Self::Different
        } else {
            Self::Unknown
        }
    }

    /// Whether both sides certainly have one result.
    pub(super) fn is_same(self) -> bool {
        matches!(self, Self::Same | Self::Tied)
    }

    /// Its name for programs.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Tied => "tied",
            Self::Undecided => "undecided",
            Self::Different => "different",
            Self::Unknown => "unknown",
        }
    }
}

/// One statement under one variant, against the baseline.
pub(crate) struct Comparison {
    pub(crate) statement: usize,
    /// Index of the side, from 1; 0 is the baseline.
    pub(crate) side: usize,
    /// The results of both sides.
    pub(crate) results: [StatementResult; 2],
    pub(crate) sameness: ResultEquivalence,
    /// Seconds of both sides, block by block: medians of the block's executions.
    pub(crate) times_s: Vec<(f64, f64)>,
    /// The verdict; `None` without a block.
    pub(crate) compared: Option<Compared>,
    /// The share of the CPU that other programs used, where that may explain the difference, so that nothing is decided.
    pub(crate) disturbed_by: Option<f64>,
    /// What one execution on either side adds to the counters.
    pub(crate) costs: [Vec<(String, i64)>; 2],
}

impl Comparison {
    /// Whether the verdict is faster, with a result that was compared.
    pub(crate) fn is_faster(&self) -> bool {
        let decision = self.compared.as_ref().map(|it| it.decision);
        decision == Some(Decision::Faster) && self.sameness.is_same()
    }

    /// Decides nothing unless the counted work explains the difference, or it is too large for other programs to explain,
    /// which used this share of the CPU while the sides ran on servers of their own.
    pub(super) fn disturb(&mut self, share: f64, is_one_version: bool) {
        let Some(compared) = &mut self.compared else {
            return;
        };
        let [before, after] = &self.costs;
        let is_certain = is_beyond_others(compared)
            || is_explained(compared.decision, [before, after], is_one_version);
        if compared.decision != Decision::Inconclusive && !is_certain {
            compared.decision = Decision::Inconclusive;
            self.disturbed_by = Some(share);
        }
    }
}

/// Whether a difference is too large for other programs to explain.
pub(super) fn is_beyond_others(compared: &Compared) -> bool {
    let ratio = compared.comparison.map(|it| it.ratio);
    ratio.is_some_and(|it| it.low > 1.0 + UNEXPLAINED || it.high < 1.0 / (1.0 + UNEXPLAINED))
}

#[cfg(test)]
mod tests {
    use protocol::RowsChecksum;
    use verdict::TimedFamily;

    use super::*;

    /// A comparison whose variant takes `factor` times the baseline's time in each of 12 blocks, give or take 1 %.
    fn comparison(factor: f64) -> Comparison {
        let mut family = TimedFamily::new(1, 0.05, 12, true).unwrap();
        for block in 0..12 {
            let noise = 1.0 + 0.01 * f64::from(block % 3 - 1);
            family.add(0, (1.0, factor * noise));
        }
        let result = StatementResult {
            time_s: 1.0,
            rows: RowsChecksum::default(),
            changed: 0,
            warnings: 0,
        };
        Comparison {
            statement: 0,
            side: 1,
            results: [result; 2],
            sameness: ResultEquivalence::Same,
            times_s: family.pairs(0).to_vec(),
            compared: family.compared().remove(0),
            disturbed_by: None,
            costs: Default::default(),
        }
    }

    #[test]
    fn other_programs_leave_what_they_may_explain_undecided() {
        for (factor, quiet, beside_others) in [
            (1.2, Decision::Slower, Decision::Inconclusive),
            (0.8, Decision::Faster, Decision::Inconclusive),
            (1.0, Decision::Equivalent, Decision::Inconclusive),
            (3.0, Decision::Slower, Decision::Slower),
            (0.3, Decision::Faster, Decision::Faster),
        ] {
            let mut comparison = comparison(factor);
            let decision = |it: &Comparison| it.compared.as_ref().unwrap().decision;
            assert_eq!(decision(&comparison), quiet, "{factor}");
            comparison.disturb(0.57, true);
            assert_eq!(decision(&comparison), beside_others, "{factor}");
            let is_changed = quiet != beside_others;
            assert_eq!(comparison.disturbed_by.is_some(), is_changed, "{factor}");
        }
    }

    #[test]
    fn counted_work_decides_beside_other_programs() {
        let read = |rows| vec![("Handler_read_next".to_owned(), rows)];
        for (costs, expected) in [
            ([read(10_000), read(36)], Decision::Faster),
            ([read(10_000), read(10_000)], Decision::Inconclusive),
            // More work is no reason to be faster.
            ([read(36), read(10_000)], Decision::Inconclusive),
        ] {
            let mut comparison = Comparison {
                costs,
                ..comparison(0.8)
            };
            comparison.disturb(0.57, true);
            assert_eq!(comparison.compared.unwrap().decision, expected);
        }
    }
}
