//! Simulated eliminations with few blocks and small effects: how often a finished one loses more than the margin.

use std::collections::BTreeMap;

use rand_chacha::{
    ChaCha8Rng,
    rand_core::{Rng, SeedableRng},
};
use stats::{Side, StoppingDecision, UntilDecided};

use super::{simulation::at_most, *};

const MARGIN: f64 = 0.03;
/// Throughput of 16 recorded executions of one configuration: the form of the noise, with its outliers.
const RECORDED_PER_S: [f64; 16] = [
    43809.0, 56387.0, 39271.0, 38082.0, 39981.0, 53551.0, 45694.0, 63710.0, 27372.0, 51042.0,
    40130.0, 47239.0, 41606.0, 40779.0, 40882.0, 46750.0,
];

/// The speed of a configuration.
type Speed = fn(&Parts) -> f64;

/// A machine, the configurations on it, and the size of a round.
struct SimulatedMachine {
    parts: usize,
    speed: Speed,
    /// Deviation of a run, as a share.
    deviation: f64,
    /// Most blocks of a round.
    blocks_at_most: usize,
    /// Blocks after which its time is spent.
    blocks: usize,
}

/// The noise and the rules of a world; the rules take more time than all else, and trials share them.
struct Trials<'w> {
    world: &'w SimulatedMachine,
    residuals: Vec<f64>,
    rules: BTreeMap<usize, UntilDecided>,
    random: ChaCha8Rng,
}

impl Trials<'_> {
    fn run(&mut self, parts: &Parts) -> f64 {
        let at = self.random.next_u64() % self.residuals.len() as u64;
        (self.world.speed)(parts) * (self.residuals[at as usize] * self.world.deviation).exp()
    }

    fn measure(&mut self, round: &Round) -> Vec<ComparedConfiguration> {
        let comparisons = round.others.len();
        let mut pairs = vec![Vec::new(); comparisons];
        for _ in 0..self.world.blocks.min(self.world.blocks_at_most) {
            let baseline = self.run(&round.baseline);
            for (pairs, other) in pairs.iter_mut().zip(&round.others) {
                pairs.push((baseline, self.run(other)));
            }
        }
        let alpha = 0.05 / comparisons as f64;
        let most = self.world.blocks_at_most;
        let rule = self.rules.entry(comparisons);
        let rule = rule.or_insert_with(|| UntilDecided::new(MARGIN, most, alpha).unwrap());
        let found = round.others.iter().zip(&pairs).map(|(parts, pairs)| {
            let standing = rule.judge(pairs).unwrap();
            ComparedConfiguration {
                parts: parts.clone(),
                decision: match standing.step {
                    StoppingDecision::Decided(Side::More) => Decision::Faster,
                    StoppingDecision::Decided(Side::Less) => Decision::Slower,
                    StoppingDecision::Decided(Side::Equivalent) => Decision::Equivalent,
                    StoppingDecision::Continue { .. } | StoppingDecision::Spent => {
                        Decision::Inconclusive
                    }
                },
                ratio: standing.comparison.map(|it| it.ratio),
                executions: standing.blocks,
                smallest: None,
            }
        });
        found.collect()
    }

    /// An elimination to its end.
    fn eliminate(&mut self) -> Elimination {
        let mut elimination = Elimination::new(self.world.parts, &Parts::new(), MARGIN);
        while let Some(round) = elimination.round().cloned() {
            let found = self.measure(&round);
            elimination.take(&found);
        }
        elimination
    }
}

/// What became of trials.
#[derive(Debug, Default)]
struct Counts {
    trials: u32,
    /// Finished: a shorter file is proposed.
    finished: u32,
    /// Finished, and slower than the whole configuration, or than that without what harms, by more than the margin.
    lost: u32,
}

fn simulate(world: &SimulatedMachine, trials: u32) -> Counts {
    let mut counts = Counts::default();
    let mut made = Trials {
        world,
        residuals: residuals(),
        rules: BTreeMap::new(),
        random: ChaCha8Rng::seed_from_u64(7),
    };
    for _ in 0..trials {
        let found = made.eliminate();
        counts.trials += 1;
        if !found.is_finished() {
            continue;
        }
        counts.finished += 1;
        let longer = [found.whole(), found.sound_parts()].map(|it| (world.speed)(&it));
        let best = longer[0].max(longer[1]);
        let is_lost = (world.speed)(found.shortest()) * (1.0 + MARGIN) < best;
        counts.lost += u32::from(is_lost);
    }
    counts
}

/// Logarithms of single runs around their mean, with a standard deviation of 1.
fn residuals() -> Vec<f64> {
    let logs: Vec<f64> = RECORDED_PER_S.iter().map(|it| it.ln()).collect();
    let count = logs.len() as f64;
    let mean = logs.iter().sum::<f64>() / count;
    let squares: f64 = logs.iter().map(|it| (it - mean).powi(2)).sum();
    let deviation = (squares / (count - 1.0)).sqrt();
    logs.iter().map(|it| (it - mean) / deviation).collect()
}

fn product(parts: &Parts, factors: &[f64]) -> f64 {
    parts.iter().map(|part| factors[*part]).product()
}

/// Worlds by name.
const SPEEDS: [(&str, usize, Speed); 5] = [
    ("one line worth 90 %", 4, |it| {
        product(it, &[1.9, 1.0, 1.0, 1.0])
    }),
    ("effects of 5 to 10 %", 6, |it| {
        product(it, &[1.05, 1.07, 1.1, 1.0, 1.0, 0.93])
    }),
    ("four lines worth 2 % each", 4, |it| product(it, &[1.02; 4])),
    ("just more than the margin", 2, |it| {
        product(it, &[1.035, 1.0])
    }),
    ("two lines that replace each other", 4, |it| {
        let either = it.contains(&0) || it.contains(&1);
        if either { 1.08 } else { 1.0 }
    }),
];

#[test]
fn trust_a_finished_elimination_loses_no_more_than_the_margin() {
    let is_long = std::env::var_os("DBDYNO_TRUST").is_some();
    let trials = if is_long { 400 } else { 40 };
    let lengths: &[[usize; 2]] = if is_long {
        &[[3, 3], [4, 4], [5, 5], [6, 6], [12, 3], [12, 4], [12, 6]]
    } else {
        &[[3, 3], [6, 6], [12, 4]]
    };
    let (mut finished, mut all) = (0, 0);
    for (name, parts, speed) in SPEEDS {
        for [blocks_at_most, blocks] in lengths.iter().copied() {
            for deviation in [0.005, 0.02, 0.05] {
                let world = SimulatedMachine {
                    parts,
                    speed,
                    deviation,
                    blocks_at_most,
                    blocks,
                };
                let counts = simulate(&world, trials);
                println!("{name}, {blocks} of {blocks_at_most} blocks, {deviation}: {counts:?}");
                let allowed = at_most(trials);
                let lost = f64::from(counts.lost) / f64::from(trials);
                assert!(lost <= allowed, "{name}: {counts:?}");
                finished += counts.finished;
                all += trials;
            }
        }
    }
    // Where nothing were ever finished, nothing would be lost either.
    assert!(finished * 10 > all, "{finished} of {all}");
}
