//! A target, what was measured for it, and the verdict.

use stats::Interval;

use crate::verdict::{Bound, Verdict, median_interval, paired_ratio};

/// One line of the table of targets.
#[derive(Debug, Clone)]
pub struct Target {
    pub what: String,
    pub bound: Bound,
    /// Wished for beyond the target proper.
    pub is_stretch: bool,
    pub measured: Option<Interval>,
    pub rounds: usize,
    pub verdict: Verdict,
}

impl Target {
    /// A target for the ratio of paired figures.
    pub fn of_pairs(what: String, bound: Bound, pairs: &[(f64, f64)]) -> Self {
        Self::new(what, bound, paired_ratio(pairs), pairs.len())
    }

    /// A target for the median of a figure of its own, one value per round.
    pub fn of_values(what: String, bound: Bound, values: &[f64]) -> Self {
        Self::new(what, bound, median_interval(values), values.len())
    }

    fn new(what: String, bound: Bound, measured: Option<Interval>, rounds: usize) -> Self {
        let verdict = match &measured {
            Some(interval) => bound.judge(interval),
            None => Verdict::NotMeasured,
        };
        Self {
            what,
            bound,
            is_stretch: false,
            measured,
            rounds,
            verdict,
        }
    }

    /// The same target, wished for beyond the target proper.
    pub fn stretch(mut self) -> Self {
        self.is_stretch = true;
        self
    }

    /// What had to hold for the figure to count did not.
    pub fn void_where(mut self, reason: Option<&String>) -> Self {
        if let (Some(reason), Some(_)) = (reason, self.measured) {
            self.verdict = Verdict::Void(reason.clone());
        }
        self
    }
}
