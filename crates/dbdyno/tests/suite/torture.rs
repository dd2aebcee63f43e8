//! Torture: dbdyno under hostile servers, broken networks, invalid input, signals at random moments, full disks and
//! memory limits.
//!
//! An ordinary test run executes short rounds, half a minute in all; `make torture SECONDS=3600` executes long ones. Case
//! `n` of a kind is the same for the same seed: a fault prints the command line that repeats its case. The kinds, by
//! their share of the time:
//! [`hostile`] damages single replies of a real server, [`wire`] the bytes of both directions, [`inputs`] mutates files
//! and options, [`kills`] sends signals at random moments, [`small_disks`] and [`memory`] limit space and memory.

#![expect(
    clippy::disallowed_methods,
    reason = "its bounds are those of the real clock"
)]

mod attack;
mod budget;
mod chance;
mod figures;
mod ground;
mod hostile;
mod inputs;
mod judgement;
mod kills;
mod memory;
mod mischief;
mod mutation;
mod packets;
mod relay;
mod small_disks;
mod trial;
mod wire;

use std::time::Instant;

use budget::Budget;
use figures::{Figures, Kind};
use ground::Ground;

/// The kinds, with the share of the time for each.
const SHARES: [(&str, f64); 6] = [
    ("hostile", 0.3),
    ("wire", 0.15),
    ("inputs", 0.2),
    ("kills", 0.2),
    ("disks", 0.1),
    ("memory", 0.05),
];

/// The kind with this name; an error if this machine does not permit it.
fn kind<'a>(name: &str, ground: &'a Ground, budget: &Budget) -> Result<Box<dyn Kind + 'a>, String> {
    Ok(match name {
        "hostile" => Box::new(hostile::Hostile::new(ground, budget)),
        "wire" => Box::new(wire::Wire::new(ground, budget).ok_or("no MariaDB is installed")?),
        "inputs" => Box::new(inputs::Inputs::new(ground)),
        "kills" => Box::new(kills::Kills::new(ground, budget)),
        "disks" => Box::new(small_disks::SmallDisks::new(ground)?),
        "memory" => {
            // A debug build reads a megabyte per second.
            let bytes = if budget.is_long() { 200 << 20 } else { 2 << 20 };
            Box::new(memory::Memory::new(ground, bytes)?)
        }
        other => panic!("there is no kind {other:?}"),
    })
}

#[test]
fn everything_is_survived() {
    let budget = Budget::read();
    let ground = Ground::new();
    let start = Instant::now();
    let is_asked = |name: &str| budget.only.as_deref().is_none_or(|only| only == name);
    let mut all = Vec::new();
    for (name, share) in SHARES {
        if !is_asked(name) {
            continue;
        }
        let share = if budget.only.is_some() { 1.0 } else { share };
        let time = budget.time.mul_f64(share);
        let figures = match kind(name, &ground, &budget) {
            Ok(kind) => Figures::of(&*kind, &budget, time),
            Err(why) => Figures::skipped(why),
        };
        all.push((name, figures));
    }
    let (mut cases, mut faults) = (0, 0);
    for (name, figures) in &all {
        eprintln!(
            "{name}: {} cases, {} faults\n{figures}",
            figures.cases, figures.faults
        );
        cases += figures.cases;
        faults += figures.faults;
    }
    eprintln!(
        "{cases} cases of {} kinds, {faults} faults, seed {}, {:.0} s",
        all.len(),
        budget.seed,
        start.elapsed().as_secs_f64()
    );
    let shown: String = all.iter().map(|(_, figures)| figures.shown()).collect();
    assert!(faults == 0, "{faults} faults\n{shown}");
}
