//! Reasons why correct counters and times of one run disagree: a busy machine, or a late event loop.

use samples::Disturbance;
use units::{duration, percent};

use crate::run::Run;

/// Delay of an event loop from which it sampled its connections and read its counters at other times than the server
/// did; nanoseconds.
const LATE_NS: u64 = 50_000_000;

/// Why counters read at about the same time may disagree, as text; `None` on a quiet machine.
pub(crate) fn unevenness(run: &Run<'_>) -> Option<String> {
    let disturbance = Disturbance::of(run.record)
        .filter(|it| it.is_above(Disturbance::OTHERS, Disturbance::STEAL));
    if let Some(it) = disturbance {
        return Some(format!(
            "a quiet machine (other programs used {} of the CPU, the hypervisor {}; rule H14)",
            percent(it.others),
            percent(it.steal)
        ));
    }
    let paces = run.measured().filter_map(|interval| interval.pace);
    let latest = paces.map(|pace| pace.loop_delay_max_ns).max()?;
    (latest > LATE_NS).then(|| {
        format!(
            "punctual event loops (one was {} late)",
            duration(latest as f64)
        )
    })
}
