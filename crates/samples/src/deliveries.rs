//! What became of the work that a load left to the background.

use serde::{Deserialize, Serialize};

/// What became of the deliveries that terminals left to the background.
///
/// How long each took, from when it was queued, stands in the intervals, under the operation `Deferred Delivery`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deliveries {
    /// Deliveries that terminals asked for, over all phases.
    pub queued: u64,
    /// Of these, executed.
    pub executed: u64,
    /// Of the executed, those whose turn came when the load was over.
    pub after_stop: u64,
    /// Of the queued, with an unknown outcome: the connection was lost at the commit.
    pub outcome_unknown: u64,
    /// Of the queued, never executed.
    pub left: u64,
    /// Orders that were delivered, by district from 1.
    pub delivered: Vec<u64>,
    /// How often a district had no order to deliver, by district from 1.
    pub skipped: Vec<u64>,
}
