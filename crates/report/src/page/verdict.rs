//! The verdict: one sentence, its certainty, the limit of the server, and the figures of every line. What planned events
//! cost is the sentence where the author asks nothing else.

use std::collections::BTreeSet;

use maud::{Markup, html};
use verdict::Resource;

use super::{
    comparison, events,
    figures::{self, unbroken},
};
use crate::{
    expectations,
    grid::{Facet, Grid, cell::Percentile, in_words},
    results::Results,
    sentences::{
        answer, clauses,
        events::{answer::EventAnswer, overview::EventOverview},
        limit::{self, FrequentLimit, PeakLimit},
        max_rates,
        nouns::{has_batches, nouns, run_nouns},
    },
};

/// The conclusion, and how reliable it is.
pub(super) fn section(results: &Results, grid: &Grid, planned: &[EventOverview]) -> Markup {
    let rates = max_rates::sentences(results);
    // The throughput of the highest rate that was tried is that rate, and no answer; what limits the answer is a part of it.
    let headline = answer::headline(grid).filter(|_| rates.is_empty());
    let limit = PeakLimit::of(results, grid).filter(|_| rates.is_empty());
    let verdict = answer::verdict_in_short(results, grid);
    let clauses = clauses::clauses(results, grid);
    let events = EventAnswer::of(results, planned);
    let expected = expectations::of_grid(results, grid);
    html! {
        section.verdict aria-labelledby="verdict" {
            h2 id="verdict" { "The verdict" }
            @if let Some(events) = &events { (events::leads(events)) }
            @for (name, said) in &clauses { p.lead { strong { (name) ":" } " " (unbroken(said)) } }
            @for said in &rates { p.lead { (unbroken(said)) } }
            @match (&verdict, &headline) {
                _ if !clauses.is_empty() || events.is_some() || !rates.is_empty() => {},
                (Some(verdict), _) => p.lead { (unbroken(verdict)) },
                (None, Some(headline)) => p.lead { (unbroken(headline)) },
                (None, None) => p.lead { "Nothing was measured yet." },
            }
            dl.glance {
                @if let (Some(verdict), false) = (&verdict, clauses.is_empty()) {
                    dt { "Against the baseline" }
                    dd { (unbroken(verdict)) }
                }
                @if let (true, Some(headline)) = (results.asks_by_name(), &headline) {
                    dt { "Throughput reached" }
                    dd { (unbroken(headline)) }
                }
                @for (at, it) in expected.iter().enumerate() {
                    @if at == 0 { dt { "Expectations" } }
                    dd { (unbroken(&it.in_words())) }
                }
                dt { "How sure" }
                dd { (confidence(results, grid, events.as_ref())) }
                @if let (Some(_), Some(headline)) = (&events, &headline) {
                    dt { "Throughput reached" }
                    dd { (unbroken(headline)) @for doubt in answer::doubts_of_headline(grid) { " " (unbroken(&doubt)) } }
                }
                @if let Some(bend) = answer::bend(grid) {
                    dt { "Saturation point" }
                    dd { (unbroken(&bend)) }
                }
                @if let Some(limit) = &limit {
                    dt { "What limits it" }
                    dd { (limit_in_words(results, grid, limit)) }
                }
            }
            (comparison::sentences(results, grid))
            @let is_grid = grid.combinations() > 1;
            @if let (Some(events), true) = (&events, is_grid) {
                (events::tables(events, grid))
            } @else if is_grid && has_peaks(grid) {
                (peaks(results, grid))
            }
            @if grid.x.is_none() { (single_figures(grid)) }
            p.note {
                (answer::coverage(results))
                @if !grid.constants.is_empty() { " All runs: " (in_words(&grid.constants)) "." }
                @if grid.combinations() > 0 { " " (answer::method(grid)) }
            }
        }
    }
}

/// The audit's assessment first, then the caveats of the answer.
fn confidence(results: &Results, grid: &Grid, events: Option<&EventAnswer>) -> Markup {
    let doubts = match events {
        Some(events) => events.confidence().into_iter().collect(),
        None if results.searches.is_empty() => answer::doubts_of_headline(grid),
        None => Vec::new(),
    };
    let executions = if results.searches.is_empty() {
        executions(grid)
    } else {
        "Intervals of the rates at 95 %, for this server in these runs.".to_owned()
    };
    let sentences = std::iter::once(executions)
        .chain(doubts)
        .chain(answer::other_work(grid));
    html! {
        @if let Some(audit) = &results.audit {
            a href="#audit" { "Audit" } ": " (audit.assessment.in_words()) ". "
        }
        @for sentence in sentences { (unbroken(&sentence)) " " }
    }
}

/// The number of executions of each combination, on which an interval is based.
fn executions(grid: &Grid) -> String {
    let cells = || grid.facets.iter().flat_map(Facet::cells);
    let runs: Vec<usize> = cells()
        .map(|(_, _, cell)| cell.complete)
        .filter(|it| *it > 0)
        .collect();
    let of_batches = has_batches(grid);
    let [_, executions] = nouns(of_batches);
    match (runs.iter().min(), runs.iter().max()) {
        (Some(1), Some(1)) if of_batches => {
            "One batch of each combination: the difference to the next batch is unknown.".to_owned()
        }
        (Some(1), Some(1)) if runs.len() == 1 => {
            "One run: the difference to the next run is unknown.".to_owned()
        }
        (Some(1), Some(1)) => {
            "Every combination ran once: the difference to the next execution is unknown."
                .to_owned()
        }
        (Some(least), Some(most)) if least == most => {
            format!("{least} {executions} of each combination, intervals at 95 %.")
        }
        (Some(least), Some(most)) => {
            format!("{least} to {most} {executions} of each combination, intervals at 95 %.")
        }
        _ => "No run is complete.".to_owned(),
    }
}

/// The limit's name in bold; then its evidence, the combination, and the limits of the other combinations.
fn limit_in_words(results: &Results, grid: &Grid, limit: &PeakLimit) -> Markup {
    let (count, all) = limit.agreed;
    let runs = limit.executions;
    html! {
        strong { (limit.bottleneck.name()) } ": " (unbroken(&limit.bottleneck.evidence_in_words()))
        @match (grid.combinations() > 1, all > 1) {
            (true, true) => { " – " (limit.what) ", " (count) " of " (all) " " (runs) }
            (true, false) => { " – " (limit.what) }
            (false, true) => { " – " (count) " of " (all) " " (runs) }
            (false, false) => {}
        }
        ". "
        @if !limit.others.is_empty() { "In the other " (runs) ": " (limit.others.join(", ")) ". " }
        @if let Some(over_all) = limit::over_all(results, grid) { a href="#costs-part" { "Over all" } ": " (over_all) "." }
    }
}

/// Whether there are several lines, each of combinations that do the same work.
fn has_peaks(grid: &Grid) -> bool {
    let mut lines = grid.facets.iter().flat_map(|facet| &facet.lines);
    let is_of_one_work = lines.all(|line| {
        let works: BTreeSet<_> = line
            .cells
            .iter()
            .flatten()
            .map(|it| grid.work(it))
            .collect();
        works.len() < 2
    });
    grid.x.is_some() && (grid.line.is_some() || grid.facets.len() > 1) && is_of_one_work
}

/// The highest throughput of each line in each facet.
fn peaks(results: &Results, grid: &Grid) -> Markup {
    let line = grid.line.as_ref().map_or("", |factor| factor.name.as_str());
    let x = grid.x.as_ref().map_or("", |factor| factor.name.as_str());
    let lines = grid.line.as_ref().map_or(1, |factor| factor.levels.len());
    html! {
        (figures::scrolling("Highest throughput", html! {
            table.peaks {
                caption { "Highest throughput, operations/s, at which " (x) ", and its limit there" }
                thead { tr {
                    th scope="col" { (line) }
                    @for facet in &grid.facets { th scope="col" { (facet.name().unwrap_or("highest".into())) } }
                } }
                tbody {
                    @for at in 0..lines {
                        tr {
                            th scope="row" { (grid.line.as_ref().map_or("all runs", |factor| &factor.levels[at])) }
                            @for facet in &grid.facets { td { (peak_cell(results, grid, facet, at)) } }
                        }
                    }
                }
            }
        }))
    }
}

fn peak_cell(results: &Results, grid: &Grid, facet: &Facet, line: usize) -> Markup {
    let Some(peak) = answer::peak_of_line(facet, line) else {
        return html! { "–" };
    };
    let level = grid.x.as_ref().map(|factor| &factor.levels[peak.x]);
    let limit = FrequentLimit::of_runs(results, &peak.cell.runs);
    let is_of_cpu = limit.is_some_and(|it| it.is_always(Resource::Cpu));
    html! {
        strong { (answer::throughput_in_words(&peak.throughput)) }
        @if let Some(level) = level { " at " (level) }
        br;
        small {
            (limit::frequent_limit_in_words(limit))
            @match &peak.cell.cpu {
                Some(cpu) if is_of_cpu => { ", " (unbroken(&answer::busy_in_words(cpu))) },
                Some(cpu) => { "; CPU " (unbroken(&answer::busy_in_words(cpu))) },
                None => { "; " (grid.cpu_missing) },
            }
        }
    }
}

/// The figures of experiments without a factor along x.
fn single_figures(grid: &Grid) -> Markup {
    let several = grid.combinations() > 1;
    let [_, runs] = run_nouns(has_batches(grid));
    let mut cells = grid.facets.iter().flat_map(|facet| facet.cells());
    let has_new_orders = cells.any(|(_, _, cell)| cell.new_orders_per_min.is_some());
    html! {
        (figures::scrolling("Figures", html! {
            table {
                caption { "Figures" }
                thead { tr {
                    @if several { th scope="col" { "combination" } }
                    th scope="col" { "operations/s" }
                    @if has_new_orders { th scope="col" { "New-Orders/min" } }
                    @for percentile in Percentile::ALL { th scope="col" { (percentile.name()) } }
                    th scope="col" { (runs) }
                    th scope="col" { "errors" }
                } }
                tbody {
                    @for facet in &grid.facets { @for (line, x, cell) in facet.cells() {
                        tr {
                            @if several { th scope="row" { (facet.name().unwrap_or_else(|| grid.place(facet, line, x))) } }
                            td { (figures::throughput(cell)) }
                            @if has_new_orders { td { (figures::new_orders(cell)) } }
                            @for percentile in Percentile::ALL { td { (figures::latency(cell, percentile)) } }
                            td { (cell.runs_in_words()) }
                            td { (cell.errors) }
                        }
                    } }
                }
            }
        }))
    }
}
