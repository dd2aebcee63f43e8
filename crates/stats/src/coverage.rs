//! Coverage of the intervals of executions, by simulation.

use units::fine_percent;

use crate::{compare, compare_pairs, execution_mean, noise::Noise};

/// Number of intervals of a run.
const INTERVALS: usize = 60;

/// Noise of simulated executions: each is the mean of a run of 60 intervals, around a level that varies between
/// executions by as much as the intervals do.
pub(crate) struct ExecutionNoise {
    /// Name on the page.
    pub(crate) name: &'static str,
    /// Standard deviation of an interval, and of an execution, as a share.
    deviation: f64,
    /// Lag-1 correlation of the intervals.
    correlation: f64,
    /// Share of the executions that is 30 % slower.
    slow: f64,
}

const fn stationary(name: &'static str, deviation: f64, correlation: f64) -> ExecutionNoise {
    ExecutionNoise {
        name,
        deviation,
        correlation,
        slow: 0.0,
    }
}

const fn in_two_groups(name: &'static str, slow: f64) -> ExecutionNoise {
    ExecutionNoise {
        slow,
        ..stationary(name, 0.05, 0.0)
    }
}

/// The kinds of noise on the page.
pub(crate) const NOISES: [ExecutionNoise; 8] = [
    stationary("1 %", 0.01, 0.0),
    stationary("5 %", 0.05, 0.0),
    stationary("20 %", 0.2, 0.0),
    stationary("1 %, lag-1 0.8", 0.01, 0.8),
    stationary("5 %, lag-1 0.8", 0.05, 0.8),
    stationary("20 %, lag-1 0.8", 0.2, 0.8),
    in_two_groups("5 %, half of the executions 30 % slower", 0.5),
    in_two_groups("5 %, one execution in five 30 % slower", 0.2),
];

impl ExecutionNoise {
    fn execution(&self, noise: &mut Noise) -> f64 {
        let intervals = noise.autocorrelated(INTERVALS, self.correlation);
        let of_run = intervals.iter().sum::<f64>() / INTERVALS as f64;
        let level = match noise.uniform() {
            drawn if drawn < self.slow => 0.7,
            _ => 1.0,
        };
        level * (1.0 + self.deviation * (of_run + noise.normal())).max(0.05)
    }

    fn executions(&self, noise: &mut Noise, count: usize) -> Vec<f64> {
        (0..count).map(|_| self.execution(noise)).collect()
    }

    /// The number of 95 % intervals, among those of `experiments`, that contain the truth: of the mean of `count`
    /// executions, of the ratio of two sides in pairs, and of the ratio of two lists.
    pub(crate) fn held(&self, seed: u64, count: usize, experiments: usize) -> [usize; 3] {
        const MANY: usize = 20_000;
        let mut noise = Noise::new(seed);
        let logs = self.executions(&mut noise, MANY).into_iter().map(f64::ln);
        let truth = (logs.sum::<f64>() / MANY as f64).exp();
        let mut held = [0; 3];
        for _ in 0..experiments {
            let [a, b] = [(); 2].map(|()| self.executions(&mut noise, count));
            let (low, high) = execution_mean(&a, 0.95).unwrap().bounds.unwrap();
            held[0] += usize::from(low <= truth && truth <= high);
            let pairs: Vec<_> = a.iter().copied().zip(b.iter().copied()).collect();
            let ratios = [compare_pairs(&pairs, 0.95), compare(&a, &b, 0.95)];
            for (held, found) in held[1..].iter_mut().zip(ratios) {
                let ratio = found.unwrap().ratio;
                *held += usize::from(ratio.low <= 1.0 && 1.0 <= ratio.high);
            }
        }
        held
    }
}

/// The coverage that the page states for these intervals.
#[test]
fn trust_the_intervals_of_executions_hold() {
    let is_long = std::env::var_os("DBDYNO_TRUST").is_some();
    let experiments = if is_long { 10_000 } else { 1_000 };
    for noise in &NOISES {
        for (count, at_least) in [(3, 0.90), (5, 0.93), (12, 0.93)] {
            let held = noise.held(7_013, count, experiments);
            let [mean, pairs, lists] = held.map(|held| held as f64 / experiments as f64);
            println!(
                "{count} executions with noise of {}: the interval of a mean holds in {}, of a ratio of pairs in {}, of two lists \
                 in {}",
                noise.name,
                fine_percent(mean),
                fine_percent(pairs),
                fine_percent(lists)
            );
            let least = mean.min(pairs).min(lists);
            let is_promised = noise.slow == 0.0;
            assert!(
                !is_promised || least >= at_least,
                "{}, {count}: {least}",
                noise.name
            );
        }
    }
}
