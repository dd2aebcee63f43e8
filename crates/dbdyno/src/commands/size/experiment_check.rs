//! Whether an experiment can measure what a prediction needs, before it runs.

use std::collections::BTreeSet;

use blame::{Blame, Blamed};
use experiment::{DataSpec, Design, Experiment, PlannedRun, Repeats, ServerSpec};
use settings::{Rows, Size, quantity};
use sizing::{Error, Target};

/// Executions of a combination without which it has no interval.
const REPEATS_AT_LEAST: u32 = 2;

/// An error for an experiment whose records a prediction would refuse.
pub(super) fn check(experiment: &Experiment, target: &Target) -> Result<(), Blamed> {
    if target.limits().next().is_none() {
        return Err(Error::NoLimit.into());
    }
    let plan = experiment.plan();
    let refused = |message: &str, hint: &str| {
        let message = format!("{}: {message}", experiment.name());
        Err(Blamed::new(Blame::Input, message).hint(hint.to_owned()))
    };
    if plan.design != Design::Classical {
        return refused(
            "a prediction needs runs one after the other, and the design is \"side by side\"",
            "remove `design` from the file",
        );
    }
    if !matches!(plan.repeats, Repeats::Times(REPEATS_AT_LEAST..)) {
        return refused(
            "a prediction needs a fixed number of two or more executions of each combination",
            "for example repeats = 3",
        );
    }
    let runs: Vec<&PlannedRun> = first_block(experiment).collect();
    if runs.iter().any(|run| run.loads.len() != 1) {
        return refused(
            "a prediction needs one load, and the file has several",
            "write [load] instead of [[load]]",
        );
    }
    let mut loads = runs.iter().flat_map(|run| &run.loads);
    if loads.any(|load| load.spec.arrivals.rate_per_s().is_some()) {
        return refused(
            "the load has a fixed rate, so its throughput is not the highest that the server can do",
            "remove `rate` from [load]",
        );
    }
    if let Some(factor) = other_factor(&runs) {
        let message = format!(
            "the factor {factor} varies neither the connections nor the buffer pool nor the data"
        );
        return refused(&message, "give this factor a single level");
    }
    check_sizes(&runs, target)
}

/// The runs of one block: each combination once.
pub(super) fn first_block(experiment: &Experiment) -> impl Iterator<Item = &PlannedRun> {
    let runs = experiment.plan().runs.iter();
    runs.filter(|run| run.block == 1)
}

/// The buffer pool that a run sets, in bytes.
pub(super) fn buffer_pool_bytes(run: &PlannedRun) -> Option<u64> {
    let ServerSpec::Private { set, .. } = &run.server else {
        return None;
    };
    let mut options = set.iter();
    let (_, size) = options.find(|(name, _)| is_buffer_pool(name))?;
    quantity::bytes(size)
}

/// Whether an option, which may be written with dashes, is the size of the buffer pool.
pub(super) fn is_buffer_pool(option: &str) -> bool {
    option.replace('-', "_") == "innodb_buffer_pool_size"
}

/// Whether the size of a run's data is a multiple of its buffer pool.
pub(super) fn follows_buffer_pool(run: &PlannedRun) -> bool {
    let data = run.data.as_ref().map(|data| &data.source);
    let size = data.map(|source| source.kind.size(&source.values));
    matches!(size, Some(Size::Rows(Rows::TimesBufferPool(_))))
}

/// What tells the data of a run from other data: with the buffer pool, if its size follows it.
fn data_of(run: &PlannedRun) -> (Option<&DataSpec>, Option<u64>) {
    let pool = buffer_pool_bytes(run).filter(|_| follows_buffer_pool(run));
    (run.data.as_ref(), pool)
}

/// A factor in which two runs differ that have the same connections, buffer pool and data.
fn other_factor<'r>(runs: &[&'r PlannedRun]) -> Option<&'r str> {
    let is_alike = |a: &PlannedRun, b: &PlannedRun| {
        a.loads[0].spec.connections == b.loads[0].spec.connections
            && buffer_pool_bytes(a) == buffer_pool_bytes(b)
            && a.data == b.data
    };
    for (at, run) in runs.iter().copied().enumerate() {
        let mut earlier = runs[..at].iter().copied();
        let Some(other) = earlier.find(|other| is_alike(other, run)) else {
            continue;
        };
        let mut levels = run.combination.iter();
        let differing = levels.find(|(name, level)| other.combination.get(*name) != Some(*level));
        if let Some((factor, _)) = differing {
            return Some(factor);
        }
    }
    None
}

/// An error if several buffer pools or sizes of the data are measured, and the target names none.
fn check_sizes(runs: &[&PlannedRun], target: &Target) -> Result<(), Blamed> {
    let pools: BTreeSet<u64> = runs
        .iter()
        .filter_map(|run| buffer_pool_bytes(run))
        .collect();
    if target.buffer_pool().is_none()
        && let (Some(smallest), Some(largest)) = (pools.first(), pools.last())
        && smallest < largest
    {
        let [smallest, largest] = [*smallest, *largest].map(units::bytes);
        let measured = format!("buffer pools of {smallest} to {largest}");
        return Err(Error::MemoryMissing { measured }.into());
    }
    let mut data: Vec<(Option<&DataSpec>, Option<u64>)> = Vec::new();
    for run in runs {
        let of_run = data_of(run);
        if !data.contains(&of_run) {
            data.push(of_run);
        }
    }
    if data.len() > 1 && target.data_bytes.is_none() {
        let measured = format!("{} sizes", data.len());
        return Err(Error::DataMissing { measured }.into());
    }
    Ok(())
}
