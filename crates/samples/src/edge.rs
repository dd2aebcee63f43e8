//! The two times of a run at which its server is described.

use serde::{Deserialize, Serialize};

/// The start or the end of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Edge {
    Start,
    End,
}
