//! The outcome of a load, with its totals.

use std::time::Duration;

use blame::{Blame, Blamed};
use protocol::hint_to_refusal;
use samples::{Connects, ErrorCount, Histogram, LoadStage, OfferedLoad};

use crate::user::Failure;

#[derive(Debug, Clone)]
pub struct Outcome {
    pub ended: Termination,
    /// From the first operation to the end of the last one, without connecting.
    pub elapsed: Duration,
    /// The requested load, and whether it was reached.
    pub offered: OfferedLoad,
    /// The stages that began, each with its offered load; empty for a load without stages.
    pub stages: Vec<LoadStage>,
    /// The last state of a stop rule that depends on the results, in words.
    pub stop_why: Option<String>,
    /// Connection times, one entry per group.
    pub connects: Vec<Connects>,
    /// Totals over all phases, by group and operation.
    pub totals: Vec<OperationTotal>,
    /// The totals of each connected user in the measurement, in no particular order.
    pub users: Vec<UserTotal>,
    /// Successful operations that were due in the measurement, or completed in it.
    pub succeeded: u64,
    /// Operations that were not completed when the load stopped waiting, including those that were being retried.
    pub unfinished: u64,
    /// Failed attempts by group, operation (`connect` for connections) and number, counted when they failed.
    pub errors: Vec<ErrorCount>,
}

/// How a load ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Termination {
    Planned,
    Interrupted,
    /// The connection to the server was lost.
    ServerLost(Failure),
    /// A statement failed and the policy was [`crate::OnError::Stop`].
    Failed {
        /// The operation that failed.
        operation: String,
        failure: Failure,
    },
}

/// The totals of one operation type over all phases.
#[derive(Debug, Clone)]
pub struct OperationTotal {
    /// The group's name.
    pub load: String,
    /// The operation type's name.
    pub operation: String,
    /// Successful operations.
    pub count: u64,
    /// Operations that failed after all attempts.
    pub errors: u64,
    /// Exact minimum, nanoseconds; 0 when `count` is 0.
    pub min_ns: u64,
    /// Exact maximum, nanoseconds; 0 when `count` is 0.
    pub max_ns: u64,
    pub sum_ns: u64,
    /// Response times, nanoseconds.
    pub histogram: Histogram,
}

/// The totals of one user in the measurement, which show how evenly a server treats its clients.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct UserTotal {
    /// Successful operations.
    pub count: u64,
    /// Sum of their response times.
    pub busy: Duration,
}

impl UserTotal {
    pub(crate) fn add(&mut self, response: Duration) {
        self.count += 1;
        self.busy += response;
    }
}

/// A load that could not begin.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Not all users could connect.
    #[error("{}: {failure}", refused(*.open, *.asked))]
    Connect {
        /// Number of open connections.
        open: u64,
        /// Requested number of connections.
        asked: u64,
        /// The first failure of the others.
        failure: Failure,
    },
    #[error("cannot set up an event loop: {0}")]
    EventLoop(#[from] std::io::Error),
    /// Interrupted before the first operation.
    #[error("interrupted while connecting")]
    Interrupted,
}

impl From<Error> for Blamed {
    fn from(error: Error) -> Self {
        match &error {
            Error::Connect { failure, .. } if failure.is_of_input => {
                Self::new(Blame::Input, failure)
            }
            Error::Connect { failure, .. } => {
                let blamed = Self::new(Blame::Server, &error);
                blamed
                    .hint(hint_to_refusal(failure.number))
                    .caused_by(failure.number)
            }
            Error::EventLoop(_) => Self::new(Blame::Machine, &error),
            Error::Interrupted => Self::new(Blame::Interrupted, &error),
        }
    }
}

fn refused(open: u64, asked: u64) -> String {
    match (open, asked) {
        (0, 1) => "the connection cannot be opened".to_owned(),
        (0, _) => format!("none of {asked} connections can be opened"),
        _ => format!("{open} of {asked} connections can be opened"),
    }
}
