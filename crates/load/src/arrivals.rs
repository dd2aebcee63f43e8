//! The times at which operations of an open loop are due: arrival processes, pure functions of a seed.

use std::time::Duration;

use rand_xoshiro::{
    Xoshiro256PlusPlus,
    rand_core::{Rng, SeedableRng},
};
use settings::{Arrivals, Process};

use crate::{rate_course::RateCourse, stages::Stages};

/// The position of one event loop among all.
#[derive(Debug, Clone, Copy)]
pub struct Share {
    /// Its index, from 0.
    pub index: u32,
    /// Number of event loops.
    pub of: u32,
}

/// Keeps the times of arrivals apart from all else that is drawn from the same seed.
const ARRIVALS: u64 = u64::from_be_bytes(*b"arrivals");

/// When the operations of one event loop are due: an endless series of times since the start of the load.
#[derive(Debug, Clone)]
pub struct Schedule {
    numbers: Numbers,
    rate: RateCourse,
}

impl Schedule {
    /// What one event loop has to start, and when, of a load with this seed; `None` in a closed loop.
    ///
    /// With a constant rate each loop has every so-many-th arrival; with a Poisson process each has an independent
    /// one of its share of the rate, which together are a Poisson process of the whole rate.
    pub fn new(arrivals: &Arrivals, seed: u64, share: Share) -> Option<Self> {
        Self::in_stages(arrivals, &Stages::default(), seed, share)
    }

    /// The same with the rates of stages, where there are any.
    pub(crate) fn in_stages(
        arrivals: &Arrivals,
        stages: &Stages,
        seed: u64,
        share: Share,
    ) -> Option<Self> {
        let Arrivals::Open {
            rate_per_s,
            process,
        } = *arrivals
        else {
            return None;
        };
        let numbers = match process {
            Process::Constant => Numbers::Constant {
                next: share.index.into(),
                step: share.of.into(),
            },
            Process::Poisson => Numbers::Poisson {
                due: 0.0,
                mean_gap: share.of.into(),
                random: stream(seed, share.index),
            },
        };
        Some(Self {
            numbers,
            rate: RateCourse::of(rate_per_s, stages),
        })
    }
}

/// The places of one loop's operations among those of all loops; the rate turns them into times.
#[derive(Debug, Clone)]
enum Numbers {
    /// Each time is computed from its number, so nothing adds up over a long run.
    Constant { next: u64, step: u64 },
    /// Exponential gaps, of a mean of one operation over all loops together.
    Poisson {
        due: f64,
        mean_gap: f64,
        random: Xoshiro256PlusPlus,
    },
}

impl Iterator for Schedule {
    type Item = Duration;

    fn next(&mut self) -> Option<Duration> {
        let due = match &mut self.numbers {
            Numbers::Constant { next, step } => {
                let due = *next as f64;
                *next += *step;
                due
            }
            Numbers::Poisson {
                due,
                mean_gap,
                random,
            } => {
                *due += exponential(random) * *mean_gap;
                *due
            }
        };
        let at_ns = self.rate.at_ns(due);
        Some(Duration::from_nanos(at_ns.round() as u64))
    }
}

/// The random numbers of one event loop.
pub(crate) fn stream(seed: u64, event_loop: u32) -> Xoshiro256PlusPlus {
    // An odd constant far from small multiples: neighbouring seeds and loops must not share a stream.
    let own = u64::from(event_loop).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    Xoshiro256PlusPlus::seed_from_u64(seed ^ ARRIVALS ^ own)
}

/// An exponential deviate of mean 1.
pub(crate) fn exponential(random: &mut Xoshiro256PlusPlus) -> f64 {
    // In (0, 1], so that the logarithm is finite.
    let uniform = ((random.next_u64() >> 11) as f64 + 1.0) / (1_u64 << 53) as f64;
    -uniform.ln()
}

#[cfg(test)]
pub(crate) mod tests {
    use settings::{Level, PlannedStage, WarmUp};

    use super::*;

    const ARRIVALS: usize = 100_000;

    fn open(rate_per_s: f64, process: Process) -> Arrivals {
        Arrivals::Open {
            rate_per_s,
            process,
        }
    }

    /// The first arrivals of all loops together, in seconds.
    fn merged(arrivals: Arrivals, seed: u64, loops: u32) -> Vec<f64> {
        let mut times: Vec<f64> = (0..loops)
            .flat_map(|index| {
                let share = Share { index, of: loops };
                let schedule = Schedule::new(&arrivals, seed, share).unwrap();
                // More than its share, so that the merged series is whole up to its end.
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
    pub(crate) fn kolmogorov_smirnov(mut values: Vec<f64>, cdf: impl Fn(f64) -> f64) -> f64 {
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
            let times = merged(open(rate_per_s, Process::Poisson), seed, loops);
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
        let constant = merged(open(rate_per_s, Process::Constant), 0, 1);
        let exponential = |gap: f64| 1.0 - (-rate_per_s * gap).exp();
        assert!(kolmogorov_smirnov(gaps(&constant), exponential) > 100.0);
    }

    #[test]
    fn a_constant_rate_is_exact_however_many_loops_share_it() {
        for loops in [1, 2, 7] {
            let times = merged(open(30_000.0, Process::Constant), 0, loops);
            for (number, at) in times.iter().enumerate() {
                assert!(
                    (at - number as f64 / 30_000.0).abs() < 1e-9,
                    "{loops} loops"
                );
            }
        }
    }

    #[test]
    fn the_rates_of_stages_hold_however_many_loops_share_them() {
        let stage = |from, to, length_s| PlannedStage {
            connections: Level::constant(1),
            rate_per_s: Some(Level { from, to }),
            length: Duration::from_secs(length_s),
        };
        let plan = [stage(1_000.0, 3_000.0, 10), stage(500.0, 500.0, 10)];
        let stages = Stages::of(WarmUp::None, &plan);
        for process in [Process::Constant, Process::Poisson] {
            for loops in [1, 3] {
                let mut counts = [0_u32; 4];
                for index in 0..loops {
                    let share = Share { index, of: loops };
                    let arrivals = open(1_250.0, process);
                    let schedule = Schedule::in_stages(&arrivals, &stages, 11, share).unwrap();
                    for at in schedule.take_while(|at| at.as_secs() < 20) {
                        counts[at.as_secs() as usize / 5] += 1;
                    }
                }
                // Five standard deviations of a Poisson process.
                for (count, expected) in counts
                    .into_iter()
                    .zip([7_500.0, 12_500.0, 2_500.0, 2_500.0])
                {
                    let off = (f64::from(count) - expected).abs();
                    let allowed = match process {
                        Process::Constant => 1.0,
                        Process::Poisson => 5.0 * f64::sqrt(expected),
                    };
                    assert!(
                        off <= allowed,
                        "{process:?}, {loops} loops: {count} of {expected}"
                    );
                }
            }
        }
    }

    #[test]
    fn loops_and_seeds_have_streams_of_their_own() {
        let first = |seed, index| {
            let poisson = open(1.0, Process::Poisson);
            let schedule = Schedule::new(&poisson, seed, Share { index, of: 1 });
            schedule.unwrap().next()
        };
        assert_eq!(first(1, 0), first(1, 0));
        assert_ne!(first(1, 0), first(1, 1));
        assert_ne!(first(1, 0), first(2, 0));
    }
}
