//! All results as OpenMetrics text 1.0, for Prometheus and compatible programs.
//!
//! ```text
//! # TYPE dbdyno_response_seconds summary
//! # UNIT dbdyno_response_seconds seconds
//! # HELP dbdyno_response_seconds Response time, from the scheduled start.
//! dbdyno_response_seconds{experiment="quickstart",run="1",block="1",factor_mix="1:0",quantile="0.95"} 0.00118
//! ```

use audit::Level;
use exposition::{Family, Labels, document};
use samples::Record;
use verdict::{Decision, Measure, Scale, Unit};

use crate::{
    grid::Grid,
    results::Results,
    tables::{factor_columns::free_names, run_values::RunValues},
    text::capital::capitalised,
};

/// The figures of one run, and the labels that identify it.
struct Run<'a> {
    record: &'a Record,
    labels: Labels,
    values: RunValues,
}

impl Run<'_> {
    fn number(&self, figure: &str) -> Option<f64> {
        Some(self.values.get(figure)?.value)
    }
}

/// The results as OpenMetrics text; metrics without a value in any run are left out.
pub fn openmetrics(results: &Results) -> String {
    let names = label_names(results);
    let grid = Grid::of(results);
    let runs: Vec<Run<'_>> = grid
        .executions
        .iter()
        .map(|execution| Run {
            record: execution.record,
            labels: labels_of(results, &names, execution.record),
            values: RunValues::of(execution),
        })
        .collect();
    let mut families = vec![info(&runs)];
    families.extend(load(&runs));
    families.push(response(&runs));
    families.push(response_beyond(&runs));
    families.push(cpu(&runs));
    families.extend(costs(&runs));
    families.extend(verdict(results, &grid, &names));
    families.extend(max_rates(results, &names));
    families.extend(audit(results));
    document(&families)
}

/// The label of each factor: `factor_NAME`, with characters that are not allowed in a label replaced by `_`.
fn label_names(results: &Results) -> Vec<String> {
    let names: Vec<String> = results
        .all_factors()
        .iter()
        .map(|factor| {
            let kept = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
            format!(
                "factor_{}",
                factor.name.chars().map(kept).collect::<String>()
            )
        })
        .collect();
    free_names(names.iter().map(String::as_str), &[])
}

fn labels_of(results: &Results, names: &[String], record: &Record) -> Labels {
    let header = &record.header;
    let mut labels = vec![
        ("experiment".to_owned(), header.experiment.clone()),
        ("run".to_owned(), header.run.to_string()),
        ("block".to_owned(), header.block.to_string()),
    ];
    let factors = results.all_factors().into_iter().zip(names);
    labels.extend(factors.filter_map(|(factor, name)| {
        let level = header.combination.get(&factor.name)?;
        Some((name.clone(), level.clone()))
    }));
    labels
}

fn with(labels: &Labels, name: &str, value: &str) -> Labels {
    let mut labels = labels.clone();
    labels.push((name.to_owned(), value.to_owned()));
    labels
}

fn info(runs: &[Run<'_>]) -> Family {
    let mut family = Family::new(
        "gauge",
        "run",
        "",
        "A run: 1 if it reached its planned end, 0 if not.",
    );
    for run in runs {
        let server = run.record.servers.first();
        let version = server.map_or("", |server| server.version.as_str());
        let labels = with(&run.labels, "server_version", version);
        let labels = with(&labels, "started_at", &run.record.header.started_at);
        let is_complete = f64::from(u8::from(run.record.is_complete()));
        family.push("", labels, Some(is_complete));
    }
    family
}

/// Metrics with one figure per run: kind, name, unit, help, suffix, figure.
const LOAD: [(&str, &str, &str, &str, &str, &str); 7] = [
    (
        "counter",
        "operations",
        "",
        "Successful operations that were due in the measurement.",
        "_total",
        "operations",
    ),
    (
        "counter",
        "errors",
        "",
        "Operations that failed, without a successful retry.",
        "_total",
        "errors",
    ),
    (
        "gauge",
        "measured",
        "seconds",
        "Length of the measurement.",
        "",
        "measured",
    ),
    (
        "gauge",
        "throughput_operations",
        "per_second",
        "Successful operations by completion time.",
        "",
        "throughput",
    ),
    (
        "gauge",
        "offered_operations",
        "per_second",
        "Requested operations by time.",
        "",
        "offered",
    ),
    (
        "gauge",
        "new_orders",
        "per_minute",
        "New-Orders, by time.",
        "",
        "new_orders_per_min",
    ),
    (
        "gauge",
        "client_ceiling_used",
        "ratio",
        "Throughput as a share of what the client reaches with a server that does nothing.",
        "",
        "client_ceiling_used",
    ),
];

fn load(runs: &[Run<'_>]) -> Vec<Family> {
    let families = LOAD.map(|(kind, name, unit, help, suffix, figure)| {
        let mut family = Family::new(kind, name, unit, help);
        for run in runs {
            family.push(suffix, run.labels.clone(), run.number(figure));
        }
        family
    });
    families.into()
}

const QUANTILES: [(&str, &str); 4] = [
    ("0.5", "p50"),
    ("0.95", "p95"),
    ("0.99", "p99"),
    ("0.999", "p999"),
];

/// Number of operations beyond each quantile: below ten it is thin.
fn response_beyond(runs: &[Run<'_>]) -> Family {
    let mut family = Family::new(
        "gauge",
        "response_beyond",
        "",
        "Independent operations beyond a quantile of the response time; below 10 the next run may give a very different quantile.",
    );
    for run in runs {
        for (quantile, figure) in QUANTILES {
            let percentile = run.values.get(figure).and_then(|it| it.percentile);
            let labels = with(&run.labels, "of_quantile", quantile);
            family.push(
                "",
                labels,
                percentile.map(|it| (it.independent * 1e3).round() / 1e3),
            );
        }
    }
    family
}

fn response(runs: &[Run<'_>]) -> Family {
    let mut family = Family::new(
        "summary",
        "response",
        "seconds",
        "Response time, from the scheduled start.",
    );
    for run in runs {
        let Some((count, mean_ns)) = run.number("operations").zip(run.number("mean")) else {
            continue;
        };
        for (quantile, figure) in QUANTILES {
            let value = run.number(figure).map(|ns| ns / 1e9);
            family.push("", with(&run.labels, "quantile", quantile), value);
        }
        family.push("_count", run.labels.clone(), Some(count));
        family.push("_sum", run.labels.clone(), Some(mean_ns / 1e9 * count));
    }
    family
}

fn cpu(runs: &[Run<'_>]) -> Family {
    const USERS: [(&str, &str); 7] = [
        ("server", "cpu_server"),
        ("client", "cpu_client"),
        ("proxy", "cpu_proxy"),
        ("rest", "cpu_rest"),
        ("iowait", "cpu_iowait"),
        ("steal", "cpu_steal"),
        ("idle", "cpu_idle"),
    ];
    let mut family = Family::new(
        "gauge",
        "cpu",
        "ratio",
        "Share of the CPUs of the server's machine by user; the shares add up to 1.",
    );
    for run in runs {
        for (user, figure) in USERS {
            let labels = with(&run.labels, "used_by", user);
            family.push("", labels, run.number(figure));
        }
    }
    family
}

/// The costs of an operation, one metric each: `dbdyno_cost_server_cpu_seconds`.
fn costs(runs: &[Run<'_>]) -> Vec<Family> {
    let costs = Measure::all().filter_map(|measure| match measure.scale() {
        Scale::PerOperation(unit) => Some((measure, unit)),
        _ => None,
    });
    let families = costs.map(|(measure, unit)| {
        let (unit, factor) = match unit {
            Unit::Micros => ("seconds", 1e-6),
            Unit::Bytes => ("bytes", 1.0),
            Unit::Count => ("", 1.0),
        };
        // The unit is appended to the name anyway.
        let name = format!("cost_{}", measure.name().trim_end_matches("_bytes"));
        let help = format!("{} of one operation.", capitalised(measure.in_words()));
        let mut family = Family::new("gauge", &name, unit, &help);
        for run in runs {
            let value = run.number(measure.name()).map(|value| value * factor);
            family.push("", run.labels.clone(), value);
        }
        family
    });
    families.collect()
}

/// The labels of a combination's levels.
fn level_labels<'l>(
    results: &Results,
    names: &[String],
    levels: impl Iterator<Item = (&'l str, &'l str)>,
) -> Labels {
    let factors = results.all_factors();
    let label = |factor: &str| {
        let at = factors.iter().position(|it| it.name == factor);
        at.map_or_else(|| "factor".to_owned(), |at| names[at].clone())
    };
    levels
        .map(|(factor, level)| (label(factor), level.to_owned()))
        .collect()
}

/// The comparisons of the experiment.
fn verdict(results: &Results, grid: &Grid<'_>, names: &[String]) -> Vec<Family> {
    let Some(question) = &results.verdict else {
        return Vec::new();
    };
    let mut ratio = Family::new(
        "gauge",
        "verdict",
        "ratio",
        "Ratio to the baseline, with the bounds of its 95 % interval.",
    );
    let mut decision = Family::new(
        "gauge",
        "verdict_decision",
        "",
        "1 for the decision: faster, slower, equivalent or inconclusive.",
    );
    for answer in &grid.answers {
        let mut labels = vec![
            ("experiment".to_owned(), results.name.clone()),
            ("measure".to_owned(), question.metric.name().to_owned()),
        ];
        let levels = answer.within.iter().chain(&answer.levels);
        let levels = levels.map(|(factor, level)| (factor.as_str(), level.as_str()));
        labels.extend(level_labels(results, names, levels));
        let bounds = answer.comparison.iter().flat_map(|comparison| {
            let ratio = comparison.ratio;
            [
                ("estimate", ratio.estimate),
                ("low", ratio.low),
                ("high", ratio.high),
            ]
        });
        for (bound, value) in bounds {
            ratio.push("", with(&labels, "bound", bound), Some(value));
        }
        for possible in Decision::ALL {
            let is = f64::from(u8::from(answer.decision == possible));
            decision.push("", with(&labels, "decision", possible.word()), Some(is));
        }
    }
    vec![ratio, decision]
}

/// The answers of the searches for the highest rate that keeps a limit.
fn max_rates(results: &Results, names: &[String]) -> Vec<Family> {
    let mut rate = Family::new(
        "gauge",
        "max_rate_operations",
        "per_second",
        "Highest rate that keeps a limit, with the bounds of its 95 % interval.",
    );
    let mut kind = Family::new(
        "gauge",
        "max_rate_answer",
        "",
        "1 for the kind of the answer, such as found, imprecise or never kept.",
    );
    for search in &results.searches {
        let found = &search.found;
        let question = &found.question;
        let mut labels = vec![
            ("experiment".to_owned(), results.name.clone()),
            ("limit".to_owned(), question.limit.clone()),
        ];
        let levels = question.combination.iter();
        let levels = levels.map(|(factor, level)| (factor.as_str(), level.as_str()));
        labels.extend(level_labels(results, names, levels));
        let (estimate, bounds) = found.rate().unzip();
        let (low, high) = bounds.flatten().unzip();
        for (bound, value) in [("estimate", estimate), ("low", low), ("high", high)] {
            rate.push("", with(&labels, "bound", bound), value);
        }
        kind.push("", with(&labels, "answer", found.word()), Some(1.0));
    }
    vec![rate, kind]
}

fn audit(results: &Results) -> Vec<Family> {
    let Some(audit) = &results.audit else {
        return Vec::new();
    };
    let experiment = vec![("experiment".to_owned(), results.name.clone())];
    let mut grade = Family::new(
        "gauge",
        "audit_grade",
        "",
        "1 for the method's grade; rough and interrupted results have none.",
    );
    if let Some(letter) = audit.assessment.letter() {
        grade.push(
            "",
            with(&experiment, "grade", &letter.to_string()),
            Some(1.0),
        );
    }
    let mut machine = Family::new(
        "gauge",
        "audit_machine",
        "",
        "1 for the state of the machine: quiet, busy or not observed.",
    );
    let state = audit.assessment.machine.word();
    machine.push("", with(&experiment, "state", state), Some(1.0));
    let mut findings = Family::new(
        "gauge",
        "audit_findings",
        "",
        "Findings of the audit, by level.",
    );
    for level in Level::ALL {
        let labels = with(&experiment, "level", level.name());
        findings.push("", labels, Some(audit.count(level) as f64));
    }
    let labels = with(&experiment, "level", "not evaluated");
    findings.push("", labels, Some(audit.not_evaluated() as f64));
    vec![grade, machine, findings]
}
