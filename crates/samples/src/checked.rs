//! The results of a benchmark's own consistency checks.

use serde::{Deserialize, Serialize};

/// The result of a benchmark's own consistency checks at one time.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checked {
    /// Time of the check: `load` (right after loading the data that this run has a copy of), `start` or `end` of the
    /// run.
    pub at: String,
    /// The kind of checks, for example `consistency conditions`.
    pub what: String,
    /// The violations, one sentence each; at the end only those that were not present at the start.
    pub violated: Vec<String>,
}
