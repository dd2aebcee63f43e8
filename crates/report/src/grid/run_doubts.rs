//! What speaks against the figures of a run.

use std::sync::OnceLock;

use audit::Rule;
use samples::Record;

/// The rules that speak against the figures of a run. They are judged when they are asked for, and only once.
#[derive(Default)]
pub(crate) struct RunDoubts {
    unfit: OnceLock<Option<&'static Rule>>,
    shared_machine: OnceLock<Option<&'static Rule>>,
}

impl RunDoubts {
    /// The rule by which the figures of the run are not the server's; `None` where they are.
    pub(super) fn unfit(&self, record: &Record) -> Option<&'static Rule> {
        *self.unfit.get_or_init(|| audit::unfit(record))
    }

    /// The rule by which other programs used the machine during the run; `None` where they did not.
    pub(super) fn shared_machine(&self, record: &Record) -> Option<&'static Rule> {
        let judged = || audit::shared_machine(record);
        *self.shared_machine.get_or_init(judged)
    }
}
