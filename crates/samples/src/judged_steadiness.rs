//! The steadiness of a run as `verdict` judged it at its end: the output of a rule, not a measurement.

use serde::{Deserialize, Serialize};

/// The steadiness of a run and its stalls, judged at its end by the rules of the recording version.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JudgedSteadiness {
    /// `steady`, `warming`, `slowing`, `cyclic` or `never steady`; `None` if undecided.
    pub class: Option<String>,
    /// Why the run is not steady or undecided, as text; empty for a steady run.
    pub reasons: Vec<String>,
    /// Change of the throughput over the judged part, as a share of its median; `None` if undecided.
    pub drift: Option<f64>,
    /// The stalls; `None` if there are none worth reporting.
    pub stalls: Option<Stalls>,
}

/// Time of the measurement with less than half of the median throughput.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Stalls {
    /// Total, seconds.
    pub stalled_s: f64,
    /// Longest continuous part, seconds.
    pub longest_s: f64,
    /// Longest time without a completed operation, seconds; 0 if there was none.
    pub longest_gap_s: f64,
}
