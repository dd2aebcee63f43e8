//! What a benchmark's own checks of its data said.

use serde::{Deserialize, Serialize};

/// What a benchmark's own checks of its data said.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checked {
    /// When: `load` (right after the data was loaded, of which this run has a copy), `start` or `end` of the run.
    pub at: String,
    /// What was checked, as `consistency conditions`.
    pub what: String,
    /// What is violated, a sentence each; at the end only what was not violated at the start.
    pub violated: Vec<String>,
}
