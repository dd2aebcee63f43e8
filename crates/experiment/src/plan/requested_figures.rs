//! The figures that a file asks for, of which some exist for some loads only.

use settings::{Chart, Vocabulary};

use crate::{
    error::Error,
    file::{problem::Problem, section::Section},
    plan::Cell,
    spec::{
        answer::AnswerSpec,
        expect::ExpectSpec,
        load::LoadSpec,
        verdict::{ELAPSED, VerdictSpec},
    },
};

/// The metrics that only some loads have.
pub(crate) fn own_metrics(vocabulary: &Vocabulary) -> Vec<&'static str> {
    let loads = vocabulary.loads.iter();
    loads.flat_map(|kind| kind.own_metrics()).copied().collect()
}

/// What a file asks of figures.
pub(crate) struct RequestedFigures<'a> {
    pub(crate) chart: Option<&'a Chart>,
    pub(crate) verdict: Option<&'a VerdictSpec>,
    pub(crate) answers: &'a [AnswerSpec],
    pub(crate) expects: &'a [ExpectSpec],
}

/// A figure that only some loads have is drawn and compared only where every run has it.
pub(crate) fn check_metric(
    top: &Section<'_>,
    cells: &[Cell],
    asked: &RequestedFigures<'_>,
    metric: &str,
    vocabulary: &Vocabulary,
) -> Result<(), Error> {
    let loads = cells.iter().flat_map(|cell| &cell.loads);
    let mut loads = loads.map(|load| load.source.kind);
    if loads.all(|kind| kind.own_metrics().contains(&metric)) {
        return Ok(());
    }
    let having = vocabulary.loads.iter();
    let having = having.filter(|kind| kind.own_metrics().contains(&metric));
    let names: Vec<&str> = having.map(|kind| kind.name()).collect();
    let problem = Problem::OwnMetric {
        metric: metric.to_owned(),
        loads: names.join(", "),
    };
    refuse(top, asked, metric, problem)
}

/// The time that a load takes is compared only where it is a result: where every load ends by itself.
pub(crate) fn check_elapsed(
    top: &Section<'_>,
    cells: &[Cell],
    asked: &RequestedFigures<'_>,
) -> Result<(), Error> {
    let mut loads = cells.iter().flat_map(|cell| &cell.loads);
    if loads.all(LoadSpec::ends_by_itself) {
        return Ok(());
    }
    refuse(top, asked, ELAPSED, Problem::ElapsedAsSet)
}

/// The problem of a metric, where a file asks for it.
fn refuse(
    top: &Section<'_>,
    asked: &RequestedFigures<'_>,
    metric: &str,
    problem: Problem,
) -> Result<(), Error> {
    let draws = |chart: &Chart| chart.y.iter().any(|value| value == metric);
    if asked.chart.is_some_and(draws) {
        let report = top.section("report", "[report]")?;
        let chart = report.section("chart", "[report] chart")?;
        return Err(chart.error_at("y", problem));
    }
    if asked
        .verdict
        .is_some_and(|verdict| verdict.metric == metric)
    {
        let verdict = top.section("verdict", "[verdict]")?;
        return Err(verdict.error_at("metric", problem));
    }
    if asked.expects.iter().any(|it| it.metric == metric) {
        return Err(top.section("expect", "[expect]")?.error_at(metric, problem));
    }
    let compares = |answer: &AnswerSpec| {
        let compared = answer.compared.as_ref();
        compared.is_some_and(|it| it.metric == metric)
    };
    let sections = top.sections("answer", "[[answer]]")?;
    match sections
        .iter()
        .zip(asked.answers)
        .find(|(_, it)| compares(it))
    {
        Some((section, _)) => Err(section.error_at("metric", problem)),
        None => Ok(()),
    }
}
