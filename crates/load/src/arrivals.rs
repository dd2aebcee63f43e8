//! The times at which operations are due: arrival processes and think times, pure functions of a seed.

use std::time::Duration;

use rand_xoshiro::{
    Xoshiro256PlusPlus,
    rand_core::{Rng, SeedableRng},
};

/// The start times of operations.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Arrivals {
    /// A closed loop: each user starts its next operation when the previous one is done.
    Closed,
    /// A closed loop in which each user has a think time between two operations.
    Thinking(ThinkTime),
    /// An open loop: operations are due at equal intervals, whatever the server does.
    Constant {
        /// Operations per second, over all event loops.
        rate_per_s: f64,
    },
    /// An open loop: operations are due at random times, as with independent users.
    Poisson {
        /// Mean number of operations per second, over all event loops.
        rate_per_s: f64,
        /// Seed of the gaps.
        seed: u64,
    },
}

/// A user's think time between the end of an operation and the next one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ThinkTime {
    /// Always this time.
    Fixed(Duration),
    /// Exponentially distributed.
    Exponential {
        /// Mean think time.
        mean: Duration,
        /// Seed of the times.
        seed: u64,
    },
}

/// The position of one event loop among all.
#[derive(Debug, Clone, Copy)]
pub struct Share {
    /// Its index, from 0.
    pub index: u32,
    /// Number of event loops.
    pub of: u32,
}

impl Arrivals {
    /// The process by its name in the record: `closed`, `constant` or `poisson`.
    pub fn process(&self) -> &'static str {
        match self {
            Self::Closed | Self::Thinking(_) => "closed",
            Self::Constant { .. } => "constant",
            Self::Poisson { .. } => "poisson",
        }
    }

    /// Requested operations per second; `None` in a closed loop.
    pub fn rate_per_s(&self) -> Option<f64> {
        match *self {
            Self::Closed | Self::Thinking(_) => None,
            Self::Constant { rate_per_s } | Self::Poisson { rate_per_s, .. } => Some(rate_per_s),
        }
    }

    /// The operations that one event loop has to start, with their times; `None` in a closed loop.
    ///
    /// With a constant rate, n loops each have every n-th arrival; with a Poisson process each has an independent one
    /// with its share of the rate, which together are a Poisson process of the whole rate.
    pub fn schedule(&self, share: Share) -> Option<Schedule> {
        let process = match *self {
            Self::Closed | Self::Thinking(_) => return None,
            Self::Constant { rate_per_s } => Process::Constant {
                number: share.index.into(),
                step: share.of.into(),
                rate_per_s,
            },
            Self::Poisson { rate_per_s, seed } => Process::Poisson {
                at_ns: 0.0,
                mean_gap_ns: 1e9 * f64::from(share.of) / rate_per_s,
                random: stream(seed, share.index),
            },
        };
        Some(Schedule(process))
    }

    /// The think times of one event loop's users; `None` if they have none.
    pub(crate) fn think_times(&self, share: Share) -> Option<ThinkTimes> {
        let Self::Thinking(time) = *self else {
            return None;
        };
        let seed = match time {
            ThinkTime::Fixed(_) => 0,
            ThinkTime::Exponential { seed, .. } => seed,
        };
        Some(ThinkTimes {
            time,
            random: stream(seed, share.index),
        })
    }
}

/// The due times of one event loop's operations: an endless series of times since the start of the load.
#[derive(Debug, Clone)]
pub struct Schedule(Process);

#[derive(Debug, Clone)]
enum Process {
    /// Each time is computed from its index, so errors do not accumulate over a long run.
    Constant {
        number: u64,
        step: u64,
        rate_per_s: f64,
    },
    Poisson {
        at_ns: f64,
        mean_gap_ns: f64,
        random: Xoshiro256PlusPlus,
    },
}

impl Iterator for Schedule {
    type Item = Duration;

    fn next(&mut self) -> Option<Duration> {
        let at_ns = match &mut self.0 {
            Process::Constant {
                number,
                step,
                rate_per_s,
            } => {
                let at_ns = *number as f64 * 1e9 / *rate_per_s;
                *number += *step;
                at_ns
            }
            Process::Poisson {
                at_ns,
                mean_gap_ns,
                random,
            } => {
                *at_ns += exponential(random) * *mean_gap_ns;
                *at_ns
            }
        };
        Some(Duration::from_nanos(at_ns.round() as u64))
    }
}

/// The think times of one event loop's users, in the order in which they begin.
#[derive(Debug)]
pub(crate) struct ThinkTimes {
    time: ThinkTime,
    random: Xoshiro256PlusPlus,
}

impl ThinkTimes {
    pub(crate) fn next(&mut self) -> Duration {
        match self.time {
            ThinkTime::Fixed(time) => time,
            ThinkTime::Exponential { mean, .. } => mean.mul_f64(exponential(&mut self.random)),
        }
    }
}

/// The random numbers of one event loop.
fn stream(seed: u64, event_loop: u32) -> Xoshiro256PlusPlus {
    // An odd constant far from small multiples: neighbouring seeds and loops must not share a stream.
    let own = u64::from(event_loop).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    Xoshiro256PlusPlus::seed_from_u64(seed ^ own)
}

/// An exponential deviate of mean 1.
fn exponential(random: &mut Xoshiro256PlusPlus) -> f64 {
    // In (0, 1], so that the logarithm is finite.
    let uniform = ((random.next_u64() >> 11) as f64 + 1.0) / (1_u64 << 53) as f64;
    -uniform.ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ARRIVALS: usize = 100_000;

    /// The first arrivals of all loops together, in seconds.
    fn merged(arrivals: Arrivals, loops: u32) -> Vec<f64> {
        let mut times: Vec<f64> = (0..loops)
            .flat_map(|index| {
                let schedule = arrivals.schedule(Share { index, of: loops }).unwrap();
                // More than its share, so that the merged series is complete up to its end.
                schedule.take(ARRIVALS).map(|at| at.as_secs_f64())
            })
            .collect();
        times.sort_by(f64::total_cmp);
        times.truncate(ARRIVALS);
        times
    }

    /// Largest distance between the values' distribution and `cdf`, in units of 1 / sqrt(n): above 1.95 in one of 1,000
    /// samples from that distribution.
    ///
    /// Source: Kolmogorov, "Sulla determinazione empirica di una legge di distribuzione", 1933.
    fn kolmogorov_smirnov(mut values: Vec<f64>, cdf: impl Fn(f64) -> f64) -> f64 {
        values.sort_by(f64::total_cmp);
        let count = values.len() as f64;
        let distance = values
            .iter()
            .enumerate()
            .map(|(index, value)| {
                let truth = cdf(*value);
                (truth - index as f64 / count).max((index + 1) as f64 / count - truth)
            })
            .fold(0.0, f64::max);
        distance * count.sqrt()
    }

    fn gaps(times: &[f64]) -> Vec<f64> {
        times.windows(2).map(|pair| pair[1] - pair[0]).collect()
    }

    #[test]
    fn poisson_gaps_are_exponential_however_many_loops_share_them() {
        for (loops, seed) in [(1, 7), (2, 8), (3, 9), (16, 10)] {
            let rate_per_s = 5_000.0;
            let times = merged(Arrivals::Poisson { rate_per_s, seed }, loops);
            let distance = kolmogorov_smirnov(gaps(&times), |gap| 1.0 - (-rate_per_s * gap).exp());
            assert!(distance < 1.95, "{loops} loops: {distance}");
            let end = times[ARRIVALS - 1];
            let uniform = kolmogorov_smirnov(times, |at| at / end);
            assert!(
                uniform < 1.95,
                "{loops} loops: arrivals over time, {uniform}"
            );
        }
    }

    #[test]
    fn what_is_not_exponential_fails_the_same_test() {
        let rate_per_s = 5_000.0;
        let constant = merged(Arrivals::Constant { rate_per_s }, 1);
        let exponential = |gap: f64| 1.0 - (-rate_per_s * gap).exp();
        assert!(kolmogorov_smirnov(gaps(&constant), exponential) > 100.0);
    }

    #[test]
    fn a_constant_rate_is_exact_however_many_loops_share_it() {
        for loops in [1, 2, 7] {
            let times = merged(
                Arrivals::Constant {
                    rate_per_s: 30_000.0,
                },
                loops,
            );
            for (number, at) in times.iter().enumerate() {
                assert!(
                    (at - number as f64 / 30_000.0).abs() < 1e-9,
                    "{loops} loops"
                );
            }
        }
    }

    #[test]
    fn loops_and_seeds_have_streams_of_their_own() {
        let first = |seed, index| {
            let poisson = Arrivals::Poisson {
                rate_per_s: 1.0,
                seed,
            };
            poisson.schedule(Share { index, of: 1 }).unwrap().next()
        };
        assert_eq!(first(1, 0), first(1, 0));
        assert_ne!(first(1, 0), first(1, 1));
        assert_ne!(first(1, 0), first(2, 0));
    }

    #[test]
    fn think_times_have_their_mean() {
        let mean = Duration::from_millis(20);
        let exponential = Arrivals::Thinking(ThinkTime::Exponential { mean, seed: 3 });
        let mut times = exponential.think_times(Share { index: 0, of: 1 }).unwrap();
        let times: Vec<f64> = (0..ARRIVALS).map(|_| times.next().as_secs_f64()).collect();
        let distance = kolmogorov_smirnov(times, |time| 1.0 - (-time / 0.02).exp());
        assert!(distance < 1.95, "{distance}");
        let fixed = Arrivals::Thinking(ThinkTime::Fixed(mean));
        assert_eq!(
            fixed.think_times(Share { index: 0, of: 1 }).unwrap().next(),
            mean
        );
    }
}
