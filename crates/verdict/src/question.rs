//! What is asked of the results: which metric, against which baseline, and what difference matters.

use crate::metric::Metric;

/// What is asked of the results.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// What is compared.
    pub metric: Metric,
    /// Factors and their baseline levels; every other combination of these factors is compared with it, within each
    /// combination of the factors that are not named.
    pub baseline: Vec<(String, String)>,
    /// The smallest difference that matters, as a share: 0.02 is 2 %.
    pub min_effect: f64,
    /// Of an experiment that runs until it is decided: its budget. The comparisons are then judged as they were while it
    /// ran, after every block.
    pub until_decided: Option<Budget>,
}

/// What an experiment may spend that runs until it is decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// Blocks.
    pub blocks: usize,
    /// True where it has no time left for another block.
    pub time_is_spent: bool,
}
