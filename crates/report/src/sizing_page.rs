//! A prediction of `dbdyno size` as one self-contained page: the answer, the alternatives, the cliff, the limits and the
//! demands.

mod alternatives;
mod assumptions;
mod cliff;
mod lines;

use maud::{Markup, html};
use sizing::{
    GrowthAnswer, Limit, LimitOutcome, MemoryCurve, Prediction, Requirement, ServiceDemand,
    TargetCheck, cliff_in_words, decision_in_words, demand_in_words, extrapolation_in_words,
    growth_sentence, rate_in_words, response_in_words,
};
use stats::Interval;
use units::{counted, duration_with_interval, mean_bytes, percent, si_with_interval};

use self::{assumptions::Basis, lines::line};
use crate::{
    page::{document, scrolling, unbroken},
    text::capital::capitalised,
};

/// What the page shows.
#[derive(Debug)]
pub struct SizingPage<'a> {
    /// The prediction, with what it is compared with.
    pub check: &'a TargetCheck,
    /// The machines that carry the throughput of the check; `None` without one.
    pub alternatives: Option<&'a Requirement>,
    /// Exponent of Zipf's law, if it was named.
    pub zipf: Option<f64>,
    /// The throughput over data/memory, or what would have to be measured for it.
    pub curve: &'a Result<MemoryCurve, String>,
    /// `None` if no growth was named.
    pub growth: Option<&'a GrowthAnswer>,
    /// The names of the records.
    pub records: &'a [&'a str],
}

/// Renders a prediction as one HTML page.
pub fn sizing_page(page: &SizingPage<'_>) -> String {
    let prediction = &page.check.prediction;
    let basis = Basis {
        check: page.check,
        zipf: page.zipf,
        has_curve: page.curve.is_ok(),
        grows: page.growth.is_some(),
    };
    let content = html! {
        (facts(page))
        (answer(page))
        @if let Some(requirement) = page.alternatives { (alternatives::section(requirement)) }
        (cliff::section(page.curve))
        (limits(prediction))
        (demands(prediction))
        (assumptions::section(&basis))
        (validation(prediction))
        (records(page))
    };
    let title = format!("Sizing: {}", prediction.subject);
    document("dbdyno size", &title, &content)
}

fn facts(page: &SizingPage<'_>) -> Markup {
    let prediction = &page.check.prediction;
    let limits = prediction.target.limits();
    let limits: Vec<String> = limits.map(|(limit, value)| limit.amount(value)).collect();
    let told = [
        ("load", Some(prediction.subject.clone())),
        ("target", Some(limits.join(", "))),
        ("memory", line(prediction, "memory")),
        ("growth", page.growth.map(|it| it.growth.text().to_owned())),
        ("today", page.growth.map(|it| it.today.clone())),
    ];
    html! {
        dl.facts { @for (name, text) in told { @if let Some(text) = text { dt { (name) } dd { (unbroken(&text)) } } } }
    }
}

fn answer(page: &SizingPage<'_>) -> Markup {
    let first = line(&page.check.prediction, "").unwrap_or_default();
    let decision = decision_in_words(page.check);
    let response = response_in_words(page.check);
    html! {
        section aria-labelledby="answer" {
            h2 id="answer" { "The answer" }
            @if let Some(growth) = page.growth { p.lead { (unbroken(&growth_sentence(growth))) } }
            @if let Some(decision) = decision { p.lead { (unbroken(&decision)) } }
            p.lead { (unbroken(&first)) }
            @if let Some(response) = response { p { "p99: " (unbroken(&response)) "." } }
            @if let Ok(curve) = page.curve { p { "Cliff: " (unbroken(&cliff_in_words(curve))) "." } }
        }
    }
}

/// What each limit allows by itself.
fn limits(prediction: &Prediction) -> Markup {
    let names = [
        "limit",
        "of the target",
        "one operation",
        "operations/s by this limit alone",
        "binds",
        "",
    ];
    html! {
        section aria-labelledby="limits" {
            h2 id="limits" { "The limits" }
            (scrolling("The limits", html! { table {
                thead { tr { @for name in names { th scope="col" { (name) } } } }
                tbody { @for (limit, outcome) in &prediction.limits { (limit_row(prediction, *limit, outcome)) } }
            } }))
            p.note {
                "The target does what the lowest of these limits allows. \"binds\" is the probability that this limit is the lowest."
            }
        }
    }
}

fn limit_row(prediction: &Prediction, limit: Limit, outcome: &LimitOutcome) -> Markup {
    let value = prediction.target.value(limit).map(|it| limit.amount(it));
    let (demand, rate, note) = match outcome {
        LimitOutcome::Rate { per_s, at_most_why } => {
            let at_most = at_most_why.as_ref().map(|_| "at most ").unwrap_or_default();
            let note = extrapolation_in_words(prediction, limit);
            (
                demand_in_words(prediction, limit, per_s),
                format!("{at_most}{}", rate_in_words(per_s)),
                note.unwrap_or_default(),
            )
        }
        LimitOutcome::Unlimited => ("none".to_owned(), "no limit".to_owned(), String::new()),
        LimitOutcome::NotMeasured(why) => ("–".to_owned(), "not measured".to_owned(), why.clone()),
    };
    html! {
        tr {
            th scope="row" { (limit.name()) }
            td { (value.unwrap_or_default()) }
            td { (demand) }
            td { (rate) }
            td { (unbroken(&binding_share(prediction, limit))) }
            td.text { (note) }
        }
    }
}

/// The share of the draws in which a limit binds; empty if it binds in none.
fn binding_share(prediction: &Prediction, limit: Limit) -> String {
    let throughput = prediction.throughput.as_ref();
    let mut binding = throughput.into_iter().flat_map(|it| &it.binding);
    let share = binding.find(|(it, _)| *it == limit);
    share.map_or_else(String::new, |(_, share)| percent(*share))
}

fn demands(prediction: &Prediction) -> Markup {
    html! {
        section aria-labelledby="demands" {
            h2 id="demands" { "The demands of one operation" }
            (scrolling("The demands of one operation", html! { table {
                thead { tr { @for name in ["demand", "with its interval"] { th scope="col" { (name) } } } }
                tbody { @for (demand, interval) in &prediction.demands { tr {
                    th scope="row" { (demand.in_words()) }
                    td { (demand_with_interval(*demand, interval)) }
                } } }
            } }))
            p.note { "Computed for the target from the measured executions." }
        }
    }
}

fn demand_with_interval(demand: ServiceDemand, interval: &Interval) -> String {
    let Interval {
        estimate,
        low,
        high,
    } = *interval;
    match demand {
        ServiceDemand::Cpu | ServiceDemand::LockTime => {
            duration_with_interval(estimate * 1e9, (low * 1e9, high * 1e9))
        }
        ServiceDemand::ReceivedBytes | ServiceDemand::SentBytes => {
            let [estimate, low, high] = [estimate, low, high].map(mean_bytes);
            format!("{estimate} ({low} to {high})")
        }
        ServiceDemand::PageReads
        | ServiceDemand::Writes
        | ServiceDemand::Fsyncs
        | ServiceDemand::LockWaits => si_with_interval(estimate, (low, high)),
    }
}

/// Whether measurements confirm the prediction.
fn validation(prediction: &Prediction) -> Markup {
    let tested = line(prediction, "validated");
    html! {
        section aria-labelledby="validation" {
            h2 id="validation" { "Validation" }
            @match tested {
                Some(tested) => p { (unbroken(&capitalised(&tested))) "." },
                None => p { "The prediction was not tested on the target." },
            }
        }
    }
}

fn records(page: &SizingPage<'_>) -> Markup {
    let measured = line(&page.check.prediction, "measured").unwrap_or_default();
    html! {
        section aria-labelledby="records" {
            h2 id="records" { "The records" }
            p { (unbroken(&measured)) "." }
            details {
                summary { (counted(page.records.len(), "record")) }
                ul { @for record in page.records { li { code { (record) } } } }
            }
        }
    }
}

#[cfg(test)]
mod tests;
