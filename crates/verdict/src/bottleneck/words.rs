//! What several rules say in the same words.

use units::percent;

use super::signals::Signals;

/// Where the kernel does not tell how long tasks waited, nobody is taken to have waited less than it takes.
pub(super) fn waited_for_disks(signals: &Signals) -> Option<String> {
    match signals.pressure {
        Some(pressure) => (pressure.io_some >= 0.3).then(|| {
            format!(
                ", tasks waited for a disk {} of the time",
                percent(pressure.io_some)
            )
        }),
        None => Some(String::new()),
    }
}
