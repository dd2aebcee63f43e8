//! The results of a benchmark's own consistency checks.

use serde::{Deserialize, Serialize};

/// The result of a benchmark's own consistency checks at one time.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckResult {
    pub at: CheckTime,
    /// The kind of checks, for example `consistency conditions`.
    pub what: String,
    /// The violations, one sentence each; at the end only those that were not present at the start.
    pub violated: Vec<String>,
}

/// The time of a check.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckTime {
    /// Right after loading the data that this run has a copy of.
    Load,
    /// At the start of the run.
    #[default]
    Start,
    /// At the end of the run.
    End,
}
