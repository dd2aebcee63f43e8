//! Contradictions between the records of an experiment.

use std::collections::{BTreeMap, BTreeSet};

use samples::is_of_the_instance;
use units::moment;

use super::course::fingerprint_of;
use crate::{
    run::Run,
    session::{one_of_each, span_s},
    set::Set,
};

/// Seconds by which a run may seem to begin before the end of another: the first line is written in whole seconds, and a
/// clock may be set.
const OVERLAP_S: f64 = 2.0;
/// Intervals that two runs have in common by chance: none; one may be by a fault.
const COMMON_AT_MOST: usize = 1;

/// Two runs with the same measurements: independent runs never agree to the nanosecond.
pub(super) fn same(set: &Set<'_>) -> Option<String> {
    let mut known: BTreeMap<Vec<(u64, u64)>, &Run<'_>> = BTreeMap::new();
    for run in &set.runs {
        let operations = run.measured().flat_map(|it| &it.operations);
        let figures: Vec<(u64, u64)> = operations.map(|it| (it.count, it.sum_ns)).collect();
        // A small number of operations may agree by chance.
        let says_something = figures.iter().map(|(count, _)| count).sum::<u64>() >= 100;
        if says_something && let Some(first) = known.insert(figures, run) {
            return Some(format!(
                "{} and {} are the same record",
                first.name(),
                run.name()
            ));
        }
    }
    None
}

/// Intervals that one run has from another.
pub(super) fn copied(set: &Set<'_>) -> Option<String> {
    let mut known = BTreeMap::new();
    for run in &set.runs {
        let mut common: Vec<(&Run<'_>, f64)> = Vec::new();
        let fingerprints: Vec<_> = run
            .measured()
            .filter_map(|it| Some((fingerprint_of(it)?, it.t_s)))
            .collect();
        for (fingerprint, t_s) in &fingerprints {
            if let Some(other) = known.get(fingerprint) {
                common.push((*other, *t_s));
            }
        }
        if let [.., (other, t_s)] = common[..]
            && common.len() > COMMON_AT_MOST
        {
            return Some(format!(
                "{} of {} and {} are identical to the nanosecond, the last at {}",
                units::counted(common.len(), "interval"),
                other.name(),
                run.name(),
                moment(t_s)
            ));
        }
        known.extend(fingerprints.into_iter().map(|(it, _)| (it, run)));
    }
    None
}

/// Runs of one experiment that were under way at the same time on one machine, and did not take turns.
pub(super) fn overlapping(set: &Set<'_>) -> Option<String> {
    let mut times: Vec<(f64, f64, &str, &Run<'_>)> = Vec::new();
    for run in one_of_each(set.runs.iter().filter(|run| run.is_first_load)) {
        let Some((began_s, end_s)) = span_s(run.record) else {
            continue;
        };
        let machine = run.record.machines.first().map_or("", |it| &it.name);
        times.push((began_s, end_s, machine, run));
    }
    times.sort_by(|a, b| a.0.total_cmp(&b.0));
    times.windows(2).find_map(|pair| {
        let [
            (_, end_s, machine, first),
            (began_s, _, other_machine, second),
        ] = pair
        else {
            return None;
        };
        let is_one = machine == other_machine && first.side == second.side;
        let for_s = end_s - began_s;
        (is_one && for_s > OVERLAP_S).then(|| {
            format!(
                "{} and {} overlapped by {}",
                first.name(),
                second.name(),
                moment(for_s)
            )
        })
    })
}

/// Labels that contradict the server's variables: runs with the same levels and different values of a variable that has
/// one of them with other levels; or a factor with the name of a variable whose values are other levels.
pub(super) fn labels(set: &Set<'_>) -> Option<String> {
    let runs: Vec<&Run<'_>> = set.first_loads().collect();
    let names: BTreeSet<&String> = runs
        .iter()
        .filter_map(|run| run.record.servers.first())
        .flat_map(|server| server.variables.keys())
        .collect();
    let mut own = names.into_iter().filter(|name| !is_of_the_instance(name));
    own.find_map(|name| of_variable(&runs, name))
}

fn of_variable(runs: &[&Run<'_>], name: &str) -> Option<String> {
    let mut values: Vec<(&Run<'_>, &str)> = Vec::new();
    for run in runs {
        values.push((run, run.variable(name)?));
    }
    let distinct: BTreeSet<&str> = values.iter().map(|(_, value)| *value).collect();
    if distinct.len() < 2 {
        return None;
    }
    let mut by_levels: BTreeMap<_, Vec<(&Run<'_>, &str)>> = BTreeMap::new();
    for (run, value) in &values {
        let key = (&run.side, &run.record.header.combination);
        by_levels.entry(key).or_default().push((run, value));
    }
    // What most runs of these levels have is theirs.
    let usual: BTreeMap<_, &str> = by_levels
        .iter()
        .map(|(key, runs)| (*key, of_most(runs)))
        .collect();
    for (key, runs) in &by_levels {
        let own = &usual[key];
        let odd = runs.iter().find(|(_, value)| {
            value != own
                && usual
                    .iter()
                    .any(|(other, usual)| other != key && usual == value)
        });
        if let Some((run, value)) = odd {
            return Some(format!(
                "{} has {name} = {value}, the value of another level: the other runs of its level have {own}",
                run.name()
            ));
        }
    }
    named_by_factor(&values, name)
}

/// The value that most of these runs have.
fn of_most<'v>(runs: &[(&Run<'_>, &'v str)]) -> &'v str {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, value) in runs {
        *counts.entry(value).or_default() += 1;
    }
    let most = counts.into_iter().max_by_key(|(_, count)| *count);
    most.map_or("", |(value, _)| value)
}

/// A factor of this variable's name, each of whose levels is the value of the runs of another level.
fn named_by_factor(values: &[(&Run<'_>, &str)], name: &str) -> Option<String> {
    let plain = |text: &str| text.replace('-', "_").to_lowercase();
    let factor = values[0]
        .0
        .record
        .header
        .combination
        .keys()
        .find(|it| plain(it) == name)?;
    let label = |run: &Run<'_>| {
        run.record
            .header
            .combination
            .get(factor)
            .map(|it| plain(it))
    };
    let labels: BTreeSet<_> = values.iter().filter_map(|(run, _)| label(run)).collect();
    let found: BTreeSet<_> = values.iter().map(|(_, value)| plain(value)).collect();
    let (run, value) = values
        .iter()
        .find(|(run, value)| label(run) != Some(plain(value)))?;
    (labels == found).then(|| {
        format!(
            "{} has {name} = {value} but is labelled {factor} = {}",
            run.name(),
            run.record.header.combination[factor]
        )
    })
}
