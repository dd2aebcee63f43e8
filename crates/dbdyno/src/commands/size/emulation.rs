//! The combinations of an experiment that emulate a target: a factor `emulated`, limits of the kernel and the target's
//! buffer pool.
//!
//! They belong to the blocks of the experiment, so that the speed of the machine is the same for the measured demands
//! and for the target that tests their prediction.

mod buffer_pool;
mod experiment_file;

use std::collections::{BTreeMap, BTreeSet};

use blame::{Blame, Blamed};
use experiment::{Experiment, PlannedRun, ServerSpec};
use settings::limits;
use sizing::{EMULATED, EMULATED_LEVELS, Target};
use toml_edit::DocumentMut;

use super::{emulating_machine::EmulatingMachine, experiment_check::first_block};
use buffer_pool::EmulatedPool;
use experiment_file::{
    add_facet, add_factor, exclude, factor_in, leader_of, limit_in, set_limit, zip_followers,
};

/// The fewest CPUs that the kernel is asked for.
const CPUS_AT_LEAST: f64 = 0.05;

/// Adds the combinations of a target to an experiment; returns the names in the target that they do not emulate, with the
/// reasons.
///
/// The target has the upper half of the numbers of connections: fewer do not reach its limits.
pub(super) fn add_target(
    file: &mut DocumentMut,
    base: &Experiment,
    target: &Target,
    machine: EmulatingMachine,
) -> Result<Vec<String>, Blamed> {
    let runs: Vec<&PlannedRun> = first_block(base).collect();
    check(&runs, base, file)?;
    let mut missing = Vec::new();
    let pool = EmulatedPool::of(file, &runs, target, machine, &mut missing);
    let mut followers = Vec::new();
    for (key, factor, wanted) in limit_values(target, machine, &mut missing) {
        if wanted.is_none() && factor != EMULATED {
            continue;
        }
        let unlimited = limit_in(file, key)?.unwrap_or_else(|| limits::NONE.to_owned());
        let emulated = wanted.unwrap_or_else(|| unlimited.clone());
        add_factor(file, factor, &EMULATED_LEVELS, &[unlimited, emulated]);
        set_limit(file, key, factor);
        followers.extend((factor != EMULATED).then(|| factor.to_owned()));
    }
    missing.extend(
        target
            .data_bytes
            .map(|_| "data (that of the experiment is used)".to_owned()),
    );
    missing.extend(target.fsync_s.map(|_| "fsync".to_owned()));
    missing.extend(target.net_bytes_per_s.map(|_| "net".to_owned()));
    followers.extend(pool.add(file));
    zip_followers(file, EMULATED, &followers);
    exclude_others(file, base, &runs, &pool);
    add_facet(file, EMULATED);
    Ok(missing)
}

/// An error if a target cannot be emulated by the servers of these runs.
fn check(runs: &[&PlannedRun], base: &Experiment, file: &DocumentMut) -> Result<(), Blamed> {
    let refused = |message: &str, hint: &str| {
        let message = format!("{}: {message}", base.name());
        Err(Blamed::new(Blame::Input, message).hint(hint.to_owned()))
    };
    let is_private = |run: &&PlannedRun| matches!(run.server, ServerSpec::Private { .. });
    if !runs.iter().all(is_private) {
        return refused(
            "a target is emulated by limits of the kernel, which need a private server",
            "--no-validate measures without them",
        );
    }
    if factor_in(file, EMULATED).is_some() {
        return refused(
            "the file already has a factor with the name emulated",
            "dbdyno run runs a file of dbdyno size again, and dbdyno size RESULTS predicts from its results",
        );
    }
    Ok(())
}

/// The key of a limit, the factor of its values, and the value of the target; `None` if it is not emulated.
type LimitValue = (&'static str, &'static str, Option<String>);

fn limit_values(
    target: &Target,
    machine: EmulatingMachine,
    missing: &mut Vec<String>,
) -> [LimitValue; 3] {
    let cpus = target.cpus.filter(|cpus| {
        let here = units::count(machine.cpus);
        if *cpus > machine.cpus {
            missing.push(format!("cpus (this machine has {here})"));
        } else if *cpus < CPUS_AT_LEAST {
            missing.push(format!("cpus (at least {CPUS_AT_LEAST})"));
        }
        // The machine itself is the limit if it has as many.
        (CPUS_AT_LEAST..machine.cpus).contains(cpus)
    });
    let mut of_disk = |key: &str, per_s: Option<f64>| {
        let whole = per_s.map(f64::round);
        let possible = whole.filter(|it| (1.0..=f64::from(u32::MAX)).contains(it));
        if whole.is_some() && possible.is_none() {
            missing.push(format!("{key} (at least 1)"));
        }
        possible.map(|it| format!("{it:.0}"))
    };
    [
        ("cpus", EMULATED, cpus.map(|cpus| cpus.to_string())),
        (
            "read_iops",
            "emulated_read_iops",
            of_disk("read_iops", target.read_iops),
        ),
        (
            "write_iops",
            "emulated_write_iops",
            of_disk("write_iops", target.write_iops),
        ),
    ]
}

/// Leaves out the combinations of the target with another buffer pool, with few connections, and with any but the last
/// levels of the other factors; and those of the experiment with a buffer pool that only the target has.
fn exclude_others(
    file: &mut DocumentMut,
    base: &Experiment,
    runs: &[&PlannedRun],
    pool: &EmulatedPool,
) {
    let [measured, emulated] = EMULATED_LEVELS;
    let mut left: Vec<&PlannedRun> = runs.to_vec();
    if let EmulatedPool::Level(level) = pool {
        let is_of_level =
            |run: &PlannedRun| run.combination.get(&level.factor) == Some(&level.label);
        let others = levels_of(&left, &level.factor);
        let others = others.into_iter().filter(|it| *it != level.label).collect();
        if level.is_new {
            let new = vec![level.label.clone()];
            let measured = vec![measured.to_owned()];
            exclude(file, &[(EMULATED, measured), (level.factor.as_str(), new)]);
        } else {
            left.retain(|run| is_of_level(run));
        }
        exclude_emulated(file, emulated, &level.factor, others);
    }
    let connections = connections_factor(file, base);
    for factor in base.factors().iter().map(|factor| factor.name.as_str()) {
        if pool.has_factor(factor) || connections.as_deref() == Some(factor) {
            continue;
        }
        let mut levels = levels_of(&left, factor);
        let Some(last) = levels.pop() else { continue };
        left.retain(|run| run.combination.get(factor) == Some(&last));
        exclude_emulated(file, emulated, factor, levels);
    }
    if let Some(factor) = connections {
        exclude_emulated(file, emulated, &factor, few_connections(&left, &factor));
    }
}

fn exclude_emulated(file: &mut DocumentMut, emulated: &str, factor: &str, levels: Vec<String>) {
    if !levels.is_empty() {
        let emulated = vec![emulated.to_owned()];
        exclude(file, &[(EMULATED, emulated), (factor, levels)]);
    }
}

/// The levels of a factor that occur in these runs, sorted by text.
fn levels_of(runs: &[&PlannedRun], factor: &str) -> Vec<String> {
    let levels = runs.iter().filter_map(|run| run.combination.get(factor));
    let levels: BTreeSet<&String> = levels.collect();
    levels.into_iter().cloned().collect()
}

/// The factor of the experiment that is the number of connections.
fn connections_factor(file: &DocumentMut, base: &Experiment) -> Option<String> {
    let written = file.get("load")?.get("connections")?.as_str()?;
    let name = leader_of(file, written.strip_prefix('{')?.strip_suffix('}')?);
    let mut factors = base.factors().iter();
    factors
        .find(|factor| factor.name == name)
        .map(|factor| factor.name.clone())
}

/// The levels of the lower half of the numbers of connections.
fn few_connections(runs: &[&PlannedRun], factor: &str) -> Vec<String> {
    let levels = runs.iter().filter_map(|run| {
        let level = run.combination.get(factor)?;
        Some((run.loads.first()?.spec.connections, level.clone()))
    });
    let levels: BTreeMap<u32, String> = levels.collect();
    let lower = levels.len() / 2;
    levels.into_values().take(lower).collect()
}

#[cfg(test)]
mod tests;
