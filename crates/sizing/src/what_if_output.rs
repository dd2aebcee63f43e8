//! The throughput with and without changes, for people and for programs.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::{
    answer_line::AnswerLine,
    limit::Limit,
    measured_records::MeasuredRecords,
    prediction::CONFIDENCE,
    prediction_formats::{csv_interval, csv_text, interval_json},
    prediction_text::{binding_in_words, missing_in_words, no_scaling_model, rate},
    what_if::{ComparedThroughput, WhatIf},
};

/// The answer, without its remarks.
pub fn what_if_lines(answer: &WhatIf) -> Vec<AnswerLine> {
    let mut lines = vec![AnswerLine::new("", answer_in_words(answer))];
    for (label, of) in [("now", &answer.now), ("then", &answer.then)] {
        lines.push(AnswerLine::new(label, throughput_in_words(of)));
    }
    for (limit, why) in not_measured(answer) {
        lines.push(AnswerLine::new(limit.name(), why.to_owned()));
    }
    let how = if answer.is_measured {
        "highest throughput of each level"
    } else {
        "not tested"
    };
    if let Some(why) = &answer.no_scaling_model {
        lines.push(AnswerLine::new("scaling", no_scaling_model(why)));
    }
    if let Some(problems) = answer.conditions.problems() {
        lines.push(AnswerLine::new("problems", problems));
    }
    let records = MeasuredRecords {
        executions: answer.executions,
        subject: &answer.subject,
        blocks: answer.blocks,
    };
    let measured = format!("{}; {how}", records.in_words());
    lines.push(AnswerLine::new("measured", measured));
    lines
}

/// What would have to be measured for each limit, once for both throughputs.
fn not_measured(answer: &WhatIf) -> BTreeMap<Limit, &str> {
    let both = [&answer.then, &answer.now].into_iter();
    let all = both.flat_map(|it| &it.not_measured);
    all.map(|(limit, why)| (*limit, why.as_str())).collect()
}

fn answer_in_words(answer: &WhatIf) -> String {
    let changes = &answer.changes;
    if let (Some(_), Some(ratio)) = (answer.ratio_of_bounds(), &answer.ratio) {
        let [change, _] = units::change_and_interval(ratio.estimate, (ratio.low, ratio.high));
        return format!(
            "With {changes}, the upper bound of the throughput changes by {change}. The change of the throughput itself is \
             not known without a scaling model."
        );
    }
    let Some(ratio) = answer.ratio.filter(|_| answer.is_known()) else {
        let missing = not_measured(answer);
        let why = if missing.is_empty() {
            "no named limit bounds the load".to_owned()
        } else {
            missing_in_words(missing.into_keys())
        };
        return format!("The effect of {changes} is not known, because {why}.");
    };
    let [change, interval] = units::change_and_interval(ratio.estimate, (ratio.low, ratio.high));
    let is_uncertain = ratio.low < 1.0 && ratio.high > 1.0;
    let uncertain = if is_uncertain {
        " The interval contains 0 %, so there may be no change."
    } else {
        ""
    };
    let bound = match (answer.now.is_at_most, answer.then.is_at_most) {
        (true, _) => " Without a scaling model, the present throughput is an upper bound.",
        (false, true) => {
            " Without a scaling model, the throughput after the change is an upper bound."
        }
        (false, false) => "",
    };
    format!("With {changes}, the throughput changes by {change} ({interval}).{uncertain}{bound}")
}

/// `4.10k (3.95k to 4.26k) operations/s with 16 connections; the reads of the disk limit it`
fn throughput_in_words(of: &ComparedThroughput) -> String {
    let Some(per_s) = &of.per_s else {
        return "not known".to_owned();
    };
    let is_bound = of.is_at_most || !of.not_measured.is_empty();
    let at_most = if is_bound { "at most " } else { "" };
    let connections = of.connections.map(|connections| {
        let count = units::counted_amount(connections.round(), "connection");
        format!(" with {count}")
    });
    let binding = if of.binding.is_empty() {
        String::new()
    } else {
        format!("; {}", binding_in_words(&of.binding))
    };
    format!(
        "{at_most}{} operations/s{}{binding}",
        rate(per_s),
        connections.unwrap_or_default()
    )
}

/// One JSON object with all figures, and a line end.
pub fn what_if_json(answer: &WhatIf) -> String {
    let of_bounds = answer.ratio_of_bounds();
    let ratio = answer.ratio.filter(|_| of_bounds.is_none());
    let object = json!({
        "known": answer.is_known(),
        "changes": answer.changes,
        "measured": answer.is_measured,
        "ratio": ratio.as_ref().map(interval_json),
        "ratio_of_upper_bounds": of_bounds,
        "no_scaling_model": answer.no_scaling_model,
        "now": throughput_json(&answer.now),
        "then": throughput_json(&answer.then),
        "subject": answer.subject,
        "executions": answer.executions,
        "blocks": answer.blocks,
        "conditions": answer.conditions.json(),
        "problems": answer.conditions.problems(),
        "confidence": CONFIDENCE,
        "tested": false,
        "notes": answer.remarks,
    });
    format!("{object:#}\n")
}

fn throughput_json(of: &ComparedThroughput) -> Value {
    let binding = of.binding.iter();
    let binding: Vec<Value> = binding
        .map(|(limit, share)| json!({ "limit": limit.name(), "share_of_draws": share }))
        .collect();
    let not_measured = of.not_measured.iter();
    let not_measured: Vec<Value> = not_measured
        .map(|(limit, why)| json!({ "limit": limit.name(), "why": why }))
        .collect();
    json!({
        "per_s": of.per_s.as_ref().map(interval_json),
        "at_most": of.is_at_most,
        "connections": of.connections,
        "binding": binding,
        "not_measured": not_measured,
    })
}

/// A table with a header line: the throughput now and then, and their ratio.
pub fn what_if_csv(answer: &WhatIf) -> String {
    let mut rows =
        vec![["of", "unit", "estimate", "low", "high", "binding", "note"].map(str::to_owned)];
    for (name, of) in [("now", &answer.now), ("then", &answer.then)] {
        let binding = of.binding.first().map(|(limit, _)| limit.name());
        let missing = of.not_measured.iter();
        let missing: Vec<String> = missing
            .map(|(limit, why)| format!("{}: {why}", limit.name()))
            .collect();
        let note = match missing.as_slice() {
            [] if of.is_at_most => "at most".to_owned(),
            missing => missing.join("; "),
        };
        let [estimate, low, high] = csv_interval(of.per_s);
        let [name, unit, binding] = [name, "1/s", binding.unwrap_or_default()].map(str::to_owned);
        rows.push([name, unit, estimate, low, high, binding, note]);
    }
    if let Some(ratio) = answer.ratio.filter(|_| answer.has_ratio()) {
        let [estimate, low, high] = csv_interval(Some(ratio));
        let (name, low, high) = match answer.ratio_of_bounds() {
            Some(_) => ("ratio of upper bounds", String::new(), String::new()),
            None => ("ratio", low, high),
        };
        let [name, unit, binding, note] = [name, "1", "", ""].map(str::to_owned);
        rows.push([name, unit, estimate, low, high, binding, note]);
    }
    if let Some(problems) = answer.conditions.problems() {
        let mut row: [String; 7] = Default::default();
        (row[0], row[6]) = ("problems".to_owned(), problems);
        rows.push(row);
    }
    csv_text(rows)
}
