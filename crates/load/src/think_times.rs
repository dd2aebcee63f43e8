//! The think times of users: how long each waits between two operations, drawn from a seed.

use std::time::Duration;

use rand_xoshiro::Xoshiro256PlusPlus;
use settings::{Arrivals, ThinkTime};

use crate::arrivals::{Share, exponential, stream};

/// The think times of one event loop's users, in the order in which they begin.
#[derive(Debug)]
pub(crate) struct ThinkTimes {
    time: ThinkTime,
    random: Xoshiro256PlusPlus,
}

impl ThinkTimes {
    /// The think times of one event loop's users; `None` where they do not think.
    pub(crate) fn new(arrivals: &Arrivals, seed: u64, share: Share) -> Option<Self> {
        match *arrivals {
            Arrivals::Thinking(time) => Some(Self {
                time,
                random: stream(seed, share.index),
            }),
            Arrivals::Closed | Arrivals::Open { .. } => None,
        }
    }

    pub(crate) fn next(&mut self) -> Duration {
        match self.time {
            ThinkTime::Fixed(time) => time,
            ThinkTime::Exponential(mean) => mean.mul_f64(exponential(&mut self.random)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arrivals::tests::kolmogorov_smirnov;

    #[test]
    fn think_times_have_their_mean() {
        let mean = Duration::from_millis(20);
        let exponential = Arrivals::Thinking(ThinkTime::Exponential(mean));
        let mut times = ThinkTimes::new(&exponential, 3, Share { index: 0, of: 1 }).unwrap();
        let times: Vec<f64> = (0..100_000).map(|_| times.next().as_secs_f64()).collect();
        let distance = kolmogorov_smirnov(times, |time| 1.0 - (-time / 0.02).exp());
        assert!(distance < 1.95, "{distance}");
        let fixed = Arrivals::Thinking(ThinkTime::Fixed(mean));
        assert_eq!(
            ThinkTimes::new(&fixed, 3, Share { index: 0, of: 1 })
                .unwrap()
                .next(),
            mean
        );
    }
}
