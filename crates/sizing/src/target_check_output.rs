//! The check of a target, for people and for programs: the prediction with what it was compared with.

use serde_json::{Value, json};

use crate::{
    answer_line::AnswerLine,
    prediction_formats::{csv_text, interval_json, prediction_csv, prediction_value},
    prediction_text::{prediction_lines, rate},
    requirement_formats::allowed_json,
    target_check::{AllowedRate, Carried, CarriedVerdict, TargetCheck},
};

/// The answer, without its remarks: the lines of the prediction, of which the first begins with the check.
pub fn check_lines(check: &TargetCheck) -> Vec<AnswerLine> {
    let mut lines = prediction_lines(&check.prediction);
    if let (Some(carried), Some(first)) = (&check.carried, lines.first_mut()) {
        first.text = format!("{} {}", carried_in_words(check, carried), first.text);
    }
    if let Some(response) = &check.response {
        let text = match response {
            Ok(allowed) => allowed_in_words(allowed),
            Err(why) => format!("not known: {why}"),
        };
        lines.insert(1, AnswerLine::new("p99", text));
    }
    lines
}

/// `Yes: the target carries 3.00k operations/s with p99 < 20 ms, with 23 % (18 % to 28 %) to spare.`
fn carried_in_words(check: &TargetCheck, carried: &Carried) -> String {
    let limit = check.response.as_ref().and_then(|it| it.as_ref().ok());
    let limit = limit.map(|it| format!(" with {}", it.share.limit.in_words()));
    let load = format!(
        "{} operations/s{}",
        units::si(carried.per_s),
        limit.unwrap_or_default()
    );
    let bounds = carried.ratio.map(|it| [it.estimate, it.low, it.high]);
    let shares = |of: fn(f64) -> f64| bounds.map(|it| it.map(|ratio| units::percent(of(ratio))));
    match carried.verdict {
        CarriedVerdict::Yes => {
            let at_most = if check.prediction.is_at_most() {
                "at most "
            } else {
                ""
            };
            let spare = shares(|ratio| ratio - 1.0).map(|[spare, low, high]| {
                format!(", with {at_most}{spare} ({low} to {high}) to spare")
            });
            format!(
                "Yes: the target carries {load}{}.",
                spare.unwrap_or_default()
            )
        }
        CarriedVerdict::No => {
            // The highest ratio leaves the smallest gap.
            let missing = shares(|ratio| 1.0 - ratio)
                .map(|[missing, high, low]| format!(": {missing} ({low} to {high}) are missing"));
            format!(
                "No: the target does not carry {load}{}.",
                missing.unwrap_or_default()
            )
        }
        CarriedVerdict::Undecided => {
            let ratio = carried.ratio;
            let why = if ratio.is_some_and(|it| it.high < 1.0) {
                "the search did not try a rate that exceeds the limit"
            } else if ratio.is_some_and(|it| it.low < 1.0) {
                "it lies within the interval"
            } else {
                "what the target can do is known only as an upper bound"
            };
            format!("Undecided whether the target carries {load}: {why}.")
        }
    }
}

fn allowed_in_words(allowed: &AllowedRate) -> String {
    let rate = allowed.per_s.as_ref().map(|per_s| {
        let rate = rate(per_s);
        format!("{rate} operations/s: ")
    });
    format!("{}{}", rate.unwrap_or_default(), allowed.share.in_words())
}

/// The object of the prediction, with `carried` and `response_limit`.
pub fn check_json(check: &TargetCheck) -> String {
    let mut object = prediction_value(&check.prediction);
    object["known"] = json!(check.is_known());
    if let Some(carried) = &check.carried {
        object["carried"] = json!({
            "per_s": carried.per_s,
            "verdict": carried.verdict.name(),
            "throughput_by_it": carried.ratio.as_ref().map(interval_json),
        });
    }
    if let Some(response) = &check.response {
        object["response_limit"] = match response {
            Ok(allowed) => response_json(allowed),
            Err(why) => json!({ "not_measured": why }),
        };
    }
    format!("{object:#}\n")
}

fn response_json(allowed: &AllowedRate) -> Value {
    let mut object = allowed_json(&allowed.share);
    object["per_s"] = json!(allowed.per_s.as_ref().map(interval_json));
    object
}

/// The table of the prediction, with lines for the throughput that is to be carried and for the response time.
pub fn check_csv(check: &TargetCheck) -> String {
    let mut rows = Vec::new();
    if let Some(response) = &check.response {
        let per_s = response.as_ref().ok().and_then(|it| it.per_s);
        let note = response.as_ref().err().cloned().unwrap_or_default();
        let numbers = per_s.map(|it| [it.estimate, it.low, it.high].map(|it| it.to_string()));
        let [estimate, low, high] = numbers.unwrap_or_default();
        let [of, name, value] = ["response limit", "per_s", ""].map(str::to_owned);
        rows.push([of, name, value, estimate, low, high, note]);
    }
    if let Some(carried) = &check.carried {
        let ratio = carried.ratio;
        let numbers = ratio.map(|it| [it.estimate, it.low, it.high].map(|it| it.to_string()));
        let [estimate, low, high] = numbers.unwrap_or_default();
        let [of, name] = ["carried", "throughput_by_it"].map(str::to_owned);
        let (value, note) = (carried.per_s.to_string(), carried.verdict.name().to_owned());
        rows.push([of, name, value, estimate, low, high, note]);
    }
    prediction_csv(&check.prediction) + &csv_text(rows)
}
