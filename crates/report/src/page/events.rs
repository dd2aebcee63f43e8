//! The planned events of the runs, and what they cost the load.

mod overview;

use figures::RECOVERED_FROM;
use maud::{Markup, html};
use units::{moment, percent, si, si_interval};

use super::figures::scrolling;
use crate::{
    grid::cell::Figure,
    sentences::events::{
        overview::EventOverview,
        summary::{EventSummary, StretchFigures, operations},
    },
};
pub(super) use overview::{leads, tables};

/// Maximum number of executions whose values are listed one by one.
const LISTED_MAX: usize = 4;
/// Longest level that is not broken into lines, characters.
const WHOLE_MAX: usize = 20;
/// Number of columns with figures of an event.
const FIGURES: usize = 10;

/// All figures of the events; nothing where no run had one.
pub(super) fn section(events: &[EventOverview]) -> Markup {
    let summaries = || events.iter().flat_map(|it| &it.summaries);
    html! {
        @if !events.is_empty() {
            section aria-labelledby="events" {
                h2 id="events" { "Planned events and their cost" }
                (scrolling("Planned events", table(events)))
                @for failure in summaries().filter_map(|it| Some((it.subject(), it.failures_in_words()?))) {
                    p { (failure.0) ": " (failure.1) "." }
                }
                p.note {
                    "Before: up to 60 s before the event. During: from the second in which it began to the one in which it ended. \
                     After: until the next event or the end of the measurement. Lost: operations missing until the recovery, compared with the throughput before the event. Back: time from the event's end until the throughput stayed at "
                    (percent(RECOVERED_FROM))
                    " or more of its earlier level for 5 s (in a short run, for a tenth of the measurement). Percentiles cover all operations that ended in the period. Small print: the 95 % interval, if it is informative; for the operations lost, each single run if there are at most " (LISTED_MAX) "."
                }
            }
        }
    }
}

/// A row for each event of each combination; what all rows have in common stands above them.
fn table(events: &[EventOverview]) -> Markup {
    let factors: Vec<&str> = (events.iter().flat_map(|it| &it.summaries).take(1))
        .flat_map(|it| it.levels.iter().map(|(factor, _)| factor.as_str()))
        .collect();
    let is_alone = factors.is_empty();
    let caption = match events {
        [only] => only.title.as_str(),
        _ => "Planned events",
    };
    html! {
        table.events {
            caption { (caption) }
            thead {
                tr {
                    @if is_alone { th scope="col" rowspan="2" { "event" } }
                    @for factor in &factors { th scope="col" rowspan="2" { (factor) } }
                    th scope="col" rowspan="2" { "took" }
                    th.group scope="colgroup" colspan="3" { "operations/s" }
                    th.group scope="colgroup" colspan="3" { "p99" }
                    th scope="col" rowspan="2" { "operations lost" }
                    th scope="col" rowspan="2" { "back" }
                    th scope="col" rowspan="2" { "runs" }
                }
                tr {
                    @for _ in ["operations/s", "p99"] {
                        @for part in ["before", "during", "after"] { th scope="col" { (part) } }
                    }
                }
            }
            @for event in events {
                tbody {
                    @if events.len() > 1 && !is_alone {
                        tr { th.group scope="rowgroup" colspan=(factors.len() + FIGURES) { (event.title) } }
                    }
                    @for summary in &event.summaries { (row(event, summary)) }
                }
            }
        }
    }
}

fn row(event: &EventOverview, summary: &EventSummary) -> Markup {
    let stretches = || [&summary.before, &summary.during, &summary.after];
    let failed = summary.failures.len();
    html! {
        tr {
            @if summary.levels.is_empty() { th scope="row" { (event.title) } }
            @for (at, (_, level)) in summary.levels.iter().enumerate() {
                th.whole[level.chars().count() <= WHOLE_MAX] scope="row" {
                    (level)
                    @if let (0, Some(own)) = (at, event.own(summary)) { small { (own) } }
                }
            }
            td { (summary.took_s.map_or("–".to_owned(), |it| moment(it.mean))) }
            @for part in stretches() { td { (throughput(part.as_ref())) } }
            @for part in stretches() { td { (part.as_ref().map_or("–".to_owned(), StretchFigures::p99_in_words)) } }
            td { (lost(summary)) }
            td.back { (summary.recovery_in_short().unwrap_or_else(|| "–".to_owned())) }
            td { (summary.runs) @if failed > 0 { small { (failed) " failed" } } }
        }
    }
}

/// Operations per second with the interval below it.
fn throughput(part: Option<&StretchFigures>) -> Markup {
    let figure = part.map(|it| it.throughput);
    html! {
        (figure.map_or("–".to_owned(), |it| si(it.mean)))
        @if let Some(interval) = figure.and_then(interval) { small { (interval) } }
    }
}

fn interval(figure: Figure) -> Option<String> {
    si_interval(figure.mean, figure.interval?)
}

/// The operations lost with the values of each run below it, or with the interval.
fn lost(summary: &EventSummary) -> Markup {
    let runs = &summary.lost_by_run;
    let small = match runs.len() {
        0 | 1 => None,
        2..=LISTED_MAX => {
            let values: Vec<String> = runs.iter().map(|it| operations(*it)).collect();
            Some(values.join("; "))
        }
        _ => summary.lost.and_then(interval),
    };
    html! {
        (summary.lost_in_short().unwrap_or_else(|| "–".to_owned()))
        @if let Some(small) = small { small { (small) } }
    }
}
