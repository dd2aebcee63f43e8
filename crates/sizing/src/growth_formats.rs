//! The date on which the throughput of growing data falls, for programs: JSON and CSV.

use serde_json::{Value, json};
use stats::Interval;

use crate::{
    growth_answer::{GrowthAnswer, GrowthDate, GrowthOutcome},
    memory_curve::{Crossing, MemoryCurve},
    prediction::Prediction,
    prediction_formats::{
        csv_interval, csv_number, csv_text, interval_json, prediction_csv, prediction_value,
    },
};

/// The object of the prediction with the curve and the date, and a line end.
pub fn growth_json(
    prediction: &Prediction,
    curve: &Result<MemoryCurve, String>,
    answer: &GrowthAnswer,
) -> String {
    let mut object = prediction_value(prediction);
    object["memory_curve"] = match curve {
        Ok(curve) => curve_json(curve),
        Err(why) => json!({ "why_none": why }),
    };
    object["growth"] = answer_json(answer);
    format!("{object:#}\n")
}

fn curve_json(curve: &MemoryCurve) -> Value {
    let points = curve.points.iter().map(|it| {
        json!({
            "data_by_memory": it.data_by_memory,
            "per_s": interval_json(&it.per_s),
            "binding": it.binding.name(),
            "measured": it.is_measured,
        })
    });
    json!({
        "today": curve.today,
        "data_bytes": curve.data_bytes,
        "buffer_pool_bytes": curve.buffer_pool_bytes,
        "points": points.collect::<Vec<_>>(),
        "cliff": interval_json(&interval(curve.cliff)),
    })
}

/// An end that is not known is infinite, which both formats leave out.
fn interval(crossing: Crossing) -> Interval {
    let known = |end: Option<f64>| end.unwrap_or(f64::INFINITY);
    Interval {
        estimate: known(crossing.estimate),
        low: known(crossing.earliest),
        high: known(crossing.latest),
    }
}

/// The dates of an answer: estimate, earliest and latest.
fn dates(outcome: &GrowthOutcome) -> [Option<&GrowthDate>; 3] {
    match outcome {
        GrowthOutcome::Reached {
            estimate,
            earliest,
            latest,
        } => [Some(estimate), Some(earliest), latest.as_ref()],
        GrowthOutcome::NotReached { earliest, .. } => [None, earliest.as_ref(), None],
        GrowthOutcome::Passed | GrowthOutcome::Undecided | GrowthOutcome::NotMeasured(_) => {
            [None; 3]
        }
    }
}

fn outcome_name(outcome: &GrowthOutcome) -> &'static str {
    match outcome {
        GrowthOutcome::Reached { .. } => "reached",
        GrowthOutcome::Passed => "passed",
        GrowthOutcome::Undecided => "undecided",
        GrowthOutcome::NotReached { .. } => "not_reached",
        GrowthOutcome::NotMeasured(_) => "not_measured",
    }
}

fn answer_json(answer: &GrowthAnswer) -> Value {
    let months = |date: Option<&GrowthDate>| date.map(|it| it.months);
    let day = |date: Option<&GrowthDate>| date.and_then(|it| it.date.clone());
    let [estimate, earliest, latest] = dates(&answer.outcome);
    let (until, not_measured) = match &answer.outcome {
        GrowthOutcome::NotReached { until, .. } => (Some(until), None),
        GrowthOutcome::NotMeasured(why) => (None, Some(why)),
        GrowthOutcome::Reached { .. } | GrowthOutcome::Passed | GrowthOutcome::Undecided => {
            (None, None)
        }
    };
    json!({
        "growth": answer.growth.text(),
        "tps": answer.tps,
        "today": answer.today,
        "outcome": outcome_name(&answer.outcome),
        "data_by_memory": answer.crossing.map(|it| interval_json(&interval(it))),
        "months": { "estimate": months(estimate), "low": months(earliest), "high": months(latest) },
        "date": { "estimate": day(estimate), "low": day(earliest), "high": day(latest) },
        "measured_until": day(until),
        "not_measured": not_measured,
    })
}

/// The table of the prediction with rows for the points of the curve, the cliff and the date.
pub fn growth_csv(
    prediction: &Prediction,
    curve: &Result<MemoryCurve, String>,
    answer: &GrowthAnswer,
) -> String {
    let mut rows = Vec::new();
    if let Ok(curve) = curve {
        rows.extend(curve.points.iter().map(|it| {
            let demands = if it.is_measured {
                "measured"
            } else {
                "interpolated"
            };
            let note = format!("{demands}; {} binds", it.binding.name());
            let value = Some(it.data_by_memory);
            row(["curve", "per_s"], value, it.per_s, note)
        }));
        let cliff = interval(curve.cliff);
        rows.push(row(["cliff", "data_by_memory"], None, cliff, String::new()));
    }
    let dates = dates(&answer.outcome);
    let [estimate, low, high] = dates.map(|date| date.map_or(f64::INFINITY, |it| it.months));
    let months = Interval {
        estimate,
        low,
        high,
    };
    let date = dates[0].and_then(|it| it.date.clone());
    let note = match &answer.outcome {
        GrowthOutcome::NotMeasured(why) => why.clone(),
        outcome => date.unwrap_or_else(|| outcome_name(outcome).to_owned()),
    };
    rows.push(row(["growth", "months"], answer.tps, months, note));
    // Both have the same columns, and the first one has their names.
    prediction_csv(prediction) + &csv_text(rows)
}

/// A row with the columns of the prediction.
fn row([of, name]: [&str; 2], value: Option<f64>, interval: Interval, note: String) -> [String; 7] {
    let [estimate, low, high] = csv_interval(Some(interval));
    let [of, name] = [of, name].map(str::to_owned);
    [of, name, csv_number(value), estimate, low, high, note]
}
