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

/// Why a comparison is inconclusive although its interval excludes that nothing differs, or because its slices are too short,
/// as a clause behind others; empty for any other one. Its executions may be batches of slices.
pub fn why_undecided(
    decision: Decision,
    comparison: &Comparison,
    of_batches: bool,
    short_slices: Option<&ShortSlices>,
) -> String {
    if let Some(short) = short_slices {
        return format!("; {}", short.in_words());
    }
    let interval = comparison.ratio;
    let excludes_none = interval.low > 1.0 || interval.high < 1.0;
    let why = if decision != Decision::Inconclusive || !excludes_none {
        ""
    } else if comparison.executions < EXECUTIONS_AT_LEAST {
        if of_batches {
            "; a decision needs at least three batches a side"
        } else {
            "; a decision needs at least three executions a side"
        }
    } else {
        "; not significant over all comparisons together"
    };
    why.to_owned()
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
