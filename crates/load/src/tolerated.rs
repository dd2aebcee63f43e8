//! The failures that a planned event causes, which must not end the load.

use std::time::Duration;

use crate::user::Failure;

/// Failures that do not end a load although its policy for errors would: a planned event causes them, such as a restart of
/// the server or a change of a table. They are counted like any other failure.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ToleratedFailures {
    /// How long a user tries to get a lost connection back; `None` where a lost connection has no planned cause.
    pub reconnect_for: Option<Duration>,
    /// Error numbers of the server after which a user continues with its next operation.
    pub numbers: &'static [u16],
}

impl ToleratedFailures {
    /// Whether the load continues after this failure.
    pub(crate) fn includes(&self, failure: &Failure) -> bool {
        if failure.lost {
            self.reconnect_for.is_some()
        } else {
            self.numbers.contains(&failure.number)
        }
    }
}
