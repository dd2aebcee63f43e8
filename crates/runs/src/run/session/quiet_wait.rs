//! The pause after a turn, until its server has done the work that the turn left to it.

use std::time::Duration;

use experiment::Slicing;
use reactor::Instant;
use samples::IdleActivity;

/// Time between two readings of the server.
const POLL: Duration = Duration::from_millis(100);

/// A server that flushes while it is idle begins within this time: InnoDB looks once per second whether it is idle. Not every
/// server flushes then (MariaDB from 10.5 on only above `innodb_max_dirty_pages_pct_lwm`).
const FLUSHES_WITHIN: Duration = Duration::from_millis(1_200);

/// The wait for a server after the turn of its load.
///
/// The server is quiet when it hardly writes and has no more dirty pages than before the turn, as far as either is known; or
/// when it keeps its dirty pages and has hardly written for [`FLUSHES_WITHIN`]. A server that postpones its work for longer
/// is not waited for: [`Slicing::QUIET_AT_MOST`].
pub(super) struct QuietWait {
    load: usize,
    earliest: Instant,
    latest: Instant,
    /// `None` if the server does not report them.
    dirty_pages_before: Option<f64>,
    last: Option<ServerReading>,
    /// The time since which it hardly writes; `None` while it writes, and if that is not known.
    rests_since: Option<Instant>,
    next: Instant,
}

/// The work of a server at one time.
#[derive(Debug, Clone, Copy)]
pub(super) struct ServerReading {
    pub at: Instant,
    /// Bytes that its process has written so far; `None` if that is not known.
    pub written_bytes: Option<u64>,
    pub dirty_pages: Option<f64>,
}

impl QuietWait {
    /// Time from one reading to the next at which the server counts its dirty pages: soon enough for the next reading.
    pub(super) const COUNT_AFTER: Duration = Duration::from_millis(50);

    /// The wait for the server of this load, whose turn ends at this time; it lasts at least as long as the others settle, if
    /// that is not longer than [`Slicing::QUIET_AT_MOST`].
    pub(super) fn after(
        load: usize,
        end: Instant,
        settle: Duration,
        dirty_pages_before: Option<f64>,
    ) -> Self {
        Self {
            load,
            earliest: end + settle.max(POLL),
            latest: end + Slicing::QUIET_AT_MOST,
            dirty_pages_before,
            last: None,
            rests_since: None,
            next: end,
        }
    }

    pub(super) fn load(&self) -> usize {
        self.load
    }

    /// The time of the next reading.
    pub(super) fn next_at(&self) -> Instant {
        self.next
    }

    /// Takes a reading; true if the wait is over.
    pub(super) fn is_over(&mut self, reading: ServerReading) -> bool {
        let last = self.last.replace(reading);
        self.next = reading.at + POLL;
        let hardly_writes = match (last, reading.written_bytes) {
            (_, None) => true,
            (None, Some(_)) => false,
            (Some(last), Some(now)) => last.written_bytes.is_none_or(|before| {
                let length_s = (reading.at - last.at).as_secs_f64();
                now.saturating_sub(before) as f64 <= IdleActivity::WRITTEN_BYTES_PER_S * length_s
            }),
        };
        let has_flushed = match (self.dirty_pages_before, reading.dirty_pages) {
            (Some(before), Some(now)) => now <= before,
            _ => true,
        };
        let rests_since = self.rests_since.or(last.map(|it| it.at));
        self.rests_since = rests_since.filter(|_| hardly_writes && reading.written_bytes.is_some());
        let has_rested = self
            .rests_since
            .is_some_and(|since| reading.at - since >= FLUSHES_WITHIN);
        let is_quiet = hardly_writes && (has_flushed || has_rested);
        reading.at >= self.latest || (is_quiet && reading.at >= self.earliest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::from_ns(ms * 1_000_000)
    }

    /// The time after the turn at which a wait is over, if the readings at these times are those of `read`.
    fn over_after_ms(
        settle_ms: u64,
        before: Option<f64>,
        read: impl Fn(u64) -> (Option<u64>, Option<f64>),
    ) -> u64 {
        let settle = Duration::from_millis(settle_ms);
        let mut wait = QuietWait::after(1, at(1_000), settle, before);
        assert_eq!(wait.load(), 1);
        loop {
            let now = wait.next_at();
            let ms = now.as_ns() / 1_000_000 - 1_000;
            let (written_bytes, dirty_pages) = read(ms);
            let reading = ServerReading {
                at: now,
                written_bytes,
                dirty_pages,
            };
            if wait.is_over(reading) {
                return ms;
            }
        }
    }

    #[test]
    fn a_server_is_waited_for_while_it_writes_or_has_more_dirty_pages_than_before() {
        // It writes 1 MiB in each 100 ms until this time.
        let writing = |until_ms: u64| move |ms: u64| (Some(ms.min(until_ms) << 20), None);
        assert_eq!(over_after_ms(0, None, writing(0)), 100);
        assert_eq!(over_after_ms(300, None, writing(0)), 300);
        assert_eq!(over_after_ms(5_000, None, writing(0)), 2_000);
        assert_eq!(over_after_ms(0, None, writing(450)), 600);
        assert_eq!(over_after_ms(0, None, writing(9_000)), 2_000);
        let flushing = |ms: u64| (Some(ms << 20), Some(1_000.0 - ms as f64));
        assert_eq!(over_after_ms(0, Some(-1_500.0), flushing), 2_000);
        // Nothing is written, and the dirty pages stay.
        assert_eq!(
            over_after_ms(0, Some(500.0), |_| (Some(0), Some(500.0))),
            100
        );
        assert_eq!(
            over_after_ms(0, Some(500.0), |_| (Some(0), Some(501.0))),
            1_200
        );
        // The written bytes are not known, as on another host.
        let remote = |ms: u64| (None, Some(1_000.0 - ms as f64));
        assert_eq!(over_after_ms(0, Some(500.0), remote), 500);
        assert_eq!(over_after_ms(0, Some(-1_500.0), remote), 2_000);
        // Nothing is known.
        assert_eq!(over_after_ms(0, None, |_| (None, None)), 100);
        assert_eq!(over_after_ms(0, None, |_| (None, Some(7.0))), 100);
    }
}
