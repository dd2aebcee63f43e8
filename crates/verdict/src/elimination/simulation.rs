//! Simulated eliminations on fabricated records, decided as `config prove` decides.

use rand_chacha::{
    ChaCha8Rng,
    rand_core::{Rng, SeedableRng},
};
use samples::Record;

use super::*;
use crate::{
    Budget, Execution, Metric, Question, answers, decided_combinations,
    testing::{Made, record},
};

/// Names of the configurations of a round; the baseline is the first.
const NAMES: [&str; 12] = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11"];
const BLOCKS_AT_MOST: usize = 12;
/// With runs that deviate by [`DEVIATION`], [`BLOCKS_AT_MOST`] blocks exclude a loss of this size, and hardly a smaller one.
const MARGIN: f64 = 0.12;
const PER_S: f64 = 400.0;

/// The staged my.cnf: the effect of each part on throughput.
const HELPING: [f64; 3] = [1.9, 1.35, 1.2];
const HARMING: f64 = 0.8;
const IDLE: usize = 5;

/// A machine with noise: residuals are drawn anew for each run, and each block has a level of its own.
struct World<'n> {
    effects: Vec<f64>,
    residuals: &'n [f64],
    random: ChaCha8Rng,
}

impl World<'_> {
    fn residual(&mut self) -> f64 {
        let at = self.random.next_u64() % self.residuals.len() as u64;
        self.residuals[at as usize]
    }

    /// Measures a round, block after block, without the configurations that are decided.
    fn measure(&mut self, round: &Round) -> Vec<Measured> {
        let all: Vec<&Parts> = std::iter::once(&round.baseline)
            .chain(&round.others)
            .collect();
        let question = Question {
            metric: Metric::Throughput,
            baseline: vec![("file".to_owned(), NAMES[0].to_owned())],
            min_effect: MARGIN,
            until_decided: Some(Budget {
                blocks: BLOCKS_AT_MOST,
                time_is_spent: false,
            }),
        };
        let records = self.records(&all);
        let executions: Vec<_> = records.iter().map(|it| Execution::of(it, 1)).collect();
        let mut done: Vec<Execution<'_>> = Vec::new();
        for block in executions.chunks(all.len()) {
            let decided = decided_combinations(&question, &done);
            if decided.len() == round.others.len() {
                break;
            }
            let left_out = |it: &&Execution<'_>| decided.contains(&it.record.header.combination);
            done.extend(block.iter().filter(|it| !left_out(it)).cloned());
        }
        let answered = answers(&question, &done);
        let found = round.others.iter().zip(&NAMES[1..]).map(|(parts, name)| {
            let answer = answered.iter().find(|it| it.levels[0].1 == *name).unwrap();
            Measured::of(parts.clone(), answer, round.others.len())
        });
        found.collect()
    }

    /// Every execution that the budget allows, block after block.
    fn records(&mut self, files: &[&Parts]) -> Vec<Record> {
        let mut records: Vec<Record> = Vec::new();
        for block in 1..=BLOCKS_AT_MOST as u32 {
            let level = self.residual();
            for (parts, name) in files.iter().zip(NAMES) {
                let effect: f64 = parts.iter().map(|part| self.effects[*part].ln()).sum();
                let speed = (effect + level + self.residual()).exp();
                let mut made = record(&Made {
                    block,
                    levels: vec![("file", name)],
                    per_s: (PER_S * speed).round() as u64,
                    ..Made::default()
                });
                made.header.run = records.len() as u32 + 1;
                records.push(made);
            }
        }
        records
    }

    fn eliminate(&mut self) -> Elimination {
        let mut elimination = Elimination::new(self.effects.len(), &Parts::new(), MARGIN);
        while let Some(round) = elimination.round().cloned() {
            let found = self.measure(&round);
            elimination.take(&found);
        }
        elimination
    }
}

/// Numbers of trials of the staged file.
#[derive(Debug, Default)]
struct Counts {
    trials: u32,
    /// Not finished: no file is proposed.
    undecided: u32,
    /// Exactly the helping parts are kept, and the harmful one is named.
    right: u32,
    /// An idle part is kept.
    false_keeps: u32,
}

fn simulate(trials: u32, residuals: &[f64], effects: &[f64], helping: usize) -> Counts {
    let mut counts = Counts::default();
    for seed in 0..trials {
        let mut world = World {
            effects: effects.to_vec(),
            residuals,
            random: ChaCha8Rng::seed_from_u64(seed.into()),
        };
        let found = world.eliminate();
        counts.trials += 1;
        if !found.is_finished() {
            counts.undecided += 1;
            continue;
        }
        let harmful = effects.iter().position(|effect| *effect < 1.0);
        let is_named = harmful.is_none_or(|part| found.parts()[part].fate == Fate::Harms);
        let kept = found.shortest();
        counts.right += u32::from(is_named && *kept == (0..helping).collect::<Parts>());
        counts.false_keeps += u32::from(kept.iter().any(|part| effects[*part] == 1.0));
    }
    counts
}

fn staged() -> Vec<f64> {
    let idle = std::iter::repeat_n(1.0, IDLE);
    HELPING.into_iter().chain(idle).chain([HARMING]).collect()
}

/// Throughput of 16 recorded executions of one configuration: the form of the noise, with its outliers.
const RECORDED_PER_S: [f64; 16] = [
    43809.0, 56387.0, 39271.0, 38082.0, 39981.0, 53551.0, 45694.0, 63710.0, 27372.0, 51042.0,
    40130.0, 47239.0, 41606.0, 40779.0, 40882.0, 46750.0,
];
/// Deviation of a run on a quiet machine: the two identical my.cnf of docs/compare.md, 0.94 to 1.06 by 8 pairs.
const DEVIATION: f64 = 0.05;

/// Logarithms of single runs around their mean, with this standard deviation.
pub(super) fn residuals(deviation: f64) -> Vec<f64> {
    let logs: Vec<f64> = RECORDED_PER_S.iter().map(|it| it.ln()).collect();
    let count = logs.len() as f64;
    let mean = logs.iter().sum::<f64>() / count;
    let squares: f64 = logs.iter().map(|it| (it - mean).powi(2)).sum();
    let scale = deviation / (squares / (count - 1.0)).sqrt();
    logs.iter().map(|it| (it - mean) * scale).collect()
}

fn trials(short: u32) -> u32 {
    let is_long = std::env::var_os("DBDYNO_TRUST").is_some();
    if is_long { 100 } else { short }
}

#[test]
fn trust_a_staged_file_is_cut_to_what_matters() {
    let trials = trials(2);
    let counts = simulate(trials, &residuals(DEVIATION), &staged(), HELPING.len());
    println!("a file with 3 lines that matter, 5 that do not and 1 that harms: {counts:?}");
    assert!(counts.right * 10 >= trials * 9, "{counts:?}");
    assert!(
        f64::from(counts.false_keeps) <= at_most(trials) * f64::from(trials),
        "{counts:?}"
    );
}

#[test]
fn trust_a_file_without_effect_is_cut_to_nothing() {
    let trials = trials(2);
    let counts = simulate(trials, &residuals(DEVIATION), &[1.0; 9], 0);
    println!("a file of 9 lines without effect: {counts:?}");
    assert!(counts.undecided * 4 <= trials, "{counts:?}");
    assert!(
        f64::from(counts.false_keeps) <= at_most(trials) * f64::from(trials),
        "{counts:?}"
    );
}

/// The share that a number of trials allows for a share of 5 %: three standard errors above.
pub(super) fn at_most(trials: u32) -> f64 {
    0.05 + 3.0 * (0.05 * 0.95 / f64::from(trials)).sqrt()
}
