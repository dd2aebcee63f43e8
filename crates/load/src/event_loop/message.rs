//! What an event loop tells the controller.

use std::time::Duration;

use reactor::Instant;
use workload::Failure;

use crate::{
    intervals::LoopInterval,
    outcome::{Ended, UserTotal},
    pace::LoopTotals,
    recorder::FailureCounts,
};

/// What an event loop tells the controller.
#[derive(Debug)]
pub(crate) enum Message {
    /// One connection was opened, or failed for good.
    Connect {
        group: usize,
        result: Result<Duration, Failure>,
    },
    /// All of this loop's connections were tried.
    Ready,
    /// What the loop measured between two moments.
    Interval {
        event_loop: usize,
        measured: Box<LoopInterval>,
    },
    /// The load must end.
    Halt(Ended),
    /// The loop is over.
    Finished {
        event_loop: usize,
        failures: FailureCounts,
        /// Lost connections that could not be opened again at once.
        refusals: FailureCounts,
        /// End of the last operation.
        last_end: Instant,
        /// What didn't come back, or begin, in time.
        left: Box<LoopTotals>,
        /// What each user did.
        users: Vec<UserTotal>,
    },
}
