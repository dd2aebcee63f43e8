//! A question about results: the metric, the baseline, and the smallest difference that matters.

use crate::metric::Metric;

/// A question about results.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    pub metric: Metric,
    /// Factors and their baseline levels; every other combination of these factors is compared with it, within each
    /// combination of the other factors.
    pub baseline: Vec<(String, String)>,
    /// The smallest difference that matters, as a share: 0.02 is 2 %.
    pub min_effect: f64,
    /// The budget of an experiment that runs until decided. The comparisons are then decided as during the run, after
    /// every block.
    pub until_decided: Option<Budget>,
}

impl Question {
    /// The number of factors in which these levels, in the order of the baseline, differ from it.
    pub fn changed_factors(&self, levels: &[(String, String)]) -> usize {
        let both = levels.iter().zip(&self.baseline);
        both.filter(|(level, base)| level != base).count()
    }
}

/// The budget of an experiment that runs until decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// Maximum number of blocks; of runs side by side that of pairs of batches.
    pub blocks: usize,
    /// True if no time is left for another block.
    pub time_is_spent: bool,
}
