//! The costs of the events over the grid of the combinations: the answer at a glance.

use maud::{Markup, html};
use units::{counted, moment};

use super::super::figures::{scrolling, unbroken};
use crate::{
    chart::px,
    grid::Grid,
    sentences::events::{
        answer::EventAnswer,
        overview::EventOverview,
        summary::{EventSummary, Place},
    },
};

/// Maximum number of events with a sentence and a table of their own; the section of the events has all of them.
const SHOWN_MAX: usize = 4;
/// Width and height of a bar, in the units of its `viewBox`.
const BAR: (f64, f64) = (100.0, 4.0);

/// A sentence for each event.
pub(in crate::page) fn leads(answer: &EventAnswer) -> Markup {
    let more = answer.events.len().saturating_sub(SHOWN_MAX);
    html! {
        @for said in answer.leads().iter().take(SHOWN_MAX) { p.lead { (unbroken(said)) } }
        @if more > 0 { p { a href="#events" { (counted(more, "more event")) } "." } }
    }
}

/// A table for each event with the combinations as cells.
pub(in crate::page) fn tables(answer: &EventAnswer, grid: &Grid<'_>) -> Markup {
    html! {
        @for event in answer.events.iter().take(SHOWN_MAX) {
            (scrolling(&format!("Cost of {}", event.title), table(event, grid)))
        }
    }
}

/// Rows are lines and columns the levels of x; without lines the levels of x are rows.
fn table(event: &EventOverview, grid: &Grid<'_>) -> Markup {
    let is_list = grid.line.is_none();
    let (across, down) = if is_list {
        (None, grid.x.as_ref())
    } else {
        (grid.x.as_ref(), grid.line.as_ref())
    };
    let columns = across.map_or(1, |factor| factor.levels.len());
    let rows = down.map_or(1, |factor| factor.levels.len());
    let place = |facet: usize, row: usize, column: usize| {
        let (line, x) = if is_list { (0, row) } else { (row, column) };
        Place { facet, line, x }
    };
    let has_row = |facet: usize, row: usize| {
        let mut cells = (0..columns).map(|column| place(facet, row, column));
        let lines = &grid.facets[facet].lines;
        cells.any(|at| lines[at.line].cells[at.x].is_some())
    };
    html! {
        table.event-costs {
            caption {
                strong { (event.title) }
                ": operations lost; duration, throughput during the event in % of that before, and recovery time after its end"
            }
            thead {
                tr {
                    th scope="col" rowspan=[across.map(|_| "2")] { (down.map_or("", |factor| factor.name.as_str())) }
                    @match across {
                        Some(factor) => th scope="colgroup" colspan=(columns) { (factor.name) },
                        None => th scope="col" { "operations lost" },
                    }
                }
                @if let Some(factor) = across {
                    tr { @for level in &factor.levels { th scope="col" { (level) } } }
                }
            }
            @for (at, facet) in grid.facets.iter().enumerate() {
                tbody {
                    @if let Some(name) = facet.name() {
                        tr { th.group scope="rowgroup" colspan=(columns + 1) { (name) } }
                    }
                    @for row in (0..rows).filter(|row| has_row(at, *row)) {
                        tr {
                            th scope="row" { (down.map_or("all runs", |factor| factor.levels[row].as_str())) }
                            @for column in 0..columns {
                                td { (cell(event, event.at(place(at, row, column)))) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn cell(event: &EventOverview, summary: Option<&EventSummary>) -> Markup {
    let Some(summary) = summary else {
        return html! { "–" };
    };
    let lost = summary.lost_in_short();
    let mean = summary.lost.map_or(0.0, |it| it.mean.max(0.0));
    let most = event.most_lost();
    let during = summary
        .during_in_short()
        .map(|it| format!("throughput at {it}"));
    let course = [
        summary.took_s.map(|it| format!("took {}", moment(it.mean))),
        during,
    ];
    let course: Vec<String> = course.into_iter().flatten().collect();
    html! {
        @match lost {
            _ if summary.always_failed() => strong { "failed" },
            Some(lost) => strong title=[summary.lost().filter(|it| *it != lost)] { (lost) },
            None => strong { "not known" },
        }
        @if most > 0.0 && !summary.always_failed() { (bar(mean / most)) }
        @if let Some(own) = event.own(summary) { small { (own) } }
        @if !course.is_empty() { small { (unbroken(&course.join(", "))) } }
        @if let Some(back) = summary.recovery_in_clause() { small { (back) } }
        @match summary.failed_in_short() {
            Some(failed) if !summary.always_failed() => small.failed { (failed) },
            _ => {},
        }
    }
}

/// A cost as a share of the highest in the table.
fn bar(share: f64) -> Markup {
    let (width, height) = BAR;
    html! {
        svg.share viewBox={ "0 0 " (width) " " (height) } preserveAspectRatio="none" aria-hidden="true" {
            rect.bar.s1 width=(px(share * width)) height=(height) {}
        }
    }
}
