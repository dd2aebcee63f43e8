//! The finding of one rule, and its rank among the others.

use super::evidence::CostChange;
use crate::costs::Cost;

/// The sides in words.
pub(super) const SIDES: [&str; 2] = ["A", "B"];

/// The rank of a rule; causes of one rank are ordered by the time that they explain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    /// A limit: everything else is a consequence.
    Limit,
    /// A cause of other costs.
    Root,
    /// A specific cost.
    Particular,
    /// An unspecific cost that may have any cause; in the order of the table, and only if nothing above holds.
    General,
}

pub(super) struct Finding {
    pub(super) cost: Option<Cost>,
    pub(super) sentence: String,
    pub(super) explains_us: f64,
    /// The side that has the cost; `None` for a cost that may be an advantage or a disadvantage.
    pub(super) side: Option<usize>,
    /// Replaces the rule's own rank.
    pub(super) rank: Option<Rank>,
}

impl Finding {
    /// A cost that changed, with the time of one unit of it.
    pub(super) fn of(moved: CostChange, price_us: f64, meaning: String) -> Self {
        Self {
            cost: Some(moved.cost),
            sentence: format!("{}: {meaning}", moved.in_words()),
            explains_us: moved.by().abs() * price_us,
            side: Some(moved.higher()),
            rank: None,
        }
    }
}
