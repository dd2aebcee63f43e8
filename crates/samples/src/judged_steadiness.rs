//! The output of a rule, and no measurement: whether the run was steady, as `verdict` judged it when it ended.

use serde::{Deserialize, Serialize};

/// Whether a run was steady, and the stalls that its mean hides: judged when it ended, by the rules of that version.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JudgedSteadiness {
    /// `steady`, `warming`, `slowing`, `cyclic` or `never steady`; `None` where it cannot be told.
    pub class: Option<String>,
    /// Why it is not steady, or cannot be told, in words; empty for a steady run.
    pub reasons: Vec<String>,
    /// Change of the throughput over the judged part, as a share of its median; `None` where it cannot be told.
    pub drift: Option<f64>,
    /// What the mean hides; `None` where nothing is worth a word.
    pub stalls: Option<Stalls>,
}

/// Time of the measurement with less than half of the median throughput.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Stalls {
    /// All of it, seconds.
    pub stalled_s: f64,
    /// Most of it in a row, seconds.
    pub longest_s: f64,
    /// Longest time in which no operation came back, seconds; 0 where there was none.
    pub longest_gap_s: f64,
}
