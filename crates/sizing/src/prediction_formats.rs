//! A prediction for programs: JSON and CSV.

use serde_json::{Map, Value, json};
use stats::Interval;

use crate::{
    limit::Limit,
    limit_outcome::LimitOutcome,
    prediction::{CONFIDENCE, Prediction},
    validation::Validation,
};

/// One JSON object with all figures, and a line end. A number without an upper end has `null` there.
pub fn prediction_json(prediction: &Prediction) -> String {
    format!("{:#}\n", prediction_value(prediction))
}

pub(crate) fn prediction_value(prediction: &Prediction) -> Value {
    let throughput = prediction.throughput.as_ref().map(|throughput| {
        let binding = throughput.binding.iter();
        let binding: Vec<Value> = binding
            .map(|(limit, share)| json!({ "limit": limit.name(), "share_of_draws": share }))
            .collect();
        json!({
            "per_s": interval_json(&throughput.per_s),
            "connections": throughput.connections,
            "binding": binding,
        })
    });
    let limits = prediction.limits.iter();
    let limits: Vec<Value> = limits
        .map(|(limit, outcome)| limit_json(prediction, *limit, outcome))
        .collect();
    let demands = prediction.demands.iter();
    let demands: Map<String, Value> = demands
        .map(|(demand, interval)| (demand.name().to_owned(), interval_json(interval)))
        .collect();
    let drifts = prediction.drifts.iter();
    let drifts: Vec<Value> = drifts
        .map(|it| json!({ "demand": it.demand.name(), "last_by_first_blocks": it.ratio }))
        .collect();
    let memory = prediction.memory.as_ref().map(|memory| {
        json!({
            "buffer_pool_bytes": memory.buffer_pool.map(|it| it.bytes),
            "buffer_pool_is_assumed": memory.buffer_pool.map(|it| it.is_assumed),
            "data_bytes": memory.data_bytes,
            "share": memory.share,
            "measured_shares": memory.measured_shares,
            "interpolated": memory.is_interpolated,
        })
    });
    json!({
        "known": prediction.is_known(),
        "throughput": throughput,
        "limits": limits,
        "demands": demands,
        "memory": memory,
        "scaling": scaling_json(prediction),
        "measured_cpus": prediction.measured_cpus,
        "cpus_extrapolated": prediction.is_extrapolated(),
        "drift": drifts,
        "subject": prediction.subject,
        "executions": prediction.executions,
        "blocks": prediction.blocks,
        "conditions": prediction.conditions.json(),
        "problems": prediction.conditions.problems(),
        "confidence": CONFIDENCE,
        "tested": prediction.validation.is_some(),
        "validation": prediction.validation.as_ref().map(validation_json),
        "notes": prediction.remarks,
    })
}

pub(crate) fn interval_json(interval: &Interval) -> Value {
    json!({ "estimate": interval.estimate, "low": interval.low, "high": interval.high })
}

fn validation_json(validation: &Validation) -> Value {
    let emulated = &validation.emulated;
    let demands = validation.demands.iter().map(|it| {
        json!({
            "demand": it.demand.name(),
            "measured": it.measured,
            "predicted": interval_json(&it.predicted),
            "in_interval": it.is_in_interval(),
        })
    });
    json!({
        "emulated": {
            "cpus": emulated.cpus,
            "buffer_pool_bytes": emulated.buffer_pool_bytes,
            "data_bytes": emulated.data_bytes,
            "read_iops": emulated.read_iops,
            "write_iops": emulated.write_iops,
        },
        "not_emulated": validation.not_emulated,
        "connections": validation.connections,
        "executions": validation.executions,
        "measured_per_s": interval_json(&validation.measured_per_s),
        "predicted_per_s": interval_json(&validation.predicted_per_s),
        "predicted_at_most": validation.is_at_most,
        "error": interval_json(&validation.error()),
        "in_interval": validation.is_in_interval(),
        "demands": demands.collect::<Vec<_>>(),
        "limited_by": validation.limited_by,
    })
}

fn limit_json(prediction: &Prediction, limit: Limit, outcome: &LimitOutcome) -> Value {
    let (per_s, at_most_why, not_measured) = match outcome {
        LimitOutcome::Rate { per_s, at_most_why } => {
            (Some(interval_json(per_s)), at_most_why.as_deref(), None)
        }
        LimitOutcome::Unlimited => (None, None, None),
        LimitOutcome::NotMeasured(why) => (None, None, Some(why)),
    };
    json!({
        "limit": limit.name(),
        "unit": limit.unit(),
        "value": prediction.target.value(limit),
        "per_s": per_s,
        "at_most": at_most_why.is_some(),
        "at_most_why": at_most_why,
        "not_measured": not_measured,
    })
}

/// The scaling model of the measured server; an object with the reason if there is none.
fn scaling_json(prediction: &Prediction) -> Value {
    let scaling = match &prediction.scaling {
        Ok(scaling) => scaling,
        Err(why) => return json!({ "why_none": why }),
    };
    let (peak, why_none) = match scaling.peak {
        Ok(peak) => (Some(interval_json(&peak.concurrency)), None),
        Err(none) => (None, Some(none.to_string())),
    };
    json!({
        "single_per_s": scaling.law.single_per_s,
        "contention": scaling.law.contention,
        "coherency": scaling.law.coherency,
        "measured_up_to": scaling.measured_up_to,
        "peak_connections": peak,
        "why_no_peak": why_none,
    })
}

/// A table with a header line: the throughput, what each limit allows, the demands of one operation, and the test of
/// the prediction.
pub fn prediction_csv(prediction: &Prediction) -> String {
    let mut rows =
        vec![["of", "name", "value", "estimate", "low", "high", "note"].map(str::to_owned)];
    let mut row = |of: &str, name: &str, value: Option<f64>, interval: Option<Interval>, note| {
        let [of, name] = [of, name].map(str::to_owned);
        let [estimate, low, high] = csv_interval(interval);
        rows.push([of, name, csv_number(value), estimate, low, high, note]);
    };
    if let Some(throughput) = &prediction.throughput {
        let binding = throughput.binding.first().map(|(limit, _)| limit.name());
        let note = match (prediction.is_known(), binding) {
            (true, Some(binding)) => format!("{binding} binds"),
            _ => "at most".to_owned(),
        };
        row("throughput", "per_s", None, Some(throughput.per_s), note);
    }
    for (limit, outcome) in &prediction.limits {
        let (interval, note) = match outcome {
            LimitOutcome::Rate { per_s, at_most_why } => {
                let note = at_most_why.as_ref().map(|_| "at most".to_owned());
                (Some(*per_s), note.unwrap_or_default())
            }
            LimitOutcome::Unlimited => (None, "no limit".to_owned()),
            LimitOutcome::NotMeasured(why) => (None, why.clone()),
        };
        let value = prediction.target.value(*limit);
        row("limit", limit.name(), value, interval, note);
    }
    for (demand, interval) in &prediction.demands {
        let note = String::new();
        row("demand", demand.name(), None, Some(*interval), note);
    }
    if let Some(problems) = prediction.conditions.problems() {
        row("problems", "", None, None, problems);
    }
    if let Some(validation) = &prediction.validation {
        let note = match validation.not_emulated.as_slice() {
            [] => String::new(),
            names => format!("not emulated: {}", names.join(" ")),
        };
        let measured = Some(validation.measured_per_s);
        row("validation", "measured_per_s", None, measured, note);
        let at_most = validation.is_at_most.then(|| "at most".to_owned());
        let at_most = at_most.unwrap_or_default();
        let predicted = Some(validation.predicted_per_s);
        row("validation", "predicted_per_s", None, predicted, at_most);
        let error = Some(validation.error());
        row("validation", "error", None, error, String::new());
        for it in &validation.demands {
            let (measured, predicted) = (Some(it.measured), Some(it.predicted));
            let note = if it.is_in_interval() { "" } else { "outside" };
            let name = it.demand.name();
            row(
                "validated demand",
                name,
                measured,
                predicted,
                note.to_owned(),
            );
        }
    }
    csv_text(rows)
}

/// The estimate and the ends of an interval in CSV; empty without an interval.
pub(crate) fn csv_interval(interval: Option<Interval>) -> [String; 3] {
    let ends = interval.map(|it| [it.estimate, it.low, it.high]);
    ends.map_or_else(Default::default, |ends| ends.map(|it| csv_number(Some(it))))
}

/// A number in CSV; empty if it is not known, or not finite.
pub(crate) fn csv_number(number: Option<f64>) -> String {
    let finite = number.filter(|it| it.is_finite());
    finite.map(|it| it.to_string()).unwrap_or_default()
}

/// The lines of a table as CSV.
pub(crate) fn csv_text<const COLUMNS: usize>(rows: Vec<[String; COLUMNS]>) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for row in rows {
        let written = writer.write_record(row);
        written.expect("memory takes all that is written");
    }
    let bytes = writer
        .into_inner()
        .expect("memory takes all that is written");
    String::from_utf8(bytes).expect("only text was written")
}
