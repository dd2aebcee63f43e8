//! The limits of the runs, in words.

use std::{
    cmp::{Ordering, Reverse},
    collections::{BTreeMap, BTreeSet},
};

use samples::Record;
use verdict::{Bottleneck, Resource, bottleneck};

use crate::{
    grid::{Grid, cell::Figure, in_words},
    results::Results,
};

/// The limit of a run, in a sentence; `None` if nothing was measured.
pub fn limit_in_words(record: &Record) -> Option<String> {
    bottleneck(record).map(|bottleneck| bottleneck.in_words())
}

/// The limit of a run for its audit; `None` if nothing was measured.
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

/// The limit of a run. Limits are in the order of their names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunLimit {
    /// Nothing was measured.
    NotMeasured,
    /// No observed resource was at its limit.
    Unexplained,
    Resource(Resource),
}

impl RunLimit {
    pub(crate) fn of(record: &Record) -> Self {
        Self::of_bottleneck(bottleneck(record).as_ref())
    }

    fn of_bottleneck(bottleneck: Option<&Bottleneck>) -> Self {
        match bottleneck.map(|it| it.limiting.as_ref()) {
            None => Self::NotMeasured,
            Some(None) => Self::Unexplained,
            Some(Some(limiting)) => Self::Resource(limiting.resource),
        }
    }

    /// The limit in a word or two.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::NotMeasured => "–",
            Self::Unexplained => Bottleneck::UNEXPLAINED,
            Self::Resource(resource) => resource.name(),
        }
    }
}

impl Ord for RunLimit {
    fn cmp(&self, other: &Self) -> Ordering {
        self.name().cmp(other.name())
    }
}

impl PartialOrd for RunLimit {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The most frequent limit of several runs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FrequentLimit {
    limit: RunLimit,
    /// The number of runs with this limit.
    count: usize,
    /// The number of all runs.
    all: usize,
}

impl FrequentLimit {
    /// The most frequent limit of the complete ones of these runs; `None` if no run is complete.
    pub(crate) fn of_runs(results: &Results, runs: &[usize]) -> Option<Self> {
        let mut counts: BTreeMap<RunLimit, usize> = BTreeMap::new();
        let runs = runs.iter().map(|run| &results.compared()[*run]);
        for record in runs.filter(|record| record.is_complete()) {
            *counts.entry(RunLimit::of(record)).or_default() += 1;
        }
        let all = counts.values().sum();
        let (limit, count) = counts.into_iter().max_by_key(|(_, count)| *count)?;
        Some(Self { limit, count, all })
    }

    /// True if this resource limited each of the runs.
    pub(crate) fn is_always(self, resource: Resource) -> bool {
        self.limit == RunLimit::Resource(resource) && self.count == self.all
    }
}

/// The limit of most of these runs, in a word or two, with a count if they differ: `CPU`, `CPU (2 of 3)`.
pub(crate) fn frequent_limit_in_words(limit: Option<FrequentLimit>) -> String {
    match limit {
        None => RunLimit::NotMeasured.name().to_owned(),
        Some(it) if it.count == it.all => it.limit.name().to_owned(),
        Some(it) => format!("{} ({} of {})", it.limit.name(), it.count, it.all),
    }
}

/// The limit of the combination with the highest mean throughput.
pub(crate) struct PeakLimit {
    /// The combination: `the fastest combination (connections 16)`, `the runs`, or `it`.
    pub(crate) what: String,
    /// The number of its runs with this limit, and their total.
    pub(crate) agreed: (usize, usize),
    /// What its runs are called: `runs`, or `batches` of slices.
    pub(crate) executions: &'static str,
    /// The limit of the fastest of these runs.
    pub(crate) bottleneck: Bottleneck,
    /// The limits of the other runs.
    pub(crate) others: Vec<&'static str>,
}

impl PeakLimit {
    /// The limit of the peak; `None` if no run was measured.
    pub(crate) fn of(results: &Results, grid: &Grid) -> Option<Self> {
        let mut combinations: BTreeMap<_, Vec<(&Record, f64)>> = BTreeMap::new();
        for execution in &grid.executions {
            let (record, figures) = (execution.record, execution.figures());
            if let Some(per_s) = figures.throughput_per_s.filter(|_| record.is_complete()) {
                let runs = combinations.entry(&record.header.combination).or_default();
                runs.push((record, per_s));
            }
        }
        let mean = |runs: &[(_, f64)]| {
            let values: Vec<f64> = runs.iter().map(|run| run.1).collect();
            Figure::of(&values).map_or(0.0, |figure| figure.mean)
        };
        let (combination, mut runs) = combinations
            .into_iter()
            .max_by(|one, other| mean(&one.1).total_cmp(&mean(&other.1)))?;
        runs.sort_by(|one, other| other.1.total_cmp(&one.1));
        let mut bottlenecks: Vec<_> = runs.iter().map(|(record, _)| bottleneck(record)).collect();
        let limits = bottlenecks.iter().map(Option::as_ref);
        let limits: Vec<_> = limits.map(RunLimit::of_bottleneck).collect();
        let count = |limit: RunLimit| limits.iter().filter(|it| **it == limit).count();
        // Of two with the same count, that of the faster run.
        let (at, limit) = limits
            .iter()
            .copied()
            .enumerate()
            .rev()
            .max_by_key(|(_, limit)| count(*limit))?;
        let factors = results.all_factors();
        let varied = factors.iter().filter(|it| it.levels.len() > 1);
        let levels: Vec<_> = varied
            .filter_map(|factor| {
                Some((factor.name.clone(), combination.get(&factor.name)?.clone()))
            })
            .collect();
        let others: BTreeSet<_> = limits.iter().filter(|it| **it != limit).collect();
        let has_batches = runs.iter().any(|(record, _)| record.batch.is_some());
        let executions = if has_batches { "batches" } else { "runs" };
        Some(Self {
            executions,
            what: match (levels.is_empty(), runs.len()) {
                (true, 1) => "it".to_owned(),
                (true, _) => format!("the {executions}"),
                (false, _) => format!("the fastest combination ({})", in_words(&levels)),
            },
            agreed: (count(limit), runs.len()),
            bottleneck: bottlenecks.swap_remove(at)?,
            others: others.into_iter().map(|it| it.name()).collect(),
        })
    }

    /// The count in words, `, in 4 of 5 runs (figures of the fastest one)`; empty for one run.
    pub(crate) fn agreed_in_words(&self) -> String {
        match self.agreed {
            (_, 1) => String::new(),
            (count, all) => {
                let executions = self.executions;
                format!(", in {count} of {all} {executions} (figures of the fastest one)")
            }
        }
    }

    /// The limit in sentences.
    ///
    /// ```text
    /// What limited the fastest combination (connections 16), in 4 of 5 runs (figures of the fastest one): CPU: 98 % busy.
    /// In the other runs: disk.
    /// ```
    pub(crate) fn in_words(&self) -> String {
        let agreed = self.agreed_in_words();
        let others = if self.others.is_empty() {
            String::new()
        } else {
            let executions = self.executions;
            format!(" In the other {executions}: {}.", self.others.join(", "))
        };
        format!(
            "What limited {}{agreed}: {}.{others}",
            self.what,
            self.bottleneck.in_words()
        )
    }
}

/// The limits of the combinations, the most frequent first: `CPU in 96 of 140 combinations, disk flushes in 30`; `None`
/// with fewer than three combinations.
pub(crate) fn over_all(results: &Results, grid: &Grid) -> Option<String> {
    let cells = grid.facets.iter().flat_map(|facet| facet.cells());
    let mut counts: BTreeMap<RunLimit, usize> = BTreeMap::new();
    for (_, _, cell) in cells {
        if let Some(frequent) = FrequentLimit::of_runs(results, &cell.runs) {
            *counts.entry(frequent.limit).or_default() += 1;
        }
    }
    let all: usize = counts.values().sum();
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| Reverse(*count));
    let said = counts
        .iter()
        .map(|(limit, count)| (limit.name(), count))
        .enumerate()
        .map(|(at, (name, count))| match at {
            0 if *count == all => format!("{name} in all {all} combinations"),
            0 => format!("{name} in {count} of {all} combinations"),
            _ => format!("{name} in {count}"),
        });
    (all > 2).then(|| said.collect::<Vec<_>>().join(", "))
}
