//! How a load ended, and its totals.

use std::time::Duration;

use samples::{Connects, ErrorCount, Histogram, Offered};
use workload::Failure;

/// What a load did.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// How it ended.
    pub ended: Ended,
    /// From the first operation to the end of the last one, connecting excluded.
    pub elapsed: Duration,
    /// What was to start, and whether it did.
    pub offered: Offered,
    /// What a stop rule that looks at the results saw at the end, in words.
    pub stop_why: Option<String>,
    /// Connection times, one entry per group.
    pub connects: Vec<Connects>,
    /// Totals over all phases, by group and operation.
    pub totals: Vec<OperationTotal>,
    /// What each user that was connected did in the measurement, in no particular order.
    pub users: Vec<UserTotal>,
    /// Operations that succeeded and were due in the measurement, or came back in it.
    pub succeeded: u64,
    /// Operations that had not come back when the load gave up waiting, those that were tried again then included.
    pub unfinished: u64,
    /// Failed attempts by group, operation (`connect` for connections) and number, counted as they failed.
    pub errors: Vec<ErrorCount>,
}

/// How a load ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// As planned.
    Planned,
    /// Somebody interrupted it.
    Interrupted,
    /// The server went away.
    ServerLost(Failure),
    /// A statement failed and the policy was [`crate::OnError::Stop`].
    Failed {
        /// The operation that failed.
        operation: String,
        /// Why.
        failure: Failure,
    },
}

/// What one operation type did over all phases.
#[derive(Debug, Clone)]
pub struct OperationTotal {
    /// Group.
    pub load: String,
    /// Operation type.
    pub operation: String,
    /// Successful operations.
    pub count: u64,
    /// Operations that failed for good.
    pub errors: u64,
    /// Exact minimum, nanoseconds; 0 when `count` is 0.
    pub min_ns: u64,
    /// Exact maximum, nanoseconds; 0 when `count` is 0.
    pub max_ns: u64,
    /// Sum, nanoseconds.
    pub sum_ns: u64,
    /// Response times, nanoseconds.
    pub histogram: Histogram,
}

/// What one user did in the measurement: how evenly a server treats its clients.
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
        /// Connections that are open.
        open: u64,
        /// How many were asked for.
        asked: u64,
        /// Why the first of the others is not.
        failure: Failure,
    },
    /// An event loop could not be set up.
    #[error("cannot set up an event loop: {0}")]
    EventLoop(#[from] std::io::Error),
    /// Interrupted before the first operation.
    #[error("interrupted while connecting")]
    Interrupted,
}

fn refused(open: u64, asked: u64) -> String {
    match (open, asked) {
        (0, 1) => "the connection cannot be opened".to_owned(),
        (0, _) => format!("none of {asked} connections can be opened"),
        _ => format!("{open} of {asked} connections can be opened"),
    }
}
