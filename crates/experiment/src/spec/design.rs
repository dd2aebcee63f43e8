//! `design`: whether the combinations of a block are measured one after the other, or side by side.

use std::time::Duration;

use settings::quantity;

use crate::{
    error::Error,
    file::{problem::Problem, section::Section},
};

/// The shortest slice; the shortest interval of a record is as long.
pub(crate) const SLICE_AT_LEAST: Duration = Duration::from_millis(100);
const SLICE_AT_MOST: Duration = Duration::from_secs(60);
const SETTLE_AT_MOST: Duration = Duration::from_secs(10);

/// How the combinations of a block are measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Design {
    /// One after the other.
    #[default]
    Classical,
    /// On servers that run at the same time, of which one at a time is loaded. Each combination has a private server of its
    /// own; given servers have one combination each, or several that differ in their loads, or in variables that are set
    /// before each turn.
    SideBySide(Slicing),
}

/// The turns in which the loads of a session have operations, one load at a time: a time to settle, then a slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slicing {
    /// Length of a slice, the measured part of a turn.
    pub slice: Duration,
    /// Time of a turn before its slice, in which the effects of the turn before it fade.
    pub settle: Duration,
    /// True if each turn is followed by a pause until its server is quiet, at most [`Self::QUIET_AT_MOST`].
    pub quiet: bool,
}

impl Default for Slicing {
    fn default() -> Self {
        Self {
            slice: Duration::from_millis(500),
            settle: Duration::from_millis(100),
            quiet: false,
        }
    }
}

impl Slicing {
    /// Blocks of slices in a batch.
    pub const BATCH: u32 = 5;
    /// Fewest batches of a session: with fewer, nothing can be decided (as `stats::BATCHES_AT_LEAST`).
    pub const BATCHES_AT_LEAST: u32 = 6;
    /// The longest pause until a server is quiet.
    pub const QUIET_AT_MOST: Duration = Duration::from_secs(2);
    /// Maximum number of combinations, whose servers run at the same time.
    pub const COMBINATIONS_AT_MOST: usize = 8;
    /// What `slice` takes, for messages.
    pub const SLICE_EXPECTED: &str = "a time from 100ms to 1m, such as \"500ms\"";
    /// What `settle` takes, for messages.
    pub const SETTLE_EXPECTED: &str = "a time from 0s to 10s, such as \"100ms\"";

    /// Parses the length of a slice.
    pub fn parse_slice(text: &str) -> Option<Duration> {
        let slice = quantity::duration(text);
        slice.filter(|slice| (SLICE_AT_LEAST..=SLICE_AT_MOST).contains(slice))
    }

    /// Parses the time to settle.
    pub fn parse_settle(text: &str) -> Option<Duration> {
        quantity::pause(text).filter(|settle| *settle <= SETTLE_AT_MOST)
    }

    /// Most blocks of slices of a session in which each combination is measured for this time: a multiple of
    /// [`Self::BATCH`].
    pub fn slices_at_most(self, duration: Duration) -> u32 {
        self.batches_at_most(duration) * Self::BATCH
    }

    /// Most batches of a session in which each combination is measured for this time.
    pub fn batches_at_most(self, duration: Duration) -> u32 {
        let batch = self.slice * Self::BATCH;
        let batches = duration.as_nanos().checked_div(batch.as_nanos());
        // Their slices are counted with the same type.
        let most = u32::MAX / Self::BATCH;
        u32::try_from(batches.unwrap_or(0)).map_or(most, |batches| batches.min(most))
    }

    /// The shortest time for which a session can measure each combination.
    pub fn shortest(self) -> Duration {
        self.slice * (Self::BATCHES_AT_LEAST * Self::BATCH)
    }

    /// How long the turns of a batch take in a session of this number of combinations, at most.
    pub fn time_of_batch(self, combinations: usize) -> Duration {
        let pause = if self.quiet {
            Self::QUIET_AT_MOST
        } else {
            Duration::ZERO
        };
        (self.settle + self.slice + pause) * (Self::BATCH * combinations as u32)
    }

    /// How long the turns take in which a combination is measured for this time.
    pub fn time_of_turns(self, duration: Duration) -> Duration {
        (self.settle + self.slice) * self.slices_at_most(duration)
    }
}

impl Design {
    /// Reads `design`, `slice`, `settle` and `quiet`.
    pub(crate) fn read(top: &Section<'_>) -> Result<Self, Error> {
        let words = [("classical", false), ("side by side", true)];
        let is_side_by_side = top.choice("design", &words)?.unwrap_or(false);
        let slice = top.parsed("slice", Slicing::SLICE_EXPECTED, Slicing::parse_slice)?;
        let settle = top.parsed("settle", Slicing::SETTLE_EXPECTED, Slicing::parse_settle)?;
        let quiet = top.flag("quiet")?;
        if is_side_by_side {
            let usual = Slicing::default();
            return Ok(Self::SideBySide(Slicing {
                slice: slice.unwrap_or(usual.slice),
                settle: settle.unwrap_or(usual.settle),
                quiet: quiet.unwrap_or(usual.quiet),
            }));
        }
        match ["slice", "settle", "quiet"]
            .into_iter()
            .find(|key| top.value(key).is_some())
        {
            None => Ok(Self::Classical),
            Some(key) => {
                let problem = format!("`{key}` applies only to design = \"side by side\"");
                let hint = "remove it, or write design = \"side by side\"";
                Err(top.error_at(key, Problem::Conflict { problem, hint }))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn a_session_has_whole_batches() {
        let slicing = Slicing::default();
        assert_eq!(slicing.shortest(), ms(15_000));
        assert_eq!(slicing.time_of_batch(8), ms(24_000));
        let quiet = Slicing {
            quiet: true,
            ..slicing
        };
        assert_eq!(quiet.time_of_batch(8), ms(24_000 + 80_000));
        for (duration, batches) in [
            (ms(7500), 3),
            (ms(9999), 3),
            (ms(10_000), 4),
            (ms(30_000), 12),
            (Duration::ZERO, 0),
        ] {
            assert_eq!(slicing.batches_at_most(duration), batches, "{duration:?}");
            assert_eq!(slicing.slices_at_most(duration), batches * 5);
            assert_eq!(slicing.time_of_turns(duration), ms(3000) * batches);
        }
        // The longest duration, and slices that no file can have.
        let month = quantity::DURATION_AT_MOST;
        let shortest = Slicing {
            slice: SLICE_AT_LEAST,
            ..slicing
        };
        assert_eq!(shortest.batches_at_most(month), 5_184_000);
        for (slice, batches) in [(Duration::ZERO, 0), (Duration::from_nanos(1), u32::MAX / 5)] {
            let slicing = Slicing { slice, ..slicing };
            assert_eq!(slicing.batches_at_most(month), batches, "{slice:?}");
        }
    }

    #[test]
    fn times_have_limits() {
        for (text, slice, settle) in [
            ("100ms", Some(ms(100)), Some(ms(100))),
            ("99ms", None, Some(ms(99))),
            ("1m", Some(ms(60_000)), None),
            ("10s", Some(ms(10_000)), Some(ms(10_000))),
            ("61s", None, None),
            ("0s", None, Some(Duration::ZERO)),
            ("soon", None, None),
        ] {
            assert_eq!(Slicing::parse_slice(text), slice, "{text}");
            assert_eq!(Slicing::parse_settle(text), settle, "{text}");
        }
    }
}
