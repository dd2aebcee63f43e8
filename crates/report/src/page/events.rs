//! The planned events of the runs, and what they cost the load.

use figures::RECOVERED_FROM;
use maud::{Markup, html};
use units::{moment, percent};

use super::figures::scrolling;
use crate::{
    grid::Grid,
    results::Results,
    sentences::events::{self, EventSummary, StretchFigures},
};

/// A table of the events; nothing where no run had one.
pub(super) fn section(results: &Results, grid: &Grid<'_>) -> Markup {
    let summaries = events::summaries(results, grid);
    html! {
        @if !summaries.is_empty() {
            section aria-labelledby="events" {
                h2 id="events" { "Planned events, and what they cost" }
                (scrolling("Planned events", html! {
                    table {
                        caption { "Planned events" }
                        thead { tr {
                            @for name in [
                                "event", "took", "operations/s before", "during", "after", "p99 before", "during", "after",
                                "operations lost", "recovery", "runs",
                            ] { th scope="col" { (name) } }
                        } }
                        tbody { @for event in &summaries { (row(event)) } }
                    }
                }))
                @for failure in summaries.iter().filter_map(|it| Some((it.subject(), it.failures_in_words()?))) {
                    p { (failure.0) ": " (failure.1) "." }
                }
                p.note {
                    "Before: up to 60 s before the event. During: from the second in which it began to the one in which it ended. \
                     After: until the next event or the end of the measurement. Lost: what the throughput before would have done \
                     more, until the recovery. Recovery: from then on the throughput stayed at " (percent(RECOVERED_FROM))
                    " of that before or more, for 5 s (in a short run, for a tenth of the measurement). Percentiles are of all \
                     operations that came back in the time."
                }
            }
        }
    }
}

fn row(event: &EventSummary) -> Markup {
    let throughput =
        |it: &Option<StretchFigures>| events::operations(it.as_ref().map(|it| it.throughput));
    let p99 =
        |it: &Option<StretchFigures>| events::p99_in_words(it.as_ref().and_then(|it| it.p99_ns));
    html! {
        tr {
            th scope="row" { (event.subject()) }
            td { (event.took_s.map_or("–".to_owned(), |it| moment(it.mean))) }
            @for part in [&event.before, &event.during, &event.after] { td { (throughput(part)) } }
            @for part in [&event.before, &event.during, &event.after] { td { (p99(part)) } }
            td { (event.lost().unwrap_or_else(|| "–".to_owned())) }
            td.text { (event.recovery_in_words().unwrap_or_else(|| "–".to_owned())) }
            td { (event.runs) @if !event.failures.is_empty() { " (" (event.failures.len()) " failed)" } }
        }
    }
}
