//! The four decisions, and the rule that makes them.

use stats::{Comparison, EXECUTIONS_AT_LEAST};

use crate::short_slices::ShortSlices;

pub(crate) const CONFIDENCE: f64 = 0.95;

/// The decision of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// Better than the baseline, by more than chance explains.
    Faster,
    /// Worse than the baseline, by more than chance explains.
    Slower,
    /// Any difference is smaller than the margin.
    Equivalent,
    /// These executions are not enough to decide.
    Inconclusive,
}

impl Decision {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Self; 4] = [
        Self::Faster,
        Self::Slower,
        Self::Equivalent,
        Self::Inconclusive,
    ];

    /// The decision in a word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::Equivalent => "equivalent",
            Self::Inconclusive => "inconclusive",
        }
    }

    /// The decision with the sides exchanged.
    pub(crate) fn reversed(self) -> Self {
        match self {
            Self::Faster => Self::Slower,
            Self::Slower => Self::Faster,
            same => same,
        }
    }

    /// True if a difference is certain.
    pub fn is_different(self) -> bool {
        matches!(self, Self::Faster | Self::Slower)
    }
}

/// What the compared executions are, and how they are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ComparedExecutions {
    /// True for batches of slices of runs side by side.
    pub of_batches: bool,
    /// True if they are compared in pairs, false if as two lists.
    pub paired: bool,
}

impl ComparedExecutions {
    /// The fewest that can be decided: `at least three executions a side`, `at least six pairs of batches`.
    pub fn fewest(self) -> &'static str {
        match (self.of_batches, self.paired) {
            // The batches of two sessions make no pairs.
            (true, false) => "at least three batches a side",
            (true, true) => "at least six pairs of batches",
            (false, _) => "at least three executions a side",
        }
    }
}

/// Why a comparison is inconclusive although its interval excludes that nothing differs, or because its slices are too short,
/// as a clause behind others; empty for any other one.
pub fn why_undecided(
    decision: Decision,
    comparison: &Comparison,
    executions: ComparedExecutions,
    short_slices: Option<&ShortSlices>,
) -> String {
    if let Some(short) = short_slices {
        return format!("; {}", short.in_words());
    }
    let interval = comparison.ratio;
    let excludes_none = interval.low > 1.0 || interval.high < 1.0;
    if decision != Decision::Inconclusive || !excludes_none {
        String::new()
    } else if comparison.executions < EXECUTIONS_AT_LEAST {
        format!("; a decision needs {}", executions.fewest())
    } else {
        "; not significant over all comparisons together".to_owned()
    }
}

/// The decision of a comparison with this number of executions per side, with its p-value after the correction for the
/// number of comparisons; it `is_equivalent` if its whole interval is within the margin.
pub(crate) fn decide(
    executions: usize,
    is_equivalent: bool,
    p_value: f64,
    is_better: bool,
) -> Decision {
    if executions < EXECUTIONS_AT_LEAST {
        Decision::Inconclusive
    } else if is_equivalent {
        Decision::Equivalent
    } else if p_value >= 1.0 - CONFIDENCE {
        Decision::Inconclusive
    } else if is_better {
        Decision::Faster
    } else {
        Decision::Slower
    }
}

#[cfg(test)]
mod tests {
    use stats::BATCHES_AT_LEAST;

    use super::*;

    #[test]
    fn the_fewest_executions_in_words_are_those_that_are_required() {
        assert_eq!((EXECUTIONS_AT_LEAST, BATCHES_AT_LEAST), (3, 6));
        let fewest = |of_batches, paired| ComparedExecutions { of_batches, paired }.fewest();
        assert_eq!(fewest(true, true), "at least six pairs of batches");
        assert_eq!(fewest(true, false), "at least three batches a side");
        for paired in [true, false] {
            assert_eq!(fewest(false, paired), "at least three executions a side");
        }
    }
}
