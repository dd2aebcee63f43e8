//! Sequential comparison: after each block decide whether to continue, with a controlled overall error rate.

use std::cell::RefCell;

use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::{
    batches::{BATCHES_AT_LEAST, Batch, compare_batches},
    comparison::{Comparison, EXECUTIONS_AT_LEAST, compare_pairs},
    spending::nominal_levels,
};

/// Factor on the error probability that corrects for Student's t in place of the normal distribution; see [`levels`].
const FOR_STUDENT: f64 = 0.85;

/// Number of results of [`levels`] that are kept.
const LEVELS_KEPT: usize = 8;

/// The outcome of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// B is more than A.
    More,
    /// B is less than A.
    Less,
    /// Any difference is smaller than the margin.
    Equivalent,
}

/// What to do after a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoppingDecision {
    /// Stop: the comparison is decided.
    Decided(Side),
    /// Measure another block.
    Continue {
        /// Total number of blocks after which the comparison would be decided if the estimates so far are true; `None`
        /// if there is no estimate yet, or the budget will probably not suffice.
        blocks_needed: Option<usize>,
    },
    /// Stop: the budget is used up without a decision.
    Spent,
}

/// The state of a comparison.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct InterimResult {
    /// Number of blocks behind this state: those that decided it, or all.
    pub blocks: usize,
    /// The comparison with a repeated confidence interval, wider than that of a single look: in the given share of
    /// experiments it contains the truth at all looks. `None` for fewer than three blocks.
    pub comparison: Option<Comparison>,
    pub step: StoppingDecision,
}

/// The sequential rule of a comparison; each block holds one execution of either side.
#[derive(Debug, Clone, PartialEq)]
pub struct UntilDecided {
    margin: f64,
    /// Distance from no difference that the whole interval must exceed to favour a side, on the scale of logarithms.
    beyond: f64,
    /// Significance level of a look, indexed by the number of blocks.
    levels: Vec<f64>,
}

impl UntilDecided {
    /// A rule with a margin (the smallest difference that matters, as a share: 0.02 is 2 %), a budget of blocks, and
    /// the share of experiments that may wrongly favour a side where there is no difference. If an experiment has
    /// several comparisons, each is given its part of that share.
    ///
    /// `None` for a margin that is not positive, for fewer than three blocks, and for a share outside of 0 to 1.
    ///
    /// Source: repeated confidence intervals: C. Jennison and B. W. Turnbull, "Interim analyses: the repeated
    /// confidence interval approach", Journal of the Royal Statistical Society B 51 (1989), on the logarithms of the
    /// blocks' ratios, with the levels of a spending function applied to Student's t, as in their "Group Sequential
    /// Methods" (2000), section 3.8.
    pub fn new(margin: f64, blocks_at_most: usize, alpha: f64) -> Option<Self> {
        let valid = margin > 0.0 && margin.is_finite() && alpha > 0.0 && alpha < 1.0;
        (valid && blocks_at_most >= EXECUTIONS_AT_LEAST).then(|| Self {
            margin: margin.ln_1p(),
            beyond: 0.0,
            levels: levels(blocks_at_most, alpha),
        })
    }

    /// The rule that favours a side only if the whole interval is beyond the margin: for sides whose means differ by some
    /// percent without a cause that matters, which no number of blocks brings to light.
    #[must_use]
    pub fn beyond_margin(self) -> Self {
        Self {
            beyond: self.margin,
            ..self
        }
    }

    /// The state of the comparison after these blocks, in the order in which they were measured. The first blocks that
    /// decide it are final; later ones and blocks beyond the budget are ignored.
    ///
    /// `None` for a value that is not positive and finite.
    pub fn judge(&self, pairs: &[(f64, f64)]) -> Option<InterimResult> {
        if !are_positive(pairs) {
            return None;
        }
        self.judged(EXECUTIONS_AT_LEAST, pairs.len(), |blocks, confidence| {
            compare_pairs(&pairs[..blocks], confidence)
        })
    }

    /// As [`Self::judge`], for batches of slices in place of blocks. Their noise may be correlated: the first look is
    /// after [`BATCHES_AT_LEAST`] of them, and the intervals are those of [`compare_batches`].
    ///
    /// `None` for a value that is not positive and finite, and where [`compare_batches`] is undefined.
    pub fn judge_batches(&self, batches: &[Batch]) -> Option<InterimResult> {
        let is_positive = |it: &Batch| are_positive(&[it.pair]) && are_positive(&it.slices);
        if !batches.iter().all(is_positive) {
            return None;
        }
        self.judged(BATCHES_AT_LEAST, batches.len(), |seen, confidence| {
            compare_batches(&batches[..seen], confidence)
        })
    }

    /// The state after `measured` blocks with looks from `first` of them on; `compare` compares a number of blocks at a
    /// confidence.
    fn judged(
        &self,
        first: usize,
        measured: usize,
        compare: impl Fn(usize, f64) -> Option<Comparison>,
    ) -> Option<InterimResult> {
        let seen = measured.min(self.blocks_at_most());
        let mut latest = None;
        for blocks in first..=seen {
            let compared = compare(blocks, 1.0 - self.levels[blocks])?;
            if let Some(side) = self.side(&compared) {
                return Some(InterimResult {
                    blocks,
                    comparison: Some(compared),
                    step: StoppingDecision::Decided(side),
                });
            }
            latest = Some(compared);
        }
        let step = if seen >= self.blocks_at_most() {
            StoppingDecision::Spent
        } else {
            StoppingDecision::Continue {
                blocks_needed: latest.and_then(|compared| self.blocks_needed(&compared)),
            }
        };
        Some(InterimResult {
            blocks: seen,
            comparison: latest,
            step,
        })
    }

    /// The budget in blocks.
    pub fn blocks_at_most(&self) -> usize {
        self.levels.len() - 1
    }

    fn side(&self, compared: &Comparison) -> Option<Side> {
        let (low, high) = (compared.ratio.low.ln(), compared.ratio.high.ln());
        if -self.margin <= low && high <= self.margin {
            Some(Side::Equivalent)
        } else if low > self.beyond {
            Some(Side::More)
        } else if high < -self.beyond {
            Some(Side::Less)
        } else {
            None
        }
    }

    /// The first number of blocks at which the interval around the current estimate would either favour a side or lie
    /// within the margin.
    fn blocks_needed(&self, compared: &Comparison) -> Option<usize> {
        let difference = compared.ratio.estimate.ln().abs();
        let reach = (difference - self.beyond).max(self.margin - difference);
        // A pair's logarithm has twice the variance of one execution.
        let variance = 2.0 * compared.deviation.powi(2);
        // The part of the error that more blocks do not reduce.
        let lasting = compared.error.powi(2) - variance / compared.executions as f64;
        (compared.executions + 1..=self.blocks_at_most()).find(|&blocks| {
            let error = (variance / blocks as f64 + lasting.max(0.0)).sqrt();
            let half_width = half_width(error, blocks, self.levels[blocks]);
            half_width.is_some_and(|half_width| half_width <= reach)
        })
    }
}

/// The significance level of a look after `blocks` blocks, if there is a look after each block from the third on and
/// all looks together may err in `alpha` of all experiments. It is the level of [`UntilDecided`], for callers that test
/// another metric of the same blocks. The interval of such a look has a confidence of 1 minus this level.
///
/// `None` for fewer than three blocks, for more than the budget, and for a share outside of 0 to 1.
///
/// Source: as [`UntilDecided::new`].
pub fn level_of_look(blocks: usize, blocks_at_most: usize, alpha: f64) -> Option<f64> {
    let is_look = (EXECUTIONS_AT_LEAST..=blocks_at_most).contains(&blocks);
    let is_share = alpha > 0.0 && alpha < 1.0;
    (is_look && is_share).then(|| levels(blocks_at_most, alpha)[blocks])
}

/// The level of each look. The recursion over looks assumes normal errors. With Student's t, whose looks are less
/// correlated, such levels add up to 5.8 % instead of 5 % (simulated for budgets of 5 to 40 blocks), so they are
/// reduced.
///
/// The last results are kept: they take up to a second, and a family of comparisons asks for the same ones again.
fn levels(blocks_at_most: usize, alpha: f64) -> Vec<f64> {
    thread_local! {
        static LAST: RefCell<Vec<(usize, u64, Vec<f64>)>> = const { RefCell::new(Vec::new()) };
    }
    LAST.with_borrow_mut(|last| {
        let key = (blocks_at_most, alpha.to_bits());
        if let Some((_, _, levels)) = last
            .iter()
            .find(|(blocks, bits, _)| (*blocks, *bits) == key)
        {
            return levels.clone();
        }
        let levels = nominal_levels(EXECUTIONS_AT_LEAST, blocks_at_most, FOR_STUDENT * alpha);
        if last.len() == LEVELS_KEPT {
            last.remove(0);
        }
        last.push((key.0, key.1, levels.clone()));
        levels
    })
}

fn are_positive(pairs: &[(f64, f64)]) -> bool {
    let is_positive = |value: f64| value.is_finite() && value > 0.0;
    pairs
        .iter()
        .all(|(a, b)| is_positive(*a) && is_positive(*b))
}

/// Half the width of the interval around the mean of `values` values with this standard error.
fn half_width(error: f64, values: usize, level: f64) -> Option<f64> {
    let student = StudentsT::new(0.0, 1.0, values as f64 - 1.0).ok()?;
    Some(student.inverse_cdf(1.0 - level / 2.0) * error)
}

#[cfg(test)]
mod tests;
