//! The check of a target, for people and for programs: the prediction with what it was compared with.

use serde_json::{Value, json};
use stats::Interval;

use crate::{
    answer_line::AnswerLine,
    prediction_formats::{csv_interval, csv_text, interval_json, prediction_csv, prediction_value},
    prediction_text::{
        ROW_LOCKS, SCALING, bounds_in_words, missing_in_words, prediction_lines, rate,
    },
    requirement_formats::allowed_json,
    target_check::{AllowedRate, Carried, CarriedVerdict, TargetCheck},
};

/// Lines of an answer on a wide terminal.
const LINES_AT_MOST: usize = 12;

/// The answer, without its remarks: the lines of the prediction, of which the first begins with the check.
pub fn check_lines(check: &TargetCheck) -> Vec<AnswerLine> {
    let mut lines = prediction_lines(&check.prediction);
    if let (Some(decision), Some(first)) = (decision_in_words(check), lines.first_mut()) {
        first.text = format!("{decision} {}", first.text);
    }
    if let Some(text) = response_in_words(check) {
        lines.insert(1, AnswerLine::new("p99", text));
    }
    shortened(lines)
}

/// The lines without that of the row locks if they are too many, and without that of the scaling model if they are still
/// too many: the effect of the locks is a part of the contention, and the line of the CPUs has the throughput that follows
/// from the model.
fn shortened(mut lines: Vec<AnswerLine>) -> Vec<AnswerLine> {
    for left_out in [ROW_LOCKS, SCALING] {
        if lines.len() > LINES_AT_MOST {
            lines.retain(|it| it.label != left_out);
        }
    }
    lines
}

/// The decision in a sentence: `Yes: the target carries 3.00k operations/s, ...`; `None` if no throughput is given.
pub fn decision_in_words(check: &TargetCheck) -> Option<String> {
    let carried = check.carried.as_ref();
    carried.map(|carried| carried_in_words(check, carried))
}

/// The rate that keeps the limit on the response time; `None` without a limit.
pub fn response_in_words(check: &TargetCheck) -> Option<String> {
    check.response.as_ref().map(|response| match response {
        Ok(allowed) => allowed_in_words(allowed),
        Err(why) => format!("not known: {why}"),
    })
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
    match carried.verdict {
        CarriedVerdict::Yes => {
            let at_most = if check.prediction.is_at_most() {
                "at most "
            } else {
                ""
            };
            let spare = carried.ratio.map(|it| spare_in_words(at_most, &it));
            format!(
                "Yes: the target carries {load}{}.",
                spare.unwrap_or_default()
            )
        }
        CarriedVerdict::No => {
            let missing = carried.ratio.map(|it| {
                // The highest ratio leaves the smallest gap.
                let [missing, low, high] =
                    [it.estimate, it.high, it.low].map(|ratio| units::percent(1.0 - ratio));
                format!(": {missing} ({low} to {high}) are missing")
            });
            format!(
                "No: the target does not carry {load}{}.",
                missing.unwrap_or_default()
            )
        }
        CarriedVerdict::Undecided => {
            let why = why_undecided(check, carried);
            format!("Undecided whether the target carries {load}: {why}.")
        }
    }
}

/// `, with 24 % (20 % to 29 %) to spare`
fn spare_in_words(at_most: &str, ratio: &Interval) -> String {
    let [spare, low, high] =
        [ratio.estimate, ratio.low, ratio.high].map(|ratio| units::percent(ratio - 1.0));
    let interval = if ratio.high.is_finite() {
        format!("{low} to {high}")
    } else {
        format!("{low} or more")
    };
    format!(", with {at_most}{spare} ({interval}) to spare")
}

fn why_undecided(check: &TargetCheck, carried: &Carried) -> String {
    let ratio = carried.ratio;
    let missing = check.prediction.limits_not_measured();
    let bounds = bounds_in_words(&check.prediction);
    if ratio.is_some_and(|it| it.high < 1.0) {
        "the search did not try a rate that exceeds the limit".to_owned()
    } else if matches!(check.response, Some(Err(_))) {
        "the rate that keeps the limit on the response time is not known".to_owned()
    } else if !missing.is_empty() {
        missing_in_words(missing)
    } else if let Some(bounds) = bounds.filter(|_| ratio.is_none_or(|it| it.low >= 1.0)) {
        bounds
    } else {
        "the interval contains this throughput".to_owned()
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
        let [estimate, low, high] = csv_interval(per_s);
        let [of, name, value] = ["response limit", "per_s", ""].map(str::to_owned);
        rows.push([of, name, value, estimate, low, high, note]);
    }
    if let Some(carried) = &check.carried {
        let [estimate, low, high] = csv_interval(carried.ratio);
        let [of, name] = ["carried", "throughput_by_it"].map(str::to_owned);
        let (value, note) = (carried.per_s.to_string(), carried.verdict.name().to_owned());
        rows.push([of, name, value, estimate, low, high, note]);
    }
    prediction_csv(&check.prediction) + &csv_text(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_has_at_most_twelve_lines() {
        let lines = |others: usize| {
            let labels = [ROW_LOCKS, SCALING].into_iter().chain(vec!["cpus"; others]);
            labels.map(|label| AnswerLine::new(label, String::new()))
        };
        let has = |lines: &[AnswerLine], label: &str| lines.iter().any(|it| it.label == label);
        assert_eq!(shortened(lines(10).collect()).len(), 12);
        let shown = shortened(lines(11).collect());
        assert!(shown.len() == 12 && !has(&shown, ROW_LOCKS) && has(&shown, SCALING));
        let shown = shortened(lines(12).collect());
        assert!(shown.len() == 12 && !has(&shown, ROW_LOCKS) && !has(&shown, SCALING));
    }
}
