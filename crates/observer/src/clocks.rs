//! The offset between the clocks of two hosts, from messages in both directions.

use std::{
    collections::VecDeque,
    time::{Duration, UNIX_EPOCH},
};

use reactor::Instant;
use samples::ClockDrift;

use crate::message::FromObserver;

/// Number of exchanges that are kept; the offset comes from the best of them.
const EXCHANGES_KEPT: usize = 64;

/// Maximum age of an exchange: the clocks have drifted apart since.
const AGE_AT_MOST: Duration = Duration::from_secs(60);

/// Maximum drift of two clocks: the uncertainty of an exchange grows by this much with its age, parts per million.
///
/// Source: RFC 5905, section 7.2, PHI.
const DRIFT_PPM: u64 = 15;

/// One time request and its answer, in nanoseconds; `t1` and `t4` are on our clock, `t2` and `t3` on the other one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exchange {
    /// Time at which the request was sent.
    pub t1_ns: u64,
    /// Time at which the request was received.
    pub t2_ns: u64,
    /// Time at which the answer was sent.
    pub t3_ns: u64,
    /// Time at which the answer was received.
    pub t4_ns: u64,
    /// The other host's time of day on sending the answer, minus ours on receiving it; the transit time is included.
    pub wall_ns: i64,
}

impl Exchange {
    /// The exchange that an answer received at `now` completes; `None` for another message.
    pub(crate) fn ended_by(answer: &FromObserver, now: Instant) -> Option<Self> {
        let FromObserver::Pong {
            t1_ns,
            t2_ns,
            t3_ns,
            wall_ns,
        } = *answer
        else {
            return None;
        };
        let wall = reactor::wall_now().duration_since(UNIX_EPOCH);
        let here_ns = i128::try_from(wall.unwrap_or_default().as_nanos()).unwrap_or(0);
        Some(Self {
            t1_ns,
            t2_ns,
            t3_ns,
            t4_ns: now.as_ns(),
            wall_ns: i64::try_from(i128::from(wall_ns) - here_ns).unwrap_or(i64::MAX),
        })
    }

    /// Time in transit, both ways, nanoseconds.
    ///
    /// Source: RFC 5905, section 8, the delay.
    fn round_trip_ns(&self) -> u64 {
        let ours = self.t4_ns.saturating_sub(self.t1_ns);
        ours.saturating_sub(self.t3_ns.saturating_sub(self.t2_ns))
    }

    /// The other clock minus ours, nanoseconds, if both ways took equally long.
    ///
    /// Source: RFC 5905, section 8, the offset. Whatever the two ways took, its error is at most half of the round
    /// trip: that is the case when one of them took no time at all.
    fn offset_ns(&self) -> i64 {
        let there = i128::from(self.t2_ns) + i128::from(self.t3_ns);
        let here = i128::from(self.t1_ns) + i128::from(self.t4_ns);
        i64::try_from((there - here) / 2).unwrap_or(i64::MAX)
    }
}

/// The other clock minus ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Offset {
    /// Offset of the monotonic clocks, nanoseconds.
    pub offset_ns: i64,
    /// Maximum error in either direction, nanoseconds.
    pub uncertainty_ns: u64,
    /// Offset of the times of day, nanoseconds, with the same uncertainty.
    pub wall_ns: i64,
    /// Time of the estimate on our clock.
    pub at_ns: u64,
    /// Number of exchanges of which this is the best.
    pub exchanges: u64,
}

impl Offset {
    /// From the best of these exchanges, which are in order of time: a short round trip that is recent; `None` without
    /// any.
    fn of(exchanges: &VecDeque<Exchange>) -> Option<Self> {
        let now_ns = exchanges.back()?.t4_ns;
        let half_ns = |one: &Exchange| one.round_trip_ns().div_ceil(2);
        let uncertainty_ns = |one: &Exchange| {
            let age_ns = now_ns.saturating_sub(one.t4_ns);
            half_ns(one) + age_ns / 1_000_000 * DRIFT_PPM
        };
        let best = exchanges.iter().min_by_key(|one| uncertainty_ns(one))?;
        Some(Self {
            offset_ns: best.offset_ns(),
            uncertainty_ns: uncertainty_ns(best),
            // The answer was in transit for half of the round trip.
            wall_ns: best.wall_ns.saturating_add_unsigned(half_ns(best)),
            at_ns: now_ns,
            exchanges: exchanges.len() as u64,
        })
    }

    /// The drift of the clocks from here to a later offset; `None` when no time has passed between them.
    pub fn drift_to(&self, later: &Self) -> Option<ClockDrift> {
        let between_ns = later.at_ns.checked_sub(self.at_ns).filter(|ns| *ns > 0)?;
        let per_million = |ns: f64| ns / between_ns as f64 * 1e6;
        Some(ClockDrift {
            ppm: per_million((i128::from(later.offset_ns) - i128::from(self.offset_ns)) as f64),
            uncertainty_ppm: per_million(self.uncertainty_ns as f64 + later.uncertainty_ns as f64),
        })
    }

    /// The other clock's time converted to ours, nanoseconds; negative if it is before our clock began.
    pub fn ours_ns(&self, theirs_ns: u64) -> i64 {
        let ours = i128::from(theirs_ns) - i128::from(self.offset_ns);
        i64::try_from(ours).unwrap_or(i64::MAX)
    }
}

impl From<Offset> for samples::ClockOffset {
    fn from(offset: Offset) -> Self {
        Self {
            offset_s: offset.offset_ns as f64 / 1e9,
            uncertainty_s: offset.uncertainty_ns as f64 / 1e9,
            wall_offset_s: offset.wall_ns as f64 / 1e9,
            exchanges: offset.exchanges,
        }
    }
}

/// The clocks of two hosts, compared repeatedly.
#[derive(Debug, Clone, Default)]
pub struct Clocks {
    recent: VecDeque<Exchange>,
}

impl Clocks {
    /// Adds an exchange; one whose answer came before its request is forged and is left out.
    pub fn add(&mut self, exchange: Exchange) {
        if exchange.t4_ns < exchange.t1_ns || exchange.t3_ns < exchange.t2_ns {
            return;
        }
        let oldest_ns = exchange.t4_ns.saturating_sub(AGE_AT_MOST.as_nanos() as u64);
        self.recent.retain(|one| one.t4_ns >= oldest_ns);
        if self.recent.len() == EXCHANGES_KEPT {
            self.recent.pop_front();
        }
        self.recent.push_back(exchange);
    }

    /// The offset from the best of the recent exchanges; `None` before the first.
    pub fn offset(&self) -> Option<Offset> {
        Offset::of(&self.recent)
    }

    /// Forgets all exchanges, so that the next offset comes only from new ones.
    pub fn forget(&mut self) {
        self.recent.clear();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Two clocks and a network between them.
    struct World {
        /// True time, nanoseconds.
        now_ns: u64,
        offset_ns: i64,
        drift_ppm: f64,
    }

    impl World {
        fn theirs_ns(&self) -> u64 {
            let drifted = self.now_ns as f64 * self.drift_ppm / 1e6;
            self.now_ns
                .saturating_add_signed(self.offset_ns + drifted as i64)
        }

        /// A request with this transit time and its answer; `busy_ns` pass between them.
        fn exchange(&mut self, to_ns: u64, busy_ns: u64, fro_ns: u64) -> Exchange {
            let t1_ns = self.now_ns;
            self.now_ns += to_ns;
            let t2_ns = self.theirs_ns();
            self.now_ns += busy_ns;
            let t3_ns = self.theirs_ns();
            self.now_ns += fro_ns;
            Exchange {
                t1_ns,
                t2_ns,
                t3_ns,
                t4_ns: self.now_ns,
                wall_ns: 0,
            }
        }
    }

    fn world(offset_ns: i64, drift_ppm: f64) -> World {
        World {
            now_ns: 100_000_000_000,
            offset_ns,
            drift_ppm,
        }
    }

    #[test]
    fn a_short_round_trip_counts_most() {
        let mut world = world(5_000_000_000, 0.0);
        let mut clocks = Clocks::default();
        assert_eq!(clocks.offset(), None);
        clocks.add(world.exchange(9_000_000, 50_000, 1_000_000));
        clocks.add(world.exchange(100_000, 70_000_000, 140_000));
        clocks.add(world.exchange(300_000, 0, 8_000_000));
        let offset = clocks.offset().unwrap();
        assert_eq!(offset.uncertainty_ns, 120_000 + 8 * 15, "8 ms ago");
        assert_eq!(offset.offset_ns, 5_000_000_000 - 20_000);
        assert_eq!(offset.exchanges, 3);
        assert_eq!(offset.ours_ns(5_000_000_000), 20_000);
    }

    #[test]
    fn a_drift_is_seen_with_its_uncertainty() {
        let mut world = world(-3_000_000, 40.0);
        let mut clocks = Clocks::default();
        clocks.add(world.exchange(100_000, 0, 100_000));
        let start = clocks.offset().unwrap();
        world.now_ns += 100_000_000_000;
        clocks.forget();
        clocks.add(world.exchange(300_000, 0, 50_000));
        let drift = start.drift_to(&clocks.offset().unwrap()).unwrap();
        // The ways differ by 0.25 ms, half of which counts, over 100 s.
        assert!((drift.ppm - 40.0).abs() < 1.3, "{drift:?}");
        assert!(drift.uncertainty_ppm < 3.0, "{drift:?}");
        assert!((drift.ppm - 40.0).abs() <= drift.uncertainty_ppm);
        assert_eq!(start.drift_to(&start), None);
    }

    #[test]
    fn what_an_exchange_tells_grows_old() {
        let mut world = world(1_000_000, 10.0);
        let mut clocks = Clocks::default();
        clocks.add(world.exchange(10_000, 0, 10_000));
        for second in 1..120 {
            world.now_ns += 1_000_000_000;
            clocks.add(world.exchange(100_000, 0, 100_000));
            let found = clocks.offset().unwrap();
            let true_ns = world.theirs_ns() as i64 - world.now_ns as i64;
            assert!((found.offset_ns - true_ns).unsigned_abs() <= found.uncertainty_ns);
            // 10 us and 15 us per second, until an exchange of 100 us is more accurate.
            let expected_ns = (10_000 + second * 15_003).min(100_003);
            assert!(found.uncertainty_ns.abs_diff(expected_ns) < 50, "{found:?}");
            assert!(found.exchanges <= 61, "a minute counts");
        }
    }

    #[test]
    fn the_time_of_day_is_corrected_by_half_the_way() {
        let mut clocks = Clocks::default();
        clocks.add(Exchange {
            t1_ns: 1_000,
            t2_ns: 5_000,
            t3_ns: 6_000,
            t4_ns: 4_000,
            wall_ns: -1_000,
        });
        assert_eq!(clocks.offset().unwrap().wall_ns, 0);
    }

    proptest! {
        #[test]
        fn the_truth_lies_within_the_uncertainty(
            offset_ns in -90_000_000_000i64..90_000_000_000,
            ways in proptest::collection::vec((0u64..50_000_000, 0u64..5_000_000, 0u64..50_000_000), 1..20),
        ) {
            let mut world = world(offset_ns, 0.0);
            let mut clocks = Clocks::default();
            for (to_ns, busy_ns, fro_ns) in ways {
                clocks.add(world.exchange(to_ns, busy_ns, fro_ns));
                world.now_ns += 1_000_000;
                let found = clocks.offset().unwrap();
                prop_assert!((found.offset_ns - offset_ns).unsigned_abs() <= found.uncertainty_ns);
            }
        }

        #[test]
        fn no_times_break_it(times in proptest::collection::vec(any::<(u64, u64, u64, u64, i64)>(), 0..10)) {
            let mut clocks = Clocks::default();
            for (t1_ns, t2_ns, t3_ns, t4_ns, wall_ns) in times {
                clocks.add(Exchange { t1_ns, t2_ns, t3_ns, t4_ns, wall_ns });
                if let Some(offset) = clocks.offset() {
                    let _ = offset.ours_ns(t3_ns);
                    let _ = offset.drift_to(&offset);
                }
            }
        }
    }
}
