//! What a prediction assumes, and what was not validated.

use maud::{Markup, html};
use sizing::{Prediction, TargetCheck};
use units::{bytes, counted, counted_amount};

use super::lines::line;
use crate::page::unbroken;

/// What the assumptions of a page follow from.
pub(super) struct Basis<'a> {
    pub(super) check: &'a TargetCheck,
    /// Exponent of Zipf's law, if it was named.
    pub(super) zipf: Option<f64>,
    /// Whether the page has a curve, whose points are interpolated.
    pub(super) has_curve: bool,
    /// Whether the data grows.
    pub(super) grows: bool,
}

pub(super) fn section(basis: &Basis<'_>) -> Markup {
    html! {
        section aria-labelledby="assumptions" {
            h2 id="assumptions" { "Assumptions and limits of the prediction" }
            ul { @for sentence in sentences(basis) { li { (unbroken(&sentence)) "." } } }
        }
    }
}

fn sentences(basis: &Basis<'_>) -> Vec<String> {
    let prediction = &basis.check.prediction;
    let growth = basis.grows.then(|| {
        "Only the data grows: the buffer pool, the load and the demands at the same data/memory stay as they are"
            .to_owned()
    });
    let drift = line(prediction, "drift");
    let drift = drift.map(|it| format!("Not constant: {it}"));
    let problems = line(prediction, "problems");
    let problems = problems.map(|it| format!("Problems of the records: {it}"));
    let of_target = [
        problems,
        assumed_buffer_pool(prediction),
        interpolated(basis),
        extrapolated(prediction),
        upper_bound(prediction),
        growth,
        drift,
    ];
    let response = if matches!(basis.check.response, Some(Ok(_))) {
        "The limit on the response time is kept at the same share of the throughput as on the measured machine: the same \
         limit binds, with the same service time"
    } else {
        "Response times are not predicted. They are long if a limit is used completely: plan a reserve"
    };
    let general = [
        "The CPUs of the target are as fast as the measured ones, and are for the server alone",
        response,
        "The intervals are those of the mean over executions. They do not contain errors of the model",
    ];
    let of_target = of_target.into_iter().flatten();
    let remarks = prediction.remarks.iter().cloned();
    let general = general.into_iter().map(str::to_owned);
    of_target.chain(remarks).chain(general).collect()
}

fn assumed_buffer_pool(prediction: &Prediction) -> Option<String> {
    let pool = prediction.memory.as_ref()?.buffer_pool?;
    pool.is_assumed.then(|| {
        let size = bytes(pool.bytes);
        format!("The buffer pool of {size} is the one that MySQL configures for the memory of the target")
    })
}

/// How demands at other data/memory were computed; `None` if none are shown.
fn interpolated(basis: &Basis<'_>) -> Option<String> {
    let memory = basis.check.prediction.memory.as_ref()?;
    if !memory.is_interpolated && !basis.has_curve {
        return None;
    }
    let requests = match basis.zipf {
        Some(exponent) => format!("for requests by Zipf's law with the exponent {exponent}"),
        None => "for uniform requests".to_owned(),
    };
    let measured = counted(memory.measured_shares.len(), "measured size");
    Some(format!(
        "Page reads are interpolated between {measured} {requests}, CPU time and writes on a straight line"
    ))
}

fn extrapolated(prediction: &Prediction) -> Option<String> {
    let cpus = prediction.target.cpus?;
    let measured = prediction.measured_cpus?;
    prediction.is_extrapolated().then(|| {
        format!(
            "Not validated here: {} ({} measured)",
            counted_amount(cpus, "CPU"),
            counted_amount(measured, "CPU")
        )
    })
}

fn upper_bound(prediction: &Prediction) -> Option<String> {
    let mut limits = prediction.limits.iter();
    limits.find_map(|(limit, outcome)| {
        let why = outcome.at_most_why()?;
        Some(format!(
            "The throughput that {} allows is an upper bound, computed without contention: {why}",
            limit.name()
        ))
    })
}
