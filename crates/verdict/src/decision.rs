//! The four decisions, and the rule that makes them.

use stats::EXECUTIONS_AT_LEAST;

/// Confidence of the intervals.
pub(crate) const CONFIDENCE: f64 = 0.95;

/// What a comparison decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// Better than the baseline, and by more than chance explains.
    Faster,
    /// Worse than the baseline, and by more than chance explains.
    Slower,
    /// Any difference is smaller than what matters.
    Equivalent,
    /// These executions cannot tell.
    Inconclusive,
}

impl Decision {
    /// The decision in a word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::Equivalent => "equivalent",
            Self::Inconclusive => "inconclusive",
        }
    }

    /// What it says of the baseline, seen from the other side.
    pub(crate) fn reversed(self) -> Self {
        match self {
            Self::Faster => Self::Slower,
            Self::Slower => Self::Faster,
            same => same,
        }
    }

    /// True where there is a difference for certain.
    pub fn is_different(self) -> bool {
        matches!(self, Self::Faster | Self::Slower)
    }
}

/// What a comparison of so many executions a side decides, with its probability after the correction for the number of
/// comparisons; it `is_equivalent` where its whole interval lies within what does not matter.
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
