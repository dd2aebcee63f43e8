//! Instants and clocks of a reactor; the only module that asks the operating system for the time.

use std::{
    cell::Cell,
    ops::{Add, Sub},
    time::{Duration, SystemTime},
};

use rustix::time::{ClockId, Timespec, clock_gettime};

/// A point on a monotonic clock, in nanoseconds.
///
/// System instants count from the host's boot and can be compared between threads; driven ones count from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(u64);

impl Instant {
    /// The instant this many nanoseconds after the clock's origin.
    pub const fn from_ns(ns: u64) -> Self {
        Self(ns)
    }

    /// Nanoseconds since the clock's origin.
    pub const fn as_ns(self) -> u64 {
        self.0
    }

    pub(crate) fn as_timespec(self) -> Timespec {
        Timespec {
            tv_sec: (self.0 / 1_000_000_000).cast_signed(),
            tv_nsec: (self.0 % 1_000_000_000).cast_signed(),
        }
    }
}

impl Add<Duration> for Instant {
    type Output = Self;

    /// The instant `duration` later; at most the last one that can be expressed (after 584 years).
    fn add(self, duration: Duration) -> Self {
        let ns = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        Self(self.0.saturating_add(ns))
    }
}

impl Sub<Duration> for Instant {
    type Output = Self;

    /// The instant `duration` earlier; at least the clock's origin.
    fn sub(self, duration: Duration) -> Self {
        let ns = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        Self(self.0.saturating_sub(ns))
    }
}

impl Sub for Instant {
    type Output = Duration;

    /// Time from `earlier` to this instant; zero if `earlier` is actually later.
    fn sub(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

/// The clock of a reactor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clock {
    /// The monotonic clock of the operating system.
    System,
    /// Starts at 0 and jumps to the next timer whenever every task waits and no socket is ready; for tests.
    Driven,
}

/// The clock of one reactor.
pub(crate) enum Source {
    System,
    Driven(Cell<Instant>),
}

impl Source {
    pub(crate) fn new(clock: Clock) -> Self {
        match clock {
            Clock::System => Self::System,
            Clock::Driven => Self::Driven(Cell::new(Instant(0))),
        }
    }

    pub(crate) fn now(&self) -> Instant {
        match self {
            Self::System => system_now(),
            Self::Driven(now) => now.get(),
        }
    }
}

/// The system's monotonic time, for threads without a reactor.
pub fn system_now() -> Instant {
    let time = clock_gettime(ClockId::Monotonic);
    Instant(time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_nsec.cast_unsigned())
}

/// CPU time used by the calling thread so far.
pub fn thread_cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(
        time.tv_sec.cast_unsigned(),
        u32::try_from(time.tv_nsec).unwrap_or(0),
    )
}

/// CPU time used by the process so far, user and system together.
pub fn process_cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(
        time.tv_sec.cast_unsigned(),
        u32::try_from(time.tv_nsec).unwrap_or(0),
    )
}

/// The wall clock, for time stamps in records; never for durations.
#[expect(
    clippy::disallowed_methods,
    reason = "the one place that reads the wall clock"
)]
pub fn wall_now() -> SystemTime {
    SystemTime::now()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_add_and_subtract_without_overflow() {
        let cases = [
            (Instant(5) + Duration::from_nanos(7), Instant(12)),
            (
                Instant(u64::MAX - 1) + Duration::from_secs(1),
                Instant(u64::MAX),
            ),
            (Instant(0) + Duration::MAX, Instant(u64::MAX)),
            (Instant(12) - Duration::from_nanos(7), Instant(5)),
            (Instant(12) - Duration::MAX, Instant(0)),
        ];
        for (sum, expected) in cases {
            assert_eq!(sum, expected);
        }
        assert_eq!(Instant(12) - Instant(5), Duration::from_nanos(7));
        assert_eq!(Instant(5) - Instant(12), Duration::ZERO);
    }

    #[test]
    fn system_time_does_not_run_backwards() {
        let first = system_now();
        assert!(system_now() >= first);
    }
}
