//! The configured behaviour of the null server: delays, limited resources, stalls, a freeze, errors and dropped
//! connections.

use std::time::Duration;

use rand_xoshiro::{
    Xoshiro256PlusPlus,
    rand_core::{Rng, SeedableRng},
};
use reactor::Instant;

use super::service_law::{ServiceLaw, ServiceQueues};

/// The execution time of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delay {
    Fixed(Duration),
    /// Exponentially distributed with this mean.
    Exponential(Duration),
}

/// A cold start with empty caches: statements take longer at first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ColdStart {
    /// Additional time of the first statement.
    pub extra: Duration,
    /// Time after which the additional time has fallen to 37 %; above zero.
    pub time_constant: Duration,
}

impl ColdStart {
    /// Additional time of a statement at `time` after the first one.
    fn extra_after(&self, time: Duration) -> Duration {
        let constants = time.as_secs_f64() / self.time_constant.as_secs_f64();
        self.extra.mul_f64((-constants).exp())
    }
}

/// Periodic pauses in which nothing is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stalls {
    /// Time from the first statement to the first stall, and from the start of one stall to that of the next.
    pub every: Duration,
    /// Duration of each stall, below `every`.
    pub length: Duration,
}

/// A single pause in which nothing is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Freeze {
    /// Time from the first statement to the start of the pause.
    pub at: Duration,
    pub length: Duration,
}

/// The configured behaviour towards statements.
#[derive(Debug, Clone, Default)]
pub struct Behaviour {
    /// Execution time of a statement; connections do not wait for each other.
    pub delay: Option<Delay>,
    /// Resources at which statements wait for each other, before their delay; `None` for none.
    pub law: Option<ServiceLaw>,
    /// Additional time of the first statements; `None` for none.
    pub chill: Option<ColdStart>,
    pub stalls: Option<Stalls>,
    pub freeze: Option<Freeze>,
    /// Number of statements answered immediately before any of this behaviour starts.
    pub spare: u64,
    /// Share of the statements that fail, 0 to 1.
    pub error_rate: f64,
    /// Share of the statements answered by closing the connection, 0 to 1.
    pub drop_rate: f64,
    /// Delay before the server reads received data.
    pub read_delay: Duration,
    /// Seed of delays, errors and drops.
    pub seed: u64,
}

/// The outcome of one statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StatementOutcome {
    Answer,
    Error,
    Drop,
}

pub(super) struct BehaviourState {
    behaviour: Behaviour,
    queues: Option<ServiceQueues>,
    random: Xoshiro256PlusPlus,
    first_statement: Option<Instant>,
    spared: u64,
}

impl BehaviourState {
    pub(super) fn new(behaviour: Behaviour) -> Self {
        Self {
            random: Xoshiro256PlusPlus::seed_from_u64(behaviour.seed),
            queues: behaviour.law.map(ServiceQueues::new),
            first_statement: None,
            spared: 0,
            behaviour,
        }
    }

    /// Whether all statements are answered immediately.
    pub(super) fn is_plain(&self) -> bool {
        let Behaviour {
            delay,
            law,
            chill,
            stalls,
            freeze,
            error_rate,
            drop_rate,
            ..
        } = &self.behaviour;
        let is_prompt = delay.is_none() && law.is_none() && chill.is_none();
        is_prompt && stalls.is_none() && freeze.is_none() && *error_rate == 0.0 && *drop_rate == 0.0
    }

    /// The time of the answer to a statement received at this time, and its outcome.
    pub(super) fn decide(&mut self, received: Instant) -> (Instant, StatementOutcome) {
        if self.spared < self.behaviour.spare {
            self.spared += 1;
            return (received, StatementOutcome::Answer);
        }
        let first = *self.first_statement.get_or_insert(received);
        let arrival = received - first;
        let queues = self.queues.as_mut();
        let served = queues.map_or(arrival, |queues| queues.serve(arrival));
        let delay = match self.behaviour.delay {
            None => Duration::ZERO,
            Some(Delay::Fixed(delay)) => delay,
            Some(Delay::Exponential(mean)) => mean.mul_f64(-(1.0 - self.draw()).ln()),
        };
        let chill = self.behaviour.chill.as_ref();
        let work = delay + chill.map_or(Duration::ZERO, |it| it.extra_after(arrival));
        let work = (served - arrival).saturating_add(work);
        let fate = match self.draw() {
            draw if draw < self.behaviour.drop_rate => StatementOutcome::Drop,
            draw if draw < self.behaviour.drop_rate + self.behaviour.error_rate => {
                StatementOutcome::Error
            }
            _ => StatementOutcome::Answer,
        };
        (first + self.thawed((received + work) - first), fate)
    }

    /// Page reads of the statements so far; `None` without a law that has reads.
    pub(super) fn page_reads(&self) -> Option<u64> {
        self.queues.as_ref()?.page_reads()
    }

    /// The same time after the first statement, or the end of the pause that contains it.
    fn thawed(&self, mut at: Duration) -> Duration {
        if let Some(Stalls { every, length }) = self.behaviour.stalls
            && at >= every
        {
            let count = at.as_nanos() / every.as_nanos().max(1);
            let begin = every.saturating_mul(u32::try_from(count).unwrap_or(u32::MAX));
            at = at.max(begin + length);
        }
        match self.behaviour.freeze {
            Some(Freeze { at: begin, length }) if (begin..begin + length).contains(&at) => {
                begin + length
            }
            _ => at,
        }
    }

    /// A uniform number from 0 to 1, 1 excluded.
    fn draw(&mut self) -> f64 {
        (self.random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::null_server::service_law::{CpuDemand, ReadDemand};

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn pauses_end_when_they_should() {
        let mut conduct = BehaviourState::new(Behaviour {
            stalls: Some(Stalls {
                every: ms(100),
                length: ms(10),
            }),
            freeze: Some(Freeze {
                at: ms(150),
                length: ms(20),
            }),
            delay: Some(Delay::Fixed(ms(1))),
            ..Behaviour::default()
        });
        let start = Instant::from_ns(5);
        let cases = [
            (0, 1),
            (98, 99),
            (99, 110),
            (108, 110),
            (109, 110),
            (110, 111),
            (148, 149),
            (149, 170),
            (168, 170),
            (169, 170),
            (199, 210),
            (1005, 1010),
        ];
        for (received, answered) in cases {
            let (at, fate) = conduct.decide(start + ms(received));
            assert_eq!(
                (at - start, fate),
                (ms(answered), StatementOutcome::Answer),
                "{received}"
            );
        }
    }

    #[test]
    fn a_cold_server_gets_faster() {
        let mut conduct = BehaviourState::new(Behaviour {
            delay: Some(Delay::Fixed(ms(1))),
            chill: Some(ColdStart {
                extra: ms(100),
                time_constant: ms(2000),
            }),
            ..Behaviour::default()
        });
        assert!(!conduct.is_plain());
        let start = Instant::from_ns(5);
        for (after, took_us) in [(0, 101_000), (2_000, 37_787), (20_000, 1_005)] {
            let received = start + ms(after);
            let (at, _) = conduct.decide(received);
            let off_us = ((at - received).as_micros() as i64 - took_us).abs();
            assert!(off_us <= 2, "after {after} ms: off by {off_us} us");
        }
    }

    #[test]
    fn statements_wait_for_a_resource_and_not_for_a_delay() {
        let mut conduct = BehaviourState::new(Behaviour {
            delay: Some(Delay::Fixed(ms(3))),
            law: Some(ServiceLaw {
                cpu: Some(CpuDemand {
                    cpus: 1,
                    time: ms(10),
                }),
                reads: Some(ReadDemand {
                    per_statement: 1.5,
                    iops: None,
                }),
                ..ServiceLaw::default()
            }),
            spare: 1,
            ..Behaviour::default()
        });
        assert!(!conduct.is_plain());
        assert_eq!(conduct.page_reads(), Some(0));
        let start = Instant::from_ns(5);
        // The first statement is spared.
        for (received, answered) in [(0, 0), (100, 113), (100, 123), (200, 213)] {
            let (at, _) = conduct.decide(start + ms(received));
            assert_eq!(at - start, ms(answered), "{received}");
        }
        // 3 · 1.5, rounded down.
        assert_eq!(conduct.page_reads(), Some(4));
    }

    #[test]
    fn rates_and_delays_are_those_that_were_asked_for() {
        let mut conduct = BehaviourState::new(Behaviour {
            delay: Some(Delay::Exponential(ms(2))),
            error_rate: 0.1,
            drop_rate: 0.05,
            seed: 7,
            ..Behaviour::default()
        });
        assert!(!conduct.is_plain());
        let start = Instant::from_ns(1);
        let (mut errors, mut drops, mut sum) = (0, 0, Duration::ZERO);
        for _ in 0..100_000 {
            let (at, fate) = conduct.decide(start);
            errors += i32::from(fate == StatementOutcome::Error);
            drops += i32::from(fate == StatementOutcome::Drop);
            sum += at - start;
        }
        assert!((9_700..10_300).contains(&errors), "{errors}");
        assert!((4_800..5_200).contains(&drops), "{drops}");
        let mean_us = (sum / 100_000).as_micros();
        assert!((1_950..2_050).contains(&mean_us), "{mean_us}");
    }
}
