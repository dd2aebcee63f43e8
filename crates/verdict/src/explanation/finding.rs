//! What one rule found, and its rank among the others.

use crate::costs::Cost;

/// How rules are ranked before the time that they explain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    /// A limit: everything else follows from it.
    Limit,
    /// A cause of other costs.
    Root,
    /// A particular cost.
    Particular,
    /// What anything may be the cause of; in the order of the table, and only where nothing above holds.
    General,
}

/// What a rule found.
pub(super) struct Finding {
    pub(super) cost: Option<Cost>,
    pub(super) sentence: String,
    pub(super) explains_us: f64,
    /// The side that bears the cost; `None` for what may be a gain or a loss.
    pub(super) side: Option<usize>,
    /// Instead of the rule's own rank.
    pub(super) rank: Option<Rank>,
}
