//! Simulated trials of `sql advise --try`: candidates without an effect, and with one, on copies that differ a little.

use super::TimedFamily;
use crate::{decision::Decision, noise::Noise};

/// The terms of `sql advise --try`.
const MARGIN: f64 = 0.05;
const BLOCKS_AT_MOST: usize = 20;
const CANDIDATES: usize = 4;
/// Executions of a short statement in a block, of which the median counts.
const EXECUTIONS: usize = 9;

/// Deviation of one execution around its level.
const OF_EXECUTION: f64 = 0.04;
/// Deviation of a block, in which the machine is slower or faster for all sides.
const OF_BLOCK: f64 = 0.05;
/// Deviation of a side from the block's level, and of a copy from the other ones for good.
const OF_SIDE: f64 = 0.02;
const OF_COPY: f64 = 0.01;
/// Change of the level of a side over all blocks at most: what one copy gains by its caches, and another does not.
const DRIFT: f64 = 0.03;
/// One execution in this number is disturbed, and takes up to three times as long.
const OUTLIER_ONE_IN: f64 = 25.0;

/// The median of the executions of a block at a level, seconds: lognormal with outliers, the form of recorded times.
fn median(noise: &mut Noise, log_level: f64) -> f64 {
    let executions = (0..EXECUTIONS).map(|_| {
        let disturbed = if noise.share() * OUTLIER_ONE_IN < 1.0 {
            1.0 + 2.0 * noise.share()
        } else {
            1.0
        };
        disturbed * (log_level + OF_EXECUTION * noise.normal()).exp()
    });
    let mut times_s: Vec<f64> = executions.collect();
    times_s.sort_by(f64::total_cmp);
    times_s[times_s.len() / 2]
}

/// The decisions about candidates with these effects, tried together.
fn decisions(seed: u64, effects: [f64; CANDIDATES]) -> Vec<Decision> {
    let mut noise = Noise::new(seed);
    let mut family = TimedFamily::new(CANDIDATES, MARGIN, BLOCKS_AT_MOST, true).unwrap();
    let copies: Vec<f64> = (0..=CANDIDATES).map(|_| OF_COPY * noise.normal()).collect();
    let drifts: Vec<f64> = (0..=CANDIDATES)
        .map(|_| DRIFT * (2.0 * noise.share() - 1.0))
        .collect();
    for block in 0..BLOCKS_AT_MOST {
        let open: Vec<usize> = (0..CANDIDATES)
            .filter(|it| !family.is_decided(*it))
            .collect();
        if open.is_empty() {
            break;
        }
        let of_block = OF_BLOCK * noise.normal();
        let progress = block as f64 / BLOCKS_AT_MOST as f64;
        let mut time_s = |side: usize, effect: f64| {
            let of_side = copies[side] + drifts[side] * progress + OF_SIDE * noise.normal();
            median(&mut noise, 0.01_f64.ln() + of_block + of_side + effect.ln())
        };
        let baseline_s = time_s(0, 1.0);
        for candidate in open {
            let own_s = time_s(candidate + 1, effects[candidate]);
            family.add(candidate, (baseline_s, own_s));
        }
    }
    let compared = family.compared();
    compared
        .into_iter()
        .map(|it| it.unwrap().decision)
        .collect()
}

/// Candidates that count as proved, of this number with this effect.
fn proved(candidates: usize, effect: f64) -> usize {
    let trials = 0..(candidates / CANDIDATES) as u64;
    let all = trials.flat_map(|seed| decisions(seed, [effect; CANDIDATES]));
    all.filter(|it| *it == Decision::Faster).count()
}

#[test]
fn trust_useless_candidates_are_not_proved() {
    let is_long = std::env::var_os("DBDYNO_TRUST").is_some();
    let candidates = if is_long { 2000 } else { 200 };
    let wrong = proved(candidates, 1.0);
    println!("{wrong} of {candidates} candidates without an effect are proved");
    assert!(wrong * 20 <= candidates, "{wrong} of {candidates}");
}

#[test]
fn trust_candidates_that_help_are_proved() {
    let is_long = std::env::var_os("DBDYNO_TRUST").is_some();
    let candidates = if is_long { 400 } else { 40 };
    for (effect, percent_at_least) in [(0.5, 99), (0.8, 95)] {
        let right = proved(candidates, effect);
        println!("{right} of {candidates} candidates with {effect} times the time are proved");
        assert!(
            right * 100 >= candidates * percent_at_least,
            "{right} of {candidates}"
        );
    }
}
