//! The combinations of an experiment with their figures over executions, for programs.

use std::collections::BTreeMap;

use figures::{Percentile, are_thin};
use samples::Record;
use serde::Serialize;
use verdict::Execution;

use crate::{
    grid::{cell::Figure, complete_factors},
    results::Results,
    sentences::limit::RunLimit,
    tables::run_values::{RunValues, Value},
};

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Combination<'a> {
    pub(crate) levels: &'a BTreeMap<String, String>,
    /// Its runs, including incomplete ones.
    pub(crate) runs: Vec<u32>,
    /// Number of complete runs, from which the figures are calculated.
    pub(crate) complete: usize,
    /// Failed operations of all its runs.
    pub(crate) errors: u64,
    /// The limits of its complete runs, with their counts.
    pub(crate) limited_by: BTreeMap<&'static str, usize>,
    pub(crate) metrics: Vec<MeanValue>,
}

/// A mean over executions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct MeanValue {
    pub(crate) measure: &'static str,
    pub(crate) unit: &'static str,
    pub(crate) mean: f64,
    /// Bounds of the 95 % interval; `None` with fewer than two executions.
    pub(crate) low: Option<f64>,
    pub(crate) high: Option<f64>,
    /// Only of a percentile that is based on few operations in these executions together.
    #[serde(skip_serializing_if = "is_false")]
    pub(crate) thin: bool,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_false(flag: &bool) -> bool {
    !flag
}

/// A combination's position among the levels, and its levels.
type SharedCombination<'a> = (Vec<usize>, &'a BTreeMap<String, String>);

/// The combinations that have run, in the order of the factors' levels.
pub(crate) fn combinations<'a>(
    results: &'a Results,
    executions: &[Execution<'a>],
) -> Vec<Combination<'a>> {
    let factors = complete_factors(results);
    let place = |record: &Record| -> Vec<usize> {
        let levels = factors.iter().map(|factor| {
            let level = record.header.combination.get(&factor.name);
            let known = factor.levels.iter();
            let at = level.and_then(|level| known.clone().position(|known| known == level));
            at.unwrap_or(known.len())
        });
        levels.collect()
    };
    let mut by_place: BTreeMap<SharedCombination<'_>, Vec<&Execution<'a>>> = BTreeMap::new();
    for execution in executions {
        let record = execution.record;
        let key = (place(record), &record.header.combination);
        by_place.entry(key).or_default().push(execution);
    }
    let all = by_place.into_iter();
    all.map(|((_, levels), executions)| combination(levels, &executions))
        .collect()
}

fn combination<'a>(
    levels: &'a BTreeMap<String, String>,
    executions: &[&Execution<'a>],
) -> Combination<'a> {
    let complete: Vec<&Execution<'_>> = executions
        .iter()
        .copied()
        .filter(|execution| execution.record.is_complete())
        .collect();
    let values: Vec<RunValues> = complete.iter().map(|it| RunValues::of(it)).collect();
    let mut limited_by = BTreeMap::new();
    for execution in &complete {
        let limit = RunLimit::of(execution.record);
        *limited_by.entry(limit.name()).or_insert(0) += 1;
    }
    Combination {
        levels,
        runs: executions.iter().map(|it| it.record.header.run).collect(),
        complete: complete.len(),
        errors: executions.iter().map(|it| it.figures().errors).sum(),
        limited_by,
        metrics: means(&values),
    }
}

/// The mean of each figure that all executions have: a mean over some of them would be of a different set than the
/// others.
fn means(values: &[RunValues]) -> Vec<MeanValue> {
    let Some(first) = values.first() else {
        return Vec::new();
    };
    let measured = first.whole.iter().filter_map(|value| {
        let all = values.iter().map(|run| run.get(value.measure));
        let all: Vec<&Value> = all.collect::<Option<_>>()?;
        let percentiles: Option<Vec<&Percentile>> =
            all.iter().map(|it| it.percentile.as_ref()).collect();
        let numbers: Vec<f64> = all.iter().map(|it| it.value).collect();
        let figure = Figure::of(&numbers)?;
        Some(MeanValue {
            measure: value.measure,
            unit: value.unit,
            mean: figure.mean,
            low: figure.interval.map(|interval| interval.0),
            high: figure.interval.map(|interval| interval.1),
            thin: percentiles.is_some_and(are_thin),
        })
    });
    measured.collect()
}
