//! The fate of one part, and the evidence for it.

use stats::Interval;

use crate::{
    decision::Decision,
    elimination::measured::{ComparedConfiguration, inverse},
};

/// The fate of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartStatus {
    /// No round has judged it.
    Untested,
    /// It stays whatever it costs; it was not tested.
    Pinned,
    /// The configuration is slower without it.
    Helps,
    /// The configuration is faster without it.
    Harms,
    /// The configuration is not slower without it.
    NoEffect,
    /// It has no effect alone, but without it and others together the configuration is slower.
    Jointly,
    /// Without it and others together the configuration is slower; the round that adds them back one by one left open
    /// which of them it takes.
    Unresolved,
}

/// A part of the configuration.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    pub fate: PartStatus,
    /// The metric with it over the metric without it, with the interval of the decision.
    pub effect: Option<Interval>,
    /// The smallest effect that would have been seen with 80 % power, as a share.
    pub smallest: Option<f64>,
    /// Whether the effect is certain to be less than the margin.
    pub is_equivalent: bool,
    /// Executions of each side behind its fate.
    pub executions: usize,
    /// The round of the evidence, from 1; `None` without any.
    pub round: Option<usize>,
}

impl Part {
    pub(super) fn new(fate: PartStatus) -> Self {
        Self {
            fate,
            effect: None,
            smallest: None,
            is_equivalent: false,
            executions: 0,
            round: None,
        }
    }

    /// A part by the configuration without it.
    pub(super) fn judged_by_removal(without: &ComparedConfiguration, round: usize) -> Self {
        Self {
            effect: without.ratio.map(inverse),
            ..Self::judged(without.decision.reversed(), without, round)
        }
    }

    /// A part by the configuration with it.
    pub(super) fn judged_by_addition(with: &ComparedConfiguration, round: usize) -> Self {
        Self {
            effect: with.ratio,
            ..Self::judged(with.decision, with, round)
        }
    }

    /// `decision` is about the configuration with the part.
    fn judged(decision: Decision, measured: &ComparedConfiguration, round: usize) -> Self {
        Self {
            fate: match decision {
                Decision::Faster => PartStatus::Helps,
                Decision::Slower => PartStatus::Harms,
                Decision::Equivalent | Decision::Inconclusive => PartStatus::NoEffect,
            },
            smallest: measured.smallest,
            is_equivalent: decision == Decision::Equivalent,
            executions: measured.executions,
            round: Some(round),
            ..Self::new(PartStatus::Untested)
        }
    }
}
