//! All results as one JSON object.

use std::collections::BTreeMap;

use samples::{ErrorCount, ServerLimit, complete_runs};
use serde::Serialize;
use stats::Interval;
use verdict::{Execution, Measure, Question};

use super::Detail;
use crate::{
    expectations,
    findings::{AuditDocument, AuditFilter, audit_document},
    grid::{Grid, scaling},
    results::Results,
    run_report::is_zero,
    search_answer::SearchAnswer,
    sentences::{
        answer, clauses, disturbances,
        doubt::doubt,
        events::{self, overview::overviews},
        limit::{PeakLimit, limit_in_words},
        max_rates, proxy, set_limit, stage_rates, steadiness,
    },
    tables::{
        combination::{Combination, combinations},
        events::{EventRow, event_rows},
        run_values::{BreakdownKind, RunValues, Value},
        seconds::{Second, seconds},
        unit::unit,
    },
};

/// Version of the document's format: fields may be added without a new version; none is removed or changes its meaning.
const FORMAT: u32 = 1;

#[derive(Serialize)]
struct Document<'a> {
    format: u32,
    dbdyno_version: &'a str,
    name: &'a str,
    question: &'a str,
    factors: Vec<Factor<'a>>,
    planned_runs: u32,
    complete_runs: usize,
    verdict: Option<Verdict<'a>>,
    summary: Summary<'a>,
    audit: Option<AuditDocument<'a>>,
    combinations: Vec<Combination<'a>>,
    runs: Vec<Run<'a>>,
}

#[derive(Serialize)]
struct Factor<'a> {
    name: &'a str,
    levels: &'a [String],
}

#[derive(Serialize)]
struct Verdict<'a> {
    measure: &'a str,
    unit: &'a str,
    margin: f64,
    baseline: BTreeMap<&'a str, &'a str>,
    comparisons: Vec<Comparison<'a>>,
}

#[derive(Serialize)]
struct Comparison<'a> {
    levels: BTreeMap<&'a str, &'a str>,
    compared: BTreeMap<&'a str, &'a str>,
    decision: &'a str,
    sentence: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    doubt: Option<String>,
    executions: Option<usize>,
    paired: bool,
    baseline_mean: Option<f64>,
    compared_mean: Option<f64>,
    ratio: Option<Bounds>,
    p_value: Option<f64>,
    executions_needed: Option<usize>,
}

#[derive(Serialize)]
struct Bounds {
    estimate: f64,
    low: f64,
    high: f64,
}

/// What the report says of a part of the question.
#[derive(Serialize)]
struct ClauseLine {
    name: String,
    sentence: String,
}

/// What the author expects of a figure of a combination, and whether it is so.
#[derive(Serialize)]
struct ExpectationLine {
    expected: String,
    at: String,
    outcome: &'static str,
    measured: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    doubt: Option<String>,
}

/// The highest rate of a combination that keeps a limit.
#[derive(Serialize)]
struct MaxRateLine<'a> {
    levels: &'a BTreeMap<String, String>,
    limit: &'a str,
    answer: &'static str,
    rate_per_s: Option<f64>,
    low_per_s: Option<f64>,
    high_per_s: Option<f64>,
    runs: usize,
    limited_by: Option<&'static str>,
    sentence: String,
}

/// What the report says in sentences.
#[derive(Serialize)]
struct Summary<'a> {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    clauses: Vec<ClauseLine>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    events: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    stage_rates: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    expectations: Vec<ExpectationLine>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    max_rates: Vec<MaxRateLine<'a>>,
    verdict: Option<String>,
    answers: Vec<String>,
    scaling: Vec<String>,
    limited_by: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    limits_set: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    proxies: Vec<String>,
    steadiness: Vec<String>,
    disturbances: Vec<String>,
}

#[derive(Serialize)]
struct Run<'a> {
    run: u32,
    block: u32,
    levels: &'a BTreeMap<String, String>,
    started_at: &'a str,
    complete: bool,
    incomplete_why: Option<&'a str>,
    connections: u32,
    #[serde(skip_serializing_if = "is_zero")]
    connections_refused: u64,
    seed: u64,
    server_version: Option<&'a str>,
    dbdyno_version: &'a str,
    experiment_sha256: &'a str,
    limited_by: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    limit_set: Option<&'a ServerLimit>,
    metrics: Vec<Value>,
    operations: Vec<BreakdownRow>,
    statements: Vec<BreakdownRow>,
    errors: &'a [ErrorCount],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    events: Vec<EventRow<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seconds: Option<Vec<Second>>,
}

#[derive(Serialize)]
struct BreakdownRow {
    load: String,
    name: String,
    metrics: Vec<Value>,
}

/// The results as one JSON object, ending with a line feed; docs/report-formats.md documents the fields.
pub fn json(results: &Results, detail: Detail) -> String {
    let grid = Grid::of(results);
    let factors = results.all_factors();
    let document = Document {
        format: FORMAT,
        dbdyno_version: env!("CARGO_PKG_VERSION"),
        name: &results.name,
        question: results.question.trim(),
        factors: factors.iter().map(factor).collect(),
        planned_runs: results.planned_runs,
        complete_runs: complete_runs(&results.runs),
        verdict: results
            .verdict
            .as_ref()
            .map(|question| verdict(question, &grid)),
        summary: Summary {
            clauses: (clauses::clauses(results, &grid).into_iter())
                .map(|(name, sentence)| ClauseLine {
                    name: name.to_owned(),
                    sentence,
                })
                .collect(),
            events: events::sentences(&overviews(results, &grid)),
            stage_rates: stage_rates::sentences(&grid),
            expectations: (expectations::of_grid(results, &grid).into_iter())
                .map(|it| ExpectationLine {
                    expected: it.expected,
                    at: it.place,
                    outcome: it.outcome.word(),
                    measured: it.measured,
                    doubt: it.doubt,
                })
                .collect(),
            max_rates: (results.searches.iter())
                .map(|search| max_rate(results, search))
                .collect(),
            verdict: answer::verdict_in_short(results, &grid),
            // The throughput of a search is the highest rate that was tried.
            answers: (grid.facets.iter())
                .filter(|_| results.searches.is_empty())
                .map(|facet| answer::sentence(&grid, facet))
                .collect(),
            scaling: (grid.facets.iter())
                .filter_map(|facet| scaling::sentence(&grid, facet))
                .collect(),
            limited_by: PeakLimit::of(results, &grid).map(|limit| limit.in_words()),
            limits_set: set_limit::sentences(results),
            proxies: proxy::sentences(results),
            steadiness: steadiness::sentences(results),
            disturbances: disturbances::sentences(results),
        },
        audit: (results.audit.as_ref())
            .map(|audit| audit_document(&results.name, audit, &AuditFilter::default())),
        combinations: combinations(results, &grid.executions),
        runs: (grid.executions.iter())
            .map(|execution| run(execution, detail))
            .collect(),
    };
    let text = serde_json::to_string_pretty(&document);
    text.expect("results have only names and finite numbers") + "\n"
}

fn factor(factor: &settings::Factor) -> Factor<'_> {
    Factor {
        name: &factor.name,
        levels: &factor.levels,
    }
}

fn verdict<'a>(question: &'a Question, grid: &'a Grid<'_>) -> Verdict<'a> {
    let comparisons = grid.answers.iter().map(|answer| {
        let comparison = answer.comparison.as_ref();
        Comparison {
            levels: named(&answer.within),
            compared: named(&answer.levels),
            decision: answer.decision.word(),
            sentence: ::verdict::sentence(question, answer),
            doubt: doubt(question, answer, grid),
            executions: comparison.map(|comparison| comparison.executions),
            paired: answer.paired,
            baseline_mean: answer.means.map(|[baseline, _]| baseline),
            compared_mean: answer.means.map(|[_, compared]| compared),
            ratio: comparison.map(|comparison| bounds(comparison.ratio)),
            p_value: answer.p_value,
            executions_needed: answer.executions_needed,
        }
    });
    Verdict {
        measure: question.metric.name(),
        unit: unit(Measure::Metric(question.metric).scale()),
        margin: question.min_effect,
        baseline: named(&question.baseline),
        comparisons: comparisons.collect(),
    }
}

fn max_rate<'a>(results: &Results, search: &'a SearchAnswer) -> MaxRateLine<'a> {
    let found = &search.found;
    let (rate_per_s, bounds) = found.rate().unzip();
    let (low_per_s, high_per_s) = bounds.flatten().unzip();
    MaxRateLine {
        levels: &found.question.combination,
        limit: &found.question.limit,
        answer: found.word(),
        rate_per_s,
        low_per_s,
        high_per_s,
        runs: found.runs,
        limited_by: found.limited_by.as_ref().map(|it| it.name),
        sentence: max_rates::search_sentence(results, search),
    }
}

fn named(levels: &[(String, String)]) -> BTreeMap<&str, &str> {
    let levels = levels.iter();
    levels
        .map(|(factor, level)| (factor.as_str(), level.as_str()))
        .collect()
}

fn bounds(interval: Interval) -> Bounds {
    Bounds {
        estimate: interval.estimate,
        low: interval.low,
        high: interval.high,
    }
}

fn run<'a>(execution: &Execution<'a>, detail: Detail) -> Run<'a> {
    let values = RunValues::of(execution);
    let record = execution.record;
    let header = &record.header;
    let mut operations = Vec::new();
    let mut statements = Vec::new();
    for part in values.parts {
        let parts = match part.kind {
            BreakdownKind::Operation => &mut operations,
            BreakdownKind::Statement => &mut statements,
        };
        parts.push(BreakdownRow {
            load: part.load,
            name: part.name,
            metrics: part.values,
        });
    }
    Run {
        run: header.run,
        block: header.block,
        levels: &header.combination,
        started_at: &header.started_at,
        complete: record.is_complete(),
        incomplete_why: record.incomplete_why(),
        connections: record.connections(),
        connections_refused: record.connections_refused(),
        seed: header.seed,
        server_version: record.servers.first().map(|server| server.version.as_str()),
        dbdyno_version: &header.dbdyno_version,
        experiment_sha256: &header.experiment_sha256,
        limited_by: limit_in_words(record),
        limit_set: record.limit.as_ref(),
        metrics: values.whole,
        operations,
        statements,
        errors: &record.errors,
        events: event_rows(record),
        seconds: (detail == Detail::Seconds).then(|| seconds(record)),
    }
}
