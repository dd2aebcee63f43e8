//! The share of the client's own ceiling that a run used.

use serde::{Deserialize, Serialize};

/// The share of the client's ceiling that a run used. The ceiling is the client's throughput on the same machine
/// against a server that does nothing.
///
/// Near 1 the run measured the client and not the server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ceiling {
    /// Calibrated throughput of the client, queries per second; `None` without a matching calibration.
    pub calibrated_queries_per_s: Option<f64>,
    /// Connections of that calibration: the nearest to the run's.
    pub calibrated_connections: Option<u32>,
    /// Statements per second of the measurement divided by the calibrated throughput.
    pub share: Option<f64>,
    /// Time of the calibration, or why there is none to compare with, as text.
    pub note: String,
}
