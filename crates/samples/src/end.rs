//! The last line of a record.

use serde::{Deserialize, Serialize};

/// The last line of a run that ended by itself, successfully or not.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct End {
    /// Seconds since the start of the load.
    pub t_s: f64,
    /// False if the run was interrupted or its server died.
    pub complete: bool,
    /// Why the run ended, as text.
    pub why: String,
}
