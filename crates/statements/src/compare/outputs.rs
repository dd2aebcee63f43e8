//! Findings as a short answer, in detail, as JSON and as CSV.

use std::fmt::Write;

use report::cut_to_width;
use serde_json::{Value, json};
use units::{change_and_interval, seconds};

use super::{
    comparison::ResultEquivalence,
    finding::{Finding, Report},
};
use crate::csv_field::quoted;

/// Lines of the answer at most; the details come with --verbose.
const LINES_AT_MOST: usize = 12;
/// Characters of a name.
const NAME_AT_MOST: usize = 13;
/// Columns of text at most and at least.
const WIDTHS: (usize, usize) = (80, 110);

/// A row per comparison; with its reason below where there is room, the largest differences first.
pub fn table(report: &Report, is_verbose: bool, width: usize) -> String {
    let width = width.clamp(WIDTHS.0, WIDTHS.1);
    let mut text = String::new();
    line(&mut text, &report.headline());
    if let Some(failure) = &report.failure {
        line(&mut text, &format!("incomplete: {}", failure.message));
    }
    line(&mut text, &head());
    if is_verbose {
        for finding in &report.findings {
            line(&mut text, &row(finding));
        }
        for finding in &report.findings {
            details(&mut text, finding, width);
        }
        return text;
    }
    let room = LINES_AT_MOST - 2 - usize::from(report.failure.is_some());
    let all = &report.findings;
    let mut order: Vec<&Finding> = all.iter().collect();
    order.sort_by(|a, b| weight(b).total_cmp(&weight(a)));
    let shown = if all.len() > room {
        room - 1
    } else {
        all.len()
    };
    let has_rest = all.len() > shown;
    let explained = room - shown - usize::from(has_rest);
    for finding in all {
        let rank = order.iter().position(|it| std::ptr::eq(*it, finding));
        let rank = rank.unwrap_or(usize::MAX);
        if rank < shown {
            line(&mut text, &row(finding));
        }
        if rank < explained.min(shown)
            && let Some(reason) = short_reason(finding, width - 2)
        {
            line(&mut text, &format!("  {reason}"));
        }
    }
    if has_rest {
        let rest: Vec<&str> = order[shown..]
            .iter()
            .map(|it| it.verdict().word())
            .collect();
        let mut kinds: Vec<&str> = rest.clone();
        kinds.sort_unstable();
        kinds.dedup();
        let counts = kinds.iter().map(|kind| {
            let number = rest.iter().filter(|it| *it == kind).count();
            format!("{number} {kind}")
        });
        let counts: Vec<String> = counts.collect();
        line(
            &mut text,
            &format!("{} more: {} (--verbose)", rest.len(), counts.join(", ")),
        );
    }
    text
}

/// How much a finding matters: a different result most, then the size of a certain difference.
fn weight(finding: &Finding) -> f64 {
    if finding.comparison.sameness == ResultEquivalence::Different {
        return f64::INFINITY;
    }
    let Some(compared) = finding.compared() else {
        return 0.0;
    };
    let ratio = compared.comparison.map_or(1.0, |it| it.ratio.estimate);
    let certain = if compared.decision.is_different() {
        1e6
    } else {
        0.0
    };
    certain + ratio.ln().abs()
}

fn head() -> String {
    format!(
        "{:<NAME_AT_MOST$} {:<NAME_AT_MOST$}{:>9}{:>9}  {:<13} change (95 % interval)",
        "statement", "variant", "before", "after", "verdict"
    )
}

fn row(finding: &Finding) -> String {
    let name = |text: &str| -> String { text.chars().take(NAME_AT_MOST).collect() };
    let start = format!(
        "{:<NAME_AT_MOST$} {:<NAME_AT_MOST$}",
        name(&finding.statement),
        name(&finding.variant)
    );
    let verdict = finding.verdict().word();
    let Some(compared) = finding.compared() else {
        let check = finding.check().unwrap_or_default();
        return format!("{start}  {verdict}: {check}");
    };
    let [before, after] = compared.means.map(seconds);
    let ratio = compared.comparison.map(|it| it.ratio);
    let numbers = ratio.map_or_else(
        || "too few blocks".to_owned(),
        |ratio| {
            let [change, interval] = change_and_interval(ratio.estimate, (ratio.low, ratio.high));
            format!("{change} ({interval})")
        },
    );
    let unchecked = match finding.comparison.sameness {
        ResultEquivalence::Unknown => "; result not compared",
        ResultEquivalence::Undecided => "; different rows, both may be correct",
        ResultEquivalence::Same | ResultEquivalence::Tied | ResultEquivalence::Different => "",
    };
    format!("{start}{before:>9}{after:>9}  {verdict:<13} {numbers}{unchecked}")
}

/// Why the times differ, and the first change of the plan.
fn short_reason(finding: &Finding, width: usize) -> Option<String> {
    let mut parts: Vec<String> = finding.first_reason().into_iter().collect();
    let changes = finding.plan_changes().unwrap_or_default();
    if let Some(first) = changes.first() {
        let more = match changes.len() {
            1 => String::new(),
            number => format!(" and {} more", number - 1),
        };
        parts.push(format!("{}{more}", first.sentence()));
    }
    if parts.is_empty() {
        return None;
    }
    Some(cut_to_width(&parts.join("; "), width))
}

fn details(text: &mut String, finding: &Finding, width: usize) {
    line(
        text,
        &format!("\n{} under {}:", finding.statement, finding.variant),
    );
    for sentence in finding.check().into_iter().chain(finding.reason()) {
        line(text, &format!("  {sentence}"));
    }
    match finding.plan_changes() {
        Some(changes) if changes.is_empty() && finding.is_one_version => {
            line(text, "  the plan is the same");
        }
        Some(changes) if changes.is_empty() => {
            line(text, "  the tables are read in the same way and order");
        }
        Some(changes) => {
            for change in changes {
                line(text, &format!("  {}", change.sentence()));
            }
        }
        None => line(
            text,
            "  the server explains it on only one side, or on neither",
        ),
    }
    let [before, after] = &finding.comparison.costs;
    let mut names: Vec<&String> = before.iter().chain(after).map(|(name, _)| name).collect();
    names.sort_unstable();
    names.dedup();
    for name in names {
        let of = |costs: &[(String, i64)]| {
            let found = costs.iter().find(|(other, _)| other == name);
            units::count(found.map_or(0, |(_, added)| *added) as f64)
        };
        line(
            text,
            &format!("  {name:<34}{:>10} to {}", of(before), of(after)),
        );
    }
    for (side, plan) in ["before", "after"].iter().zip(&finding.plans) {
        if let Some(explained) = plan {
            line(text, &format!("\n{}, {side}:", explained.command));
            text.push_str(&explained.plan.draw(width));
        }
    }
}

fn line(text: &mut String, content: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{content}");
}

/// One object with every time in seconds and both plans.
pub fn json(report: &Report) -> String {
    let comparisons: Vec<Value> = report.findings.iter().map(finding_json).collect();
    let versions = report.versions.iter();
    let versions: serde_json::Map<String, Value> = versions
        .map(|(name, version)| (name.clone(), json!(version)))
        .collect();
    let value = json!({
        "version": 1,
        "server_version": report.version,
        "copied_server": report.copied,
        "setup": report.setup,
        "server_versions": versions,
        "baseline": report.baseline,
        "blocks": report.blocks,
        "blocks_at_most": report.terms.blocks,
        "seed": report.terms.seed,
        "min_effect": report.terms.margin,
        "whole_interval_beyond_min_effect": report.terms.is_beyond_margin,
        "other_programs_cpu_share": report.other_work,
        "incomplete": report.failure.as_ref().map(|it| &it.message),
        "comparisons": comparisons,
    });
    format!("{value:#}\n")
}

fn finding_json(finding: &Finding) -> Value {
    let compared = finding.compared();
    let ratio = compared.and_then(|it| it.comparison).map(|it| it.ratio);
    let changes = finding.plan_changes();
    let sentences = changes.as_ref().map(|changes| {
        let sentences = changes.iter().map(plans::Change::sentence);
        sentences.collect::<Vec<_>>()
    });
    let costs = |side: usize| -> serde_json::Map<String, Value> {
        let costs = finding.comparison.costs[side].iter();
        costs
            .map(|(name, added)| (name.clone(), json!(added)))
            .collect()
    };
    let plan = |side: usize| finding.plans[side].as_ref().map(|it| &it.plan);
    let times = |of: fn(&(f64, f64)) -> f64| -> Vec<f64> {
        finding.comparison.times_s.iter().map(of).collect()
    };
    let [before, after] = finding.comparison.results;
    json!({
        "statement": finding.statement,
        "variant": finding.variant,
        "texts": finding.texts,
        "verdict": finding.verdict().word(),
        "result": finding.comparison.sameness.word(),
        "result_note": finding.check(),
        "rows": [before.rows.rows(), after.rows.rows()],
        "row_bytes": [before.rows.bytes(), after.rows.bytes()],
        "rows_changed": [before.changed, after.changed],
        "warnings": [before.warnings, after.warnings],
        "mean_s": compared.map(|it| it.means),
        "ratio": ratio.map(|it| it.estimate),
        "ratio_low": ratio.map(|it| it.low),
        "ratio_high": ratio.map(|it| it.high),
        "p_value": compared.and_then(|it| it.p_value),
        "reason": finding.reason(),
        "before_s": times(|pair| pair.0),
        "after_s": times(|pair| pair.1),
        "costs": [costs(0), costs(1)],
        "plan_changes": changes,
        "plan_changes_in_words": sentences,
        "plans": [plan(0), plan(1)],
    })
}

/// A row per comparison; an empty field where there is no value.
pub fn csv(report: &Report) -> String {
    let mut text = "statement,variant,verdict,result,blocks,before_s,after_s,ratio,ratio_low,ratio_high,p_value,reason\n"
        .to_owned();
    let number = |value: Option<f64>| value.map(|value| format!("{value}")).unwrap_or_default();
    for finding in &report.findings {
        let compared = finding.compared();
        let ratio = compared.and_then(|it| it.comparison).map(|it| it.ratio);
        let fields = [
            quoted(&finding.statement),
            quoted(&finding.variant),
            finding.verdict().word().to_owned(),
            finding.comparison.sameness.word().to_owned(),
            finding.comparison.times_s.len().to_string(),
            number(compared.map(|it| it.means[0])),
            number(compared.map(|it| it.means[1])),
            number(ratio.map(|it| it.estimate)),
            number(ratio.map(|it| it.low)),
            number(ratio.map(|it| it.high)),
            number(compared.and_then(|it| it.p_value)),
            quoted(&finding.reason().unwrap_or_default()),
        ];
        line(&mut text, &fields.join(","));
    }
    text
}
