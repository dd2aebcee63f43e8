//! Limits and cost per operation of each combination.

use maud::{Markup, html};
use verdict::{Cost, Execution, Measure};

use super::{charts::Charts, figures::scrolling};
use crate::{
    grid::{Facet, Grid, cell::Figure},
    results::Results,
    sentences::{
        answer,
        limit::{FrequentLimit, frequent_limit_in_words},
        nouns::{has_batches, run_nouns},
    },
};

/// The costs that are shown: of each line the first that was observed.
const COSTS: [&[Cost]; 12] = [
    &[Cost::ServerCpu],
    &[Cost::ClientCpu],
    &[Cost::ProxyCpu],
    &[Cost::DiskReads, Cost::InnodbReads],
    &[Cost::DiskReadBytes],
    &[Cost::DiskWrites, Cost::InnodbWrites],
    &[Cost::DiskWrittenBytes, Cost::WrittenBytes],
    &[Cost::LogFsyncs, Cost::Fsyncs],
    &[Cost::RowLockWaits],
    &[Cost::RowLockTime],
    &[Cost::BytesSent],
    &[Cost::BytesReceived],
];

/// Why the runs of several loads have no costs.
const UNDIVIDED: &str = "the server's work cannot be divided among the loads of a run";

/// The limits of all combinations, the costs at the peaks, and the chart of the CPU.
pub(super) fn section(results: &Results, grid: &Grid, charts: Option<&Charts>) -> Markup {
    if grid.combinations() == 0 {
        return html! {};
    }
    html! {
        section aria-labelledby="time" {
            h2.hidden id="time" { "Limits and cost per operation" }
            (limits(results, grid))
            (costs(grid))
        }
        @if let Some(charts) = charts { (charts.processors()) }
    }
}

/// The limit of each combination: a table like the grid itself, one per facet.
fn limits(results: &Results, grid: &Grid) -> Markup {
    let Some(x) = grid.x.as_ref().filter(|_| grid.combinations() > 1) else {
        return html! {};
    };
    let [run, runs] = run_nouns(has_batches(grid));
    html! {
        div.grids { @for facet in &grid.facets {
            (scrolling("Limit of each combination", html! {
                table.limits {
                    caption {
                        "Limit of each combination"
                        @if let Some(name) = facet.name() { ", " (name) }
                    }
                    thead { tr {
                        th scope="col" { @if let Some(line) = &grid.line { (line.name) " \\ " } (x.name) }
                        @for level in &x.levels { th scope="col" { (level) } }
                    } }
                    tbody { @for line in facet.lines.iter().filter(|line| !line.is_empty()) {
                        tr {
                            th scope="row" { (line.level.as_deref().unwrap_or("all runs")) }
                            @for cell in &line.cells {
                                td { @match cell {
                                    Some(cell) => (frequent_limit_in_words(FrequentLimit::of_runs(results, &cell.runs))),
                                    None => "–",
                                } }
                            }
                        }
                    } }
                }
            }))
        } }
        p.note { "Rules determine the limit from observations of both machines and the server; the most specific rule that applies decides. For several " (runs) ", the most frequent limit is shown. The list of runs has the evidence for each " (run) "." }
    }
}

/// A combination whose costs are shown.
struct CombinationRuns<'a> {
    name: String,
    runs: &'a [usize],
}

/// For each line the combination with the highest throughput; without a factor along x, all combinations.
fn places<'a>(grid: &'a Grid, facet: &'a Facet) -> Vec<CombinationRuns<'a>> {
    let named = |line, x| {
        let place = grid.place(facet, line, x);
        let parts = [Some(place).filter(|it| !it.is_empty()), facet.name()];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    };
    let compared = !grid.answers.is_empty();
    if grid.x.is_none() || compared {
        let cells = facet.cells();
        return cells
            .map(|(line, x, cell)| CombinationRuns {
                name: named(line, x),
                runs: &cell.runs,
            })
            .collect();
    }
    let lines = 0..facet.lines.len();
    lines
        .filter_map(|line| answer::peak_of_line(facet, line))
        .map(|peak| CombinationRuns {
            name: named(peak.line, peak.x),
            runs: &peak.cell.runs,
        })
        .collect()
}

fn costs(grid: &Grid) -> Markup {
    let places: Vec<CombinationRuns> = grid
        .facets
        .iter()
        .flat_map(|facet| places(grid, facet))
        .collect();
    let rows: Vec<(&CombinationRuns, Vec<&Execution>)> = places
        .iter()
        .map(|place| {
            let executions = place.runs.iter().map(|run| &grid.executions[*run]);
            let complete = executions.filter(|it| it.record.is_complete());
            (place, complete.collect())
        })
        .collect();
    let observed = |cost: &&Cost| {
        let mut executions = rows.iter().flat_map(|(_, executions)| executions);
        executions.any(|execution| Measure::Cost(**cost).of(execution).is_some())
    };
    let shown: Vec<Measure> = COSTS
        .iter()
        .filter_map(|costs| costs.iter().find(observed))
        .map(|cost| Measure::Cost(*cost))
        .collect();
    let has_several_loads = |it: &Execution<'_>| !it.record.header.beside.is_empty();
    let are_undivided = grid.executions.iter().any(has_several_loads);
    if shown.is_empty() {
        let why = if are_undivided {
            UNDIVIDED
        } else {
            "neither the machines nor the server's counters were observed"
        };
        return html! { p { "Cost per operation: not available, " (why) "." } };
    }
    let several = grid.combinations() > places.len();
    let [_, runs] = run_nouns(has_batches(grid));
    html! {
        (scrolling("Cost of one operation", html! {
            table.costs {
                caption {
                    "Cost of one operation"
                    @if several { ", for each line at its highest throughput" }
                    "; means over " (runs)
                }
                thead { tr {
                    th scope="col" { "combination" }
                    @for measure in &shown { th scope="col" { (measure.in_words()) } }
                } }
                tbody { @for (place, executions) in &rows {
                    tr {
                        th scope="row" { @if place.name.is_empty() { "all runs" } @else { (place.name) } }
                        @for measure in &shown { td { (mean(executions, *measure)) } }
                    }
                } }
            }
        }))
        @if are_undivided { p.note { "–: not available, " (UNDIVIDED) "." } }
    }
}

/// The mean over the executions in words; `–` if one of them did not observe it.
fn mean(executions: &[&Execution], measure: Measure) -> String {
    let values = measure.of_all(executions);
    let figure = values.as_deref().and_then(Figure::of);
    figure.map_or("–".to_owned(), |it| measure.scale().in_words(it.mean))
}
