//! A source of updates for the model: a polled server, or a record.

use std::time::Duration;

use blame::Blamed;
use top::{Model, Source};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PollOutcome {
    pub is_any: bool,
    /// Another run: what was known before is gone from the model.
    pub is_new_run: bool,
}

/// Brings news into a model, without waiting for any.
pub trait Feed {
    /// Takes what has come.
    fn poll(&mut self, model: &mut Model) -> Result<PollOutcome, Blamed>;

    /// The current kind of the feed.
    fn source(&self) -> Source;

    /// True if no further updates will come.
    fn is_over(&self) -> bool;

    /// The reason for the end of the updates, unless it was planned.
    fn broken_off(&self) -> Option<String> {
        None
    }

    /// Time since the last update, if it is longer than expected.
    fn silent_for(&self) -> Option<Duration>;

    /// Sets the polling interval; it has no effect on a record.
    fn set_every(&mut self, every: Duration);
}
