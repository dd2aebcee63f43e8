//! Simulated eliminations on fabricated records, decided as `config prove` decides.

use rand_chacha::{
    ChaCha8Rng,
    rand_core::{Rng, SeedableRng},
};
use samples::Record;

use super::*;
use crate::{
    Budget, Execution, Metric, Question, answers, decided_combinations,
    testing::{RecordBuilder, record},
};

/// Names of the configurations of a round; the baseline is the first.
const NAMES: [&str; 12] = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11"];
const BLOCKS_AT_MOST: usize = 16;
/// Runs of 4 s deviate by 3 to 6 %: 16 blocks exclude a loss of this size, and hardly a smaller one.
const MARGIN: f64 = 0.15;
const PER_S: f64 = 400.0;

/// The staged my.cnf of the test matrix: how many of its parts help, and how many do nothing; the last one harms.
const HELPING: usize = 3;
const IDLE: usize = 5;

/// What a proof of the staged my.cnf recorded, 4 s a run on a quiet machine.
struct Recorded {
    server: &'static str,
    /// The effects of the helping lines, and of the harmful one, by the screening.
    effects: [f64; HELPING + 1],
    /// Updates per second of files that differ in nothing that matters, a line each, block by block.
    idle_per_s: [&'static [f64]; IDLE + 1],
}

const RECORDED: [Recorded; 2] = [
    Recorded {
        server: "MariaDB 10.11.18",
        effects: [10.84, 2.60, 3.78, 0.407],
        idle_per_s: [
            &[
                18096.0, 20814.0, 19951.0, 20943.0, 21806.0, 21866.0, 22001.0,
            ],
            &[
                19209.0, 19902.0, 19667.0, 20244.0, 20904.0, 21345.0, 21730.0,
            ],
            &[
                19872.0, 20635.0, 19824.0, 20128.0, 21272.0, 24048.0, 21849.0,
            ],
            &[
                19612.0, 20062.0, 20012.0, 21075.0, 21383.0, 22554.0, 21642.0,
            ],
            &[
                18723.0, 19002.0, 19702.0, 19815.0, 21185.0, 21890.0, 20271.0,
            ],
            &[
                18551.0, 21173.0, 19793.0, 20686.0, 20364.0, 22186.0, 22024.0,
            ],
        ],
    },
    Recorded {
        server: "MySQL 8.0.33",
        effects: [4.05, 1.36, 1.90, 0.753],
        idle_per_s: [
            &[8887.0, 8982.0, 8474.0, 7789.0, 8064.0],
            &[7590.0, 9103.0, 8086.0, 7587.0, 7669.0],
            &[8005.0, 8362.0, 9026.0, 7862.0, 8069.0],
            &[8235.0, 8733.0, 8815.0, 8780.0, 7499.0],
            &[8296.0, 8680.0, 8453.0, 6228.0, 7705.0],
            &[8852.0, 8017.0, 8631.0, 8329.0, 7671.0],
        ],
    },
];

impl Recorded {
    /// The effect of each part on throughput.
    fn staged(&self) -> Vec<f64> {
        let [helping @ .., harming] = self.effects;
        let idle = std::iter::repeat_n(1.0, IDLE);
        helping.into_iter().chain(idle).chain([harming]).collect()
    }

    /// Logarithms of single runs without the means of their file and of their block, as large as the degrees of freedom that
    /// these means took require.
    fn residuals(&self) -> Vec<f64> {
        let logs = self.idle_per_s.map(|file| {
            let logs = file.iter().map(|per_s| per_s.ln());
            logs.collect::<Vec<f64>>()
        });
        let (files, blocks) = (logs.len(), logs[0].len());
        let mean = |values: Vec<f64>| values.iter().sum::<f64>() / values.len() as f64;
        let of_block: Vec<f64> = (0..blocks)
            .map(|block| mean(logs.iter().map(|file| file[block]).collect()))
            .collect();
        let overall = mean(of_block.clone());
        let freedom = (files - 1) * (blocks - 1);
        let scale = ((files * blocks) as f64 / freedom as f64).sqrt();
        let mut residuals = Vec::new();
        for file in &logs {
            let of_file = mean(file.clone());
            let of_runs = file.iter().zip(&of_block);
            residuals.extend(of_runs.map(|(run, block)| (run - of_file - block + overall) * scale));
        }
        residuals
    }
}

/// A machine with noise: residuals are drawn anew for each run, and each block has a level of its own.
struct SimulatedMachine<'n> {
    effects: Vec<f64>,
    residuals: &'n [f64],
    random: ChaCha8Rng,
}

impl SimulatedMachine<'_> {
    fn residual(&mut self) -> f64 {
        let at = self.random.next_u64() % self.residuals.len() as u64;
        self.residuals[at as usize]
    }

    /// Measures a round, block after block, without the configurations that are decided.
    fn measure(&mut self, round: &Round) -> Vec<ComparedConfiguration> {
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
            ComparedConfiguration::of(parts.clone(), answer, round.others.len())
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
                let mut made = record(&RecordBuilder {
                    block,
                    levels: vec![("file", name)],
                    per_s: (PER_S * speed).round() as u64,
                    ..RecordBuilder::default()
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
        let mut world = SimulatedMachine {
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
        let is_named = harmful.is_none_or(|part| found.parts()[part].fate == PartStatus::Harms);
        let kept = found.shortest();
        counts.right += u32::from(is_named && *kept == (0..helping).collect::<Parts>());
        counts.false_keeps += u32::from(kept.iter().any(|part| effects[*part] == 1.0));
    }
    counts
}

fn trials(short: u32) -> u32 {
    let is_long = std::env::var_os("DBDYNO_TRUST").is_some();
    if is_long { 100 } else { short }
}

#[test]
fn trust_a_staged_file_is_cut_to_what_matters() {
    let trials = trials(2);
    for recorded in &RECORDED {
        let counts = simulate(trials, &recorded.residuals(), &recorded.staged(), HELPING);
        println!(
            "3 lines matter, 5 do not, 1 harms, {}: {counts:?}",
            recorded.server
        );
        assert!(counts.right * 10 >= trials * 9, "{counts:?}");
        assert_few_false_keeps(&counts);
    }
}

#[test]
fn trust_a_file_without_effect_is_cut_to_nothing() {
    let trials = trials(2);
    for recorded in &RECORDED {
        let counts = simulate(trials, &recorded.residuals(), &[1.0; 9], 0);
        println!("9 lines without effect, {}: {counts:?}", recorded.server);
        assert!(counts.undecided * 4 <= trials, "{counts:?}");
        assert_few_false_keeps(&counts);
    }
}

#[track_caller]
fn assert_few_false_keeps(counts: &Counts) {
    let allowed = at_most(counts.trials) * f64::from(counts.trials);
    assert!(f64::from(counts.false_keeps) <= allowed, "{counts:?}");
}

/// The share that a number of trials allows for a share of 5 %: three standard errors above.
pub(super) fn at_most(trials: u32) -> f64 {
    0.05 + 3.0 * (0.05 * 0.95 / f64::from(trials)).sqrt()
}
