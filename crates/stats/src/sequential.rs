//! Whether to go on measuring: decisions that stay honest when they are looked at after every block.

use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::{
    comparison::{Comparison, EXECUTIONS_AT_LEAST, compare_pairs},
    spending::nominal_levels,
};

/// What is left of the chance to err where Student's t stands for the normal distribution; see [`levels`].
const FOR_STUDENT: f64 = 0.85;

/// How a comparison ends.
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
pub enum Step {
    /// Stop: it is decided.
    Decided(Side),
    /// Measure another block.
    Continue {
        /// Blocks after which it would be decided if what was seen so far is the truth, these included; `None` where
        /// nothing can be said yet, or the budget will probably not do.
        blocks_needed: Option<usize>,
    },
    /// Stop: the budget is spent and it isn't decided.
    Spent,
}

/// Where a comparison stands.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Standing {
    /// Blocks after which this holds: those that decided it, or all.
    pub blocks: usize,
    /// The numbers, with an interval so much wider than that of a single look that of all experiments the asked share has
    /// an interval that misses the truth at any of its looks; `None` for fewer than three blocks.
    pub comparison: Option<Comparison>,
    /// What to do.
    pub step: Step,
}

/// The rule of a comparison of two sides, block by block, each block with one execution of either side.
#[derive(Debug, Clone, PartialEq)]
pub struct UntilDecided {
    margin: f64,
    /// By the number of blocks: what a look after them may take for unlikely.
    levels: Vec<f64>,
}

impl UntilDecided {
    /// A rule with a margin (the smallest difference that matters, as a share: 0.02 is 2 %), a budget of blocks, and the
    /// share of experiments that may decide wrongly in favour of a side when there is no difference; of several
    /// comparisons in one experiment each gets its part of it.
    ///
    /// `None` for a margin that is not positive, for fewer than three blocks, and for a share outside of 0 to 1.
    ///
    /// Source: repeated confidence intervals: C. Jennison and B. W. Turnbull, "Interim analyses: the repeated confidence
    /// interval approach", Journal of the Royal Statistical Society B 51 (1989), on the logarithms of the blocks' ratios,
    /// with the levels of a spending function taken over to Student's t, as in their "Group Sequential Methods" (2000),
    /// section 3.8.
    pub fn new(margin: f64, blocks_at_most: usize, alpha: f64) -> Option<Self> {
        let valid = margin > 0.0 && margin.is_finite() && alpha > 0.0 && alpha < 1.0;
        (valid && blocks_at_most >= EXECUTIONS_AT_LEAST).then(|| Self {
            margin: margin.ln_1p(),
            levels: levels(blocks_at_most, alpha),
        })
    }

    /// Where the comparison stands after these blocks, in the order in which they were measured: as decided by the first
    /// of them that decide it, however many follow. Blocks beyond the budget are not looked at.
    ///
    /// `None` for a value that is not positive and finite.
    pub fn judge(&self, pairs: &[(f64, f64)]) -> Option<Standing> {
        let is_positive = |value: f64| value.is_finite() && value > 0.0;
        if !pairs
            .iter()
            .all(|(a, b)| is_positive(*a) && is_positive(*b))
        {
            return None;
        }
        let seen = pairs.len().min(self.blocks_at_most());
        let mut latest = None;
        for blocks in EXECUTIONS_AT_LEAST..=seen {
            let compared = compare_pairs(&pairs[..blocks], 1.0 - self.levels[blocks])?;
            if let Some(side) = self.side(&compared) {
                return Some(Standing {
                    blocks,
                    comparison: Some(compared),
                    step: Step::Decided(side),
                });
            }
            latest = Some(compared);
        }
        let step = if seen >= self.blocks_at_most() {
            Step::Spent
        } else {
            Step::Continue {
                blocks_needed: latest.and_then(|compared| self.blocks_needed(&compared)),
            }
        };
        Some(Standing {
            blocks: seen,
            comparison: latest,
            step,
        })
    }

    /// The budget.
    pub fn blocks_at_most(&self) -> usize {
        self.levels.len() - 1
    }

    fn side(&self, compared: &Comparison) -> Option<Side> {
        let (low, high) = (compared.ratio.low.ln(), compared.ratio.high.ln());
        if -self.margin <= low && high <= self.margin {
            Some(Side::Equivalent)
        } else if low > 0.0 {
            Some(Side::More)
        } else if high < 0.0 {
            Some(Side::Less)
        } else {
            None
        }
    }

    /// The first number of blocks at which an interval around what was seen would either exclude zero or lie within the
    /// margin.
    fn blocks_needed(&self, compared: &Comparison) -> Option<usize> {
        let difference = compared.ratio.estimate.ln().abs();
        let reach = difference.max(self.margin - difference);
        // A pair's logarithm has twice the variance of one execution.
        let deviation = compared.deviation * 2.0_f64.sqrt();
        (compared.executions + 1..=self.blocks_at_most()).find(|&blocks| {
            let half_width = half_width(deviation, blocks, self.levels[blocks]);
            half_width.is_some_and(|half_width| half_width <= reach)
        })
    }
}

/// How small a probability a look after so many blocks may call unlikely, where each block from the third on was looked at
/// and all looks together may err in `alpha` of all experiments: [`UntilDecided`]'s own level, for whoever looks at
/// another measure of the same blocks. The interval of such a look has the confidence of 1 less this.
///
/// `None` for fewer than three blocks, for more than the budget, and for a share outside of 0 to 1.
///
/// Source: as [`UntilDecided::new`].
pub fn level_of_look(blocks: usize, blocks_at_most: usize, alpha: f64) -> Option<f64> {
    let is_look = (EXECUTIONS_AT_LEAST..=blocks_at_most).contains(&blocks);
    let is_share = alpha > 0.0 && alpha < 1.0;
    (is_look && is_share).then(|| levels(blocks_at_most, alpha)[blocks])
}

/// The level of each look. The recursion over looks is that of normal errors: taken over to Student's t, whose looks depend
/// on each other less, they spend up to 5.8 % of 5 % (simulated for budgets of 5 to 40 blocks), so they are given less.
fn levels(blocks_at_most: usize, alpha: f64) -> Vec<f64> {
    nominal_levels(EXECUTIONS_AT_LEAST, blocks_at_most, FOR_STUDENT * alpha)
}

/// Half the width of the interval around the mean of so many values of a deviation.
fn half_width(deviation: f64, values: usize, level: f64) -> Option<f64> {
    let student = StudentsT::new(0.0, 1.0, values as f64 - 1.0).ok()?;
    Some(student.inverse_cdf(1.0 - level / 2.0) * deviation / (values as f64).sqrt())
}

#[cfg(test)]
mod tests;
