//! What share of the client's own ceiling a run used.

use serde::{Deserialize, Serialize};

/// What share of its ceiling the client used: what it reaches on the same machine against a server that does nothing.
///
/// Near 1 the run measured the client and not the server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ceiling {
    /// Queries per second that the client was calibrated to; `None` when it was not, or not for this.
    pub calibrated_queries_per_s: Option<f64>,
    /// Connections of that calibration: the nearest to the run's.
    pub calibrated_connections: Option<u32>,
    /// Statements per second of the measurement as a share of it.
    pub share: Option<f64>,
    /// When it was calibrated, or why there is nothing to compare with, in words.
    pub note: String,
}
