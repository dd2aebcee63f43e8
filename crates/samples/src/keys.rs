//! The keys that a load requests, for loads that draw them from a list.

use serde::{Deserialize, Serialize};

/// A list of words from which the statements of a load draw their keys: a dictionary of a .smack file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Keys {
    pub load: String,
    pub dictionary: String,
    /// The order of the draws.
    pub drawn: KeyOrder,
    /// Number of words that are drawn from; `None` if unlimited.
    pub used: Option<u64>,
    /// Number of words in the source; `None` if unlimited.
    pub offered: Option<u64>,
}

/// The order in which keys are drawn from a list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyOrder {
    /// Uniformly distributed.
    #[default]
    Random,
    /// Each client cycles through the list from its start.
    Sequential,
    /// Each word at most once.
    Unique,
}
