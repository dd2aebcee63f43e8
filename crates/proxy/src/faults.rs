//! Faults on purpose: delays, limits and lost connections, the same with the same seed.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering::Relaxed},
};

use rand_xoshiro::{
    Xoshiro256PlusPlus,
    rand_core::{Rng, SeedableRng},
};
use reactor::Instant;

use crate::Delay;

/// Faults on purpose.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Faults {
    /// Delay of each command on its way to the server.
    pub delay: Delay,
    /// Commands per second, of all clients together.
    pub commands_per_s: Option<f64>,
    /// Bytes per second, of all clients together and in both directions.
    pub bytes_per_s: Option<u64>,
    /// Share of commands at which the connections are closed and the command is lost.
    pub drop_share: f64,
    /// Commands after which a session's connections are closed.
    pub kill_after: Option<u64>,
    /// Seed of delays and losses.
    pub seed: u64,
}

impl Faults {
    fn are_any(&self) -> bool {
        let Self { seed, .. } = *self;
        let none = Self {
            seed,
            ..Self::default()
        };
        *self != none
    }
}

/// What the sessions of all threads share.
#[derive(Debug)]
pub(crate) struct FaultInjector {
    faults: Faults,
    commands: Pace,
    bytes: Pace,
}

impl FaultInjector {
    /// `None` without faults.
    pub(crate) fn of(faults: &Faults) -> Option<Arc<Self>> {
        faults.are_any().then(|| {
            Arc::new(Self {
                commands: Pace::of(faults.commands_per_s),
                bytes: Pace::of(faults.bytes_per_s.map(|limit| limit as f64)),
                faults: faults.clone(),
            })
        })
    }

    /// The time until which bytes have to wait before they are sent.
    pub(crate) fn bytes_due(&self, now: Instant, count: usize) -> Instant {
        self.bytes.turn(now, count)
    }

    pub(crate) fn limits_bytes(&self) -> bool {
        self.faults.bytes_per_s.is_some()
    }
}

/// The faults of one session.
#[derive(Debug)]
pub(crate) struct SessionFaults {
    trouble: Arc<FaultInjector>,
    random: Xoshiro256PlusPlus,
    commands: u64,
}

/// What happens to a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CommandFault {
    /// It is sent at this time.
    Sent(Instant),
    /// The session ends.
    Lost,
}

impl SessionFaults {
    /// The faults of the session with this number.
    pub(crate) fn of(trouble: &Arc<FaultInjector>, session: u64) -> Self {
        Self {
            trouble: Arc::clone(trouble),
            random: random(trouble.faults.seed, session),
            commands: 0,
        }
    }

    /// What happens to the next command, which came now.
    pub(crate) fn next(&mut self, now: Instant) -> CommandFault {
        let faults = &self.trouble.faults;
        // Both are drawn each time, so that one option does not change what the other one draws.
        let (loss, varied) = (even(&mut self.random), even(&mut self.random));
        if loss < faults.drop_share || faults.kill_after == Some(self.commands) {
            return CommandFault::Lost;
        }
        self.commands += 1;
        let delay = faults.delay.drawn(varied);
        let turn = self.trouble.commands.turn(now, 1);
        CommandFault::Sent((now + delay).max(turn))
    }
}

pub(crate) fn random(seed: u64, session: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(seed ^ session.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

/// A number from 0 to below 1.
pub(crate) fn even(random: &mut Xoshiro256PlusPlus) -> f64 {
    let bits = (random.next_u64() >> 11) as f64;
    bits / (1_u64 << 53) as f64
}

/// A limit of something per second, as the time of the next one.
#[derive(Debug)]
struct Pace {
    cost_ns: f64,
    next_ns: AtomicU64,
}

impl Pace {
    fn of(per_s: Option<f64>) -> Self {
        Self {
            cost_ns: per_s.map_or(0.0, |per_s| 1e9 / per_s),
            next_ns: AtomicU64::new(0),
        }
    }

    /// The time of the next `count` things, which is taken.
    fn turn(&self, now: Instant, count: usize) -> Instant {
        let cost = (self.cost_ns * count as f64) as u64;
        let now = now.as_ns();
        let mut begin = now;
        // The closure never refuses.
        let _ = self.next_ns.fetch_update(Relaxed, Relaxed, |next| {
            begin = next.max(now);
            Some(begin.saturating_add(cost))
        });
        Instant::from_ns(begin)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn fates(faults: &Faults, session: u64) -> SessionFaults {
        SessionFaults::of(&FaultInjector::of(faults).unwrap(), session)
    }

    #[test]
    fn without_faults_there_is_no_trouble() {
        assert!(FaultInjector::of(&Faults::default()).is_none());
        let seeded = Faults {
            seed: 7,
            ..Faults::default()
        };
        assert!(FaultInjector::of(&seeded).is_none());
    }

    #[test]
    fn the_same_seed_has_the_same_faults() {
        let faults = Faults {
            delay: Delay {
                mean: Duration::from_millis(2),
                jitter: Duration::from_millis(1),
            },
            drop_share: 0.1,
            seed: 3,
            ..Faults::default()
        };
        let run = |session, faults: &Faults| {
            let mut fates = fates(faults, session);
            (0..500)
                .map(|_| fates.next(Instant::from_ns(0)))
                .collect::<Vec<_>>()
        };
        let first = run(1, &faults);
        assert_eq!(first, run(1, &faults));
        assert_ne!(first, run(2, &faults));
        let lost = first
            .iter()
            .filter(|fate| **fate == CommandFault::Lost)
            .count();
        assert!((20..100).contains(&lost), "{lost}");
        for fate in first {
            if let CommandFault::Sent(at) = fate {
                assert!((1_000_000..=3_000_000).contains(&at.as_ns()), "{at:?}");
            }
        }
    }

    #[test]
    fn a_rate_spreads_commands_and_a_session_ends_after_its_last() {
        let faults = Faults {
            commands_per_s: Some(1000.0),
            kill_after: Some(3),
            ..Faults::default()
        };
        let mut fates = fates(&faults, 1);
        let at = |ms: u64| Instant::from_ns(ms * 1_000_000);
        assert_eq!(fates.next(at(5)), CommandFault::Sent(at(5)));
        assert_eq!(fates.next(at(5)), CommandFault::Sent(at(6)));
        assert_eq!(fates.next(at(9)), CommandFault::Sent(at(9)));
        assert_eq!(fates.next(at(10)), CommandFault::Lost);
    }

    #[test]
    fn bytes_have_their_pace() {
        let faults = Faults {
            bytes_per_s: Some(1_000_000),
            ..Faults::default()
        };
        let trouble = FaultInjector::of(&faults).unwrap();
        let now = Instant::from_ns(10);
        assert_eq!(trouble.bytes_due(now, 5000), now);
        assert_eq!(trouble.bytes_due(now, 1), now + Duration::from_millis(5));
    }
}
