//! Counts of the deliveries that a load deferred to the background.

use serde::{Deserialize, Serialize};

/// Counts of the deliveries that terminals deferred to the background.
///
/// Their times, counted from when they were queued, are in the intervals under the operation `Deferred Delivery`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deliveries {
    /// Deliveries that terminals requested, over all phases.
    pub queued: u64,
    /// Of the queued, those executed.
    pub executed: u64,
    /// Of the executed, those executed after the end of the load.
    pub after_stop: u64,
    /// Of the queued, those with an unknown outcome: the connection was lost at the commit.
    pub outcome_unknown: u64,
    /// Of the queued, those never executed.
    pub left: u64,
    /// Delivered orders by district, starting with district 1.
    pub delivered: Vec<u64>,
    /// Number of times that a district had no order to deliver, by district, starting with district 1.
    pub skipped: Vec<u64>,
}
