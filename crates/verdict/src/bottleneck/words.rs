//! Phrases that several rules share.

use units::percent;

use super::signals::Signals;

/// Evidence of waits for disks; empty if the kernel does not report them, so that a rule can still hold.
pub(super) fn waited_for_disks(signals: &Signals) -> Option<String> {
    match signals.pressure {
        Some(pressure) => (pressure.io_some >= 0.3).then(|| {
            format!(
                ", and tasks waited for a disk {} of the time",
                percent(pressure.io_some)
            )
        }),
        None => Some(String::new()),
    }
}
