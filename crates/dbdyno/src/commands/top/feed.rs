//! What brings news: a server that is asked, or a record.

use std::time::Duration;

use top::{Model, Source};

/// What came since the feed was asked the last time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct PollOutcome {
    /// Anything.
    pub(crate) is_any: bool,
    /// Another run: what was known before is gone from the model.
    pub(crate) is_new_run: bool,
}

/// Brings news into a model, without waiting for any.
pub(crate) trait Feed {
    /// Takes what has come.
    fn poll(&mut self, model: &mut Model) -> anyhow::Result<PollOutcome>;

    /// What kind of feed it is at the moment.
    fn source(&self) -> Source;

    /// True when nothing comes any more.
    fn is_over(&self) -> bool;

    /// Why nothing comes any more, where that is not a planned end.
    fn broken_off(&self) -> Option<String> {
        None
    }

    /// Since when nothing has come, where that is longer than it should take.
    fn silent_for(&self) -> Option<Duration>;

    /// Asks so often from now on; a record comes as it comes.
    fn set_every(&mut self, every: Duration);
}
