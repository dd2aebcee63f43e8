//! What limited the runs, in words.

use std::collections::{BTreeMap, BTreeSet};

use samples::Record;
use verdict::{Bottleneck, bottleneck};

use crate::{
    grid::{Grid, in_words},
    results::Results,
};

/// What limited a run, in a sentence; `None` where nothing was measured.
pub fn limit_in_words(record: &Record) -> Option<String> {
    bottleneck(record).map(|bottleneck| bottleneck.in_words())
}

/// What limited a run, for its audit; `None` where nothing was measured.
pub fn limit_of(record: &Record) -> Option<audit::Limit> {
    let bottleneck = bottleneck(record)?;
    Some(audit::Limit {
        evidence: match &bottleneck.limiting {
            Some(limiting) => limiting.evidence.clone(),
            None => bottleneck.in_words(),
        },
        resource: bottleneck
            .limiting
            .map(|limiting| limiting.resource.name().to_owned()),
    })
}

/// What limited a run, in a word or two.
pub(crate) fn limit_name(record: &Record) -> &'static str {
    let name = |bottleneck: Bottleneck| Some(bottleneck.limiting?.resource.name());
    match bottleneck(record) {
        Some(bottleneck) => name(bottleneck).unwrap_or("unexplained"),
        None => "–",
    }
}

/// What limited the combination with the highest mean throughput; `None` where no run was measured.
///
/// ```text
/// What limited the fastest combination (connections 16), in 4 of 5 runs: CPU: 98 % busy (...). In the others: disk.
/// ```
pub(crate) fn at_the_peak(results: &Results, grid: &Grid) -> Option<String> {
    let mut combinations: BTreeMap<_, Vec<(&Record, f64)>> = BTreeMap::new();
    for (record, summary) in results.runs.iter().zip(&grid.summaries) {
        if let Some(per_s) = summary.throughput_per_s.filter(|_| record.is_complete()) {
            let runs = combinations.entry(&record.header.combination).or_default();
            runs.push((record, per_s));
        }
    }
    let mean = |runs: &[(_, f64)]| runs.iter().map(|run| run.1).sum::<f64>() / runs.len() as f64;
    let (combination, mut runs) = combinations
        .into_iter()
        .max_by(|one, other| mean(&one.1).total_cmp(&mean(&other.1)))?;
    runs.sort_by(|one, other| other.1.total_cmp(&one.1));
    let names: Vec<_> = runs.iter().map(|(record, _)| limit_name(record)).collect();
    let count = |name: &str| names.iter().filter(|it| **it == name).count();
    // Of two that are named as often, that of the faster run.
    let (at, name) = names
        .iter()
        .enumerate()
        .rev()
        .max_by_key(|(_, name)| count(name))?;
    let varied = results.factors.iter().filter(|it| it.levels.len() > 1);
    let levels: Vec<_> = varied
        .filter_map(|factor| Some((factor.name.clone(), combination.get(&factor.name)?.clone())))
        .collect();
    let what = match (levels.is_empty(), runs.len()) {
        (true, 1) => "it".to_owned(),
        (true, _) => "the runs".to_owned(),
        (false, _) => format!("the fastest combination ({})", in_words(&levels)),
    };
    let agreed = match runs.len() {
        1 => String::new(),
        all => format!(", in {} of {all} runs", count(name)),
    };
    let others: BTreeSet<_> = names.iter().copied().filter(|it| it != name).collect();
    let others = match others.is_empty() {
        true => String::new(),
        false => {
            let others: Vec<_> = others.into_iter().collect();
            format!(" In the others: {}.", others.join(", "))
        }
    };
    let words = limit_in_words(runs[at].0)?;
    Some(format!("What limited {what}{agreed}: {words}.{others}"))
}
