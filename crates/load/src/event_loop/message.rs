//! The messages from an event loop to the controller.

use std::time::Duration;

use reactor::Instant;

use crate::{
    intervals::LoopInterval,
    outcome::{Termination, UserTotal},
    pace::LoopTotals,
    recorder::FailureCounts,
    user::Failure,
};

/// A message from an event loop to the controller.
#[derive(Debug)]
pub(crate) enum Message {
    /// One connection was opened, or failed after all attempts.
    Connect {
        group: usize,
        result: Result<Duration, Failure>,
    },
    /// All of this loop's connections were tried.
    Ready,
    /// The figures of the loop between two times.
    Interval {
        event_loop: usize,
        measured: Box<LoopInterval>,
    },
    /// The load must end.
    Halt(Termination),
    /// The loop is over.
    Finished {
        event_loop: usize,
        failures: FailureCounts,
        /// Lost connections that could not be reopened at once.
        refusals: FailureCounts,
        last_end: Instant,
        /// Operations that were not completed, or not started, in time.
        left: Box<LoopTotals>,
        users: Vec<UserTotal>,
    },
}
