//! Error counts of a run, by error number.

use serde::{Deserialize, Serialize};

/// The operation of a connection that could not be opened.
pub const CONNECT: &str = "connect";

/// A statement error, counted by number over the whole run: every failed attempt, including attempts of operations that
/// never completed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ErrorCount {
    pub load: String,
    /// Operation type, or [`CONNECT`].
    pub operation: String,
    /// Error number of the server; 0 for an error that the client detected (connection lost).
    pub number: u16,
    /// SQLSTATE, empty where there is none.
    pub sqlstate: String,
    /// Message of the first error.
    pub message: String,
    /// Number of failed attempts.
    pub count: u64,
    /// Number of failed attempts that were followed by a successful attempt of the same operation.
    pub retried: u64,
    /// Number of failed attempts that belong to operations due in the measurement.
    #[serde(default)]
    pub in_measurement: u64,
    /// Number of failed attempts whose outcome is unknown: the connection was lost while the server was executing the
    /// commit. Such an operation is not retried.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub outcome_unknown: u64,
}

impl ErrorCount {
    /// `1213 (40001)`, or `client` for an error that the client detected.
    pub fn code(&self) -> String {
        match (self.number, self.sqlstate.as_str()) {
            (0, _) => "client".to_owned(),
            (number, "") => number.to_string(),
            (number, sqlstate) => format!("{number} ({sqlstate})"),
        }
    }

    /// `error 1213 (40001)`, or a text for an error that the client detected, usually a lost connection; the message
    /// says which.
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
