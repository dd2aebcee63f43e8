//! Errors of a run, counted by number.

use serde::{Deserialize, Serialize};

/// A statement error, counted by number over the whole run: every attempt as it failed, also those of operations that never
/// came to an end.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ErrorCount {
    /// Name of the load.
    pub load: String,
    /// Operation type, or `connect`.
    pub operation: String,
    /// Error number of the server; 0 for one that the client found (connection lost).
    pub number: u16,
    /// SQLSTATE, empty where there is none.
    pub sqlstate: String,
    /// Message of the first one.
    pub message: String,
    /// How many attempts failed.
    pub count: u64,
    /// How many of them were followed by an attempt at the same operation that succeeded.
    pub retried: u64,
    /// How many of them belong to operations that were due in the measurement.
    #[serde(default)]
    pub in_measurement: u64,
    /// How many of them left it unknown whether the operation was done: the connection was lost while the server was
    /// asked to commit. Such an operation is not run again.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub outcome_unknown: u64,
}

impl ErrorCount {
    /// `1213 (40001)`, or `client` of what the client found itself.
    pub fn code(&self) -> String {
        match (self.number, self.sqlstate.as_str()) {
            (0, _) => "client".to_owned(),
            (number, "") => number.to_string(),
            (number, sqlstate) => format!("{number} ({sqlstate})"),
        }
    }

    /// `error 1213 (40001)`, or that the client found it, most often that the connection was lost; the message says which.
    pub fn in_words(&self) -> String {
        match self.number {
            0 => "client error".to_owned(),
            _ => format!("error {}", self.code()),
        }
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
pub(crate) fn is_zero(count: &u64) -> bool {
    *count == 0
}
