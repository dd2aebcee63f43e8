//! The figures of one operation type, and of one statement.

use samples::Classes;

use crate::times::Times;

/// The figures of one operation type.
#[derive(Debug, Clone, PartialEq)]
pub struct OperationFigures {
    pub load: String,
    /// Operation type.
    pub operation: String,
    /// Number of successful operations.
    pub count: u64,
    /// Number of failed operations.
    pub errors: u64,
    /// Successful operations per second; `None` without a measurement.
    pub throughput_per_s: Option<f64>,
    /// Response times; `None` if no operation succeeded. Operations that never completed are included only if the run
    /// has no other operation type.
    pub response: Option<Times>,
    /// Service times, from the send; `None` in a closed loop.
    pub service: Option<Times>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct StatementFigures {
    pub load: String,
    pub statement: String,
    /// Number of statements that returned rows, changed rows or did neither.
    pub classes: Classes,
    /// Statements per second; `None` without a measurement.
    pub throughput_per_s: Option<f64>,
    /// Times of the statements; `None` if none was completed.
    pub times: Option<Times>,
}
