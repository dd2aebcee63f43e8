//! A load whose record has everything that its command prints.

use load::Observer;
use samples::{Interval, PhaseMark};

/// Receives the events of a load and does nothing.
pub(crate) struct Unobserved;

impl Observer for Unobserved {
    fn connected(&mut self, _open: u64, _total: u64) {}

    fn started(&mut self) {}

    fn phase(&mut self, _mark: PhaseMark) {}

    fn interval(&mut self, _interval: Interval) {}
}
