//! Error rates and power of the verdicts, over many simulated experiments with the noise of a shared machine.

use crate::{
    comparison::{compare, compare_pairs},
    noise::Noise,
    sequential::{Side, StoppingDecision, UntilDecided},
};

/// Number of experiments to simulate: `usual`, which a test simulates within a minute, or `DBDYNO_SIMULATIONS`.
pub(crate) fn experiments(usual: usize) -> usize {
    let asked = std::env::var("DBDYNO_SIMULATIONS");
    asked.map_or(usual, |count| {
        count.parse().expect("DBDYNO_SIMULATIONS is a number")
    })
}

/// A run whose throughput rises from 0.3 to 1 with a time constant of `tau_s`, with autocorrelated noise of 5 %.
pub(crate) fn warm_up(noise: &mut Noise, seconds: usize, tau_s: f64) -> Vec<f64> {
    let errors = noise.autocorrelated(seconds, 0.6);
    let level = |at: usize| {
        if tau_s > 0.0 {
            1.0 - 0.7 * (-(at as f64) / tau_s).exp()
        } else {
            1.0
        }
    };
    errors
        .iter()
        .enumerate()
        .map(|(at, error)| level(at) * (1.0 + 0.05 * error))
        .collect()
}

/// Executions on a shared machine: they differ by a few percent, each block has its own level that drifts from one to
/// the next, and one execution in twenty is disturbed and loses up to a third.
pub(crate) struct SharedMachine {
    noise: Noise,
    deviation: f64,
    /// Logarithm of the level of the current block.
    block: f64,
}

impl SharedMachine {
    pub(crate) fn new(seed: u64, deviation: f64) -> Self {
        Self {
            noise: Noise::new(seed),
            deviation,
            block: 0.0,
        }
    }

    fn execution(&mut self, level: f64) -> f64 {
        let disturbed = if self.noise.uniform() < 0.05 {
            (1.0 - 0.33 * self.noise.uniform()).ln()
        } else {
            0.0
        };
        (level.ln() + self.block + self.deviation * self.noise.normal() + disturbed).exp()
    }

    /// A block of both sides, with B's level at `factor` times A's.
    pub(crate) fn block(&mut self, factor: f64) -> (f64, f64) {
        self.block = 0.7 * self.block + 0.1 * self.noise.normal();
        (self.execution(40_000.0), self.execution(40_000.0 * factor))
    }
}

/// Share of A/A experiments, which compare a system with itself, that find a difference; all with one seed.
pub(crate) fn false_verdicts(seed: u64, experiments: usize, executions: usize) -> f64 {
    let deviations = [0.01, 0.05, 0.19];
    let wrong = (0..experiments).filter(|index| {
        let seed = seed * 1_000_000 + *index as u64;
        let mut machine = SharedMachine::new(seed, deviations[index % 3]);
        let pairs: Vec<_> = (0..executions).map(|_| machine.block(1.0)).collect();
        compare_pairs(&pairs, 0.95).is_some_and(|found| found.p_value < 0.05)
    });
    wrong.count() as f64 / experiments as f64
}

/// As [`false_verdicts`], but each experiment ends as soon as it is decided.
pub(crate) fn false_verdicts_with_peeking(
    seed: u64,
    experiments: usize,
    blocks_at_most: usize,
) -> f64 {
    let deviations = [0.01, 0.05, 0.19];
    let rule = UntilDecided::new(0.02, blocks_at_most, 0.05).expect("all are in range");
    let wrong = (0..experiments).filter(|index| {
        let seed = seed * 1_000_000 + *index as u64;
        let mut machine = SharedMachine::new(seed, deviations[index % 3]);
        let pairs: Vec<_> = (0..blocks_at_most).map(|_| machine.block(1.0)).collect();
        let standing = rule.judge(&pairs).expect("all values are positive");
        matches!(
            standing.step,
            StoppingDecision::Decided(Side::More | Side::Less)
        )
    });
    wrong.count() as f64 / experiments as f64
}

/// Share of experiments that find a slowdown of 5 % among executions that differ by 2 %: in pairs, without pairs, and
/// until decided, each with at most 12 executions per side.
pub(crate) fn found_slowdowns(seed: u64, experiments: usize) -> [f64; 3] {
    let rule = UntilDecided::new(0.02, 12, 0.05).expect("all are in range");
    let mut noise = Noise::new(seed);
    let mut found = [0_usize; 3];
    for _ in 0..experiments {
        let mut side = |level: f64| -> Vec<f64> {
            (0..12)
                .map(|_| level * (0.02 * noise.normal()).exp())
                .collect()
        };
        let (a, b) = (side(40_000.0), side(38_000.0));
        let pairs: Vec<_> = a.iter().copied().zip(b.iter().copied()).collect();
        let slower = |found: crate::Comparison| found.p_value < 0.05 && found.ratio.estimate < 1.0;
        found[0] += usize::from(compare_pairs(&pairs, 0.95).is_some_and(slower));
        found[1] += usize::from(compare(&a, &b, 0.95).is_some_and(slower));
        let standing = rule.judge(&pairs).expect("all values are positive");
        found[2] += usize::from(standing.step == StoppingDecision::Decided(Side::Less));
    }
    found.map(|count| count as f64 / experiments as f64)
}

mod tests {
    use units::fine_percent;

    use super::*;

    const SEEDS: [u64; 3] = [1, 2, 3];

    /// 6 % for a large number of experiments; for few, chance adds two percent.
    fn at_most(experiments: usize) -> f64 {
        if experiments >= 2_000 { 0.06 } else { 0.08 }
    }

    #[test]
    fn a_against_a_finds_nothing() {
        let count = experiments(2_000);
        for seed in SEEDS {
            for executions in [3, 5, 12] {
                let wrong = false_verdicts(seed, count, executions);
                assert!(
                    wrong <= at_most(count),
                    "{wrong} with {executions}, seed {seed}"
                );
            }
        }
    }

    #[test]
    fn a_against_a_finds_nothing_when_looked_at_after_every_block() {
        let count = experiments(2_000);
        for seed in SEEDS {
            for blocks_at_most in [5, 12, 40] {
                let wrong = false_verdicts_with_peeking(seed, count, blocks_at_most);
                assert!(
                    wrong <= at_most(count),
                    "{wrong} of {blocks_at_most}, seed {seed}"
                );
            }
        }
    }

    #[test]
    fn five_percent_are_found() {
        for found in found_slowdowns(4, experiments(2_000)) {
            assert!(found >= 0.9, "{found}");
        }
    }

    /// Normal noise alone, which gives more errors than the noise of a shared machine, at the level of one comparison
    /// and of one of four.
    #[test]
    fn trust_looks_after_every_block_err_as_often_as_one() {
        let is_long = std::env::var_os("DBDYNO_TRUST").is_some();
        let count = if is_long { 40_000 } else { 2_000 };
        for budget in [5, 12, 40] {
            for (deviation, margin) in [(0.05, 0.001), (0.02, 0.02)] {
                for alpha in [0.05, 0.0125] {
                    let rule = UntilDecided::new(margin, budget, alpha).unwrap();
                    let mut noise = Noise::new(5);
                    let wrong = (0..count).filter(|_| {
                        let mut run = || (deviation * noise.normal()).exp();
                        let pairs: Vec<_> = (0..budget).map(|_| (run(), run())).collect();
                        let step = rule.judge(&pairs).unwrap().step;
                        matches!(step, StoppingDecision::Decided(Side::More | Side::Less))
                    });
                    let share = wrong.count() as f64 / f64::from(count);
                    println!(
                        "until decided, at most {budget} blocks, noise {}, margin {}: {} called different (allowed: {})",
                        fine_percent(deviation),
                        fine_percent(margin),
                        fine_percent(share),
                        fine_percent(alpha)
                    );
                    let error = (alpha / f64::from(count)).sqrt();
                    assert!(share <= alpha + 3.0 * error, "{budget} {deviation} {share}");
                    assert!(!is_long || share <= alpha + 2.0 * error, "{budget} {share}");
                }
            }
        }
    }
}
