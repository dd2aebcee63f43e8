//! The lead of a wake-up before its timer: an estimate of the system's usual wake-up delay.

use std::{cell::Cell, time::Duration};

/// Step of the estimate at each wake-up.
const STEP: Duration = Duration::from_nanos(500);
/// Largest lead: with longer delays the machine is disturbed, and waiting awake would disturb it more.
const AT_MOST: Duration = Duration::from_micros(100);

/// Estimated median delay of the system's wake-ups; at most 100 us.
///
/// A sleeping processor needs tens of microseconds to run a thread again, many more in a virtual machine.
#[derive(Debug, Default)]
pub(crate) struct WakeupLatency(Cell<Duration>);

impl WakeupLatency {
    /// The estimate; zero at first.
    pub(crate) fn get(&self) -> Duration {
        self.0.get()
    }

    /// Records the delay of a wake-up.
    ///
    /// Equal steps up and down settle where both are equally likely, which is the median. A delay of ten milliseconds
    /// has no more weight than any other.
    pub(crate) fn woken(&self, late: Duration) {
        let lead = self.0.get();
        self.0.set(if late > lead {
            (lead + STEP).min(AT_MOST)
        } else {
            lead.saturating_sub(STEP)
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(late_us: impl IntoIterator<Item = u64>) -> Duration {
        let lead = WakeupLatency::default();
        for late in late_us {
            lead.woken(Duration::from_micros(late));
        }
        lead.get()
    }

    #[test]
    fn the_lead_settles_at_the_median() {
        let cases: [(&[u64], u64); 4] = [
            (&[30], 30),
            // One in three is 20 ms late.
            (&[30, 30, 20_000], 30),
            (&[10, 20, 30, 40, 50], 30),
            (&[5_000], 100),
        ];
        for (pattern, expected_us) in cases {
            let lead = after(pattern.iter().copied().cycle().take(3_000));
            let off = lead.abs_diff(Duration::from_micros(expected_us));
            assert!(off <= Duration::from_micros(2), "{pattern:?}: {lead:?}");
        }
    }

    #[test]
    fn a_machine_that_becomes_quiet_is_followed() {
        let lead = after(std::iter::repeat_n(90, 500).chain(std::iter::repeat_n(10, 500)));
        assert!(lead.abs_diff(Duration::from_micros(10)) <= STEP, "{lead:?}");
        assert_eq!(after([0; 10]), Duration::ZERO);
    }
}
