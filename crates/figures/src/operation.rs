//! The figures of one operation type, and of one statement.

use samples::Classes;

use crate::times::Times;

/// The figures of one operation type.
#[derive(Debug, Clone, PartialEq)]
pub struct OperationFigures {
    /// Name of the load.
    pub load: String,
    /// Operation type.
    pub operation: String,
    /// Successful operations.
    pub count: u64,
    /// Failed operations.
    pub errors: u64,
    /// Successful operations per second; `None` when nothing was measured.
    pub throughput_per_s: Option<f64>,
    /// Response times; `None` when no operation succeeded. Those that never came back are in it only where the run
    /// has no other operation type.
    pub response: Option<Times>,
    /// Service times, from the send; `None` in a closed loop.
    pub service: Option<Times>,
}

/// The figures of one statement.
#[derive(Debug, Clone, PartialEq)]
pub struct StatementFigures {
    /// Name of the load.
    pub load: String,
    /// Statement.
    pub statement: String,
    /// How many returned rows, changed rows or did neither.
    pub classes: Classes,
    /// Statements per second; `None` when nothing was measured.
    pub throughput_per_s: Option<f64>,
    /// Their times.
    pub times: Option<Times>,
}
