//! The report as one self-contained HTML page: the answer first, then what it rests on.
//!
//! It is opened from disk and asks nothing of a network; its content security policy forbids it to.

mod audit;
mod charts;
mod comparison;
mod environment;
mod figures;
mod list;
mod machines;
mod series;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::{
    answer,
    cell::Percentile,
    disturbances,
    grid::{Facet, Grid, in_words},
    limit,
    results::Results,
    steadiness,
};

const STYLE: &str = include_str!("page/style.css");
const SCRIPT: &str = include_str!("page/series.js");
/// Nothing may be fetched: even a hostile string that got through could not phone home.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";

/// The chart library, if it was there when this program was built (see `build.rs`).
struct Uplot {
    script: &'static str,
    style: &'static str,
    licence: &'static str,
}

const UPLOT: Option<Uplot> = include!(concat!(env!("OUT_DIR"), "/uplot.rs"));

/// Renders `results` as one HTML page.
pub fn html(results: &Results) -> String {
    let grid = Grid::of(results);
    let title = if results.question.trim().is_empty() {
        &results.name
    } else {
        &results.question
    };
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            (head(title))
            body {
                (hatches())
                header {
                    p.kicker { "dbdyno report: " (results.name) }
                    h1 { (title) }
                    (audit::kicker(results))
                }
                main {
                    (comparison::section(results, &grid))
                    (answer_section(results, &grid))
                    (charts::sections(&grid))
                    (list::section(results, &grid, UPLOT.is_some()))
                    (audit::section(results))
                    (environment::errors(results))
                    (environment::section(results))
                    (environment::reproduce(results))
                }
                footer {
                    p { "Made by dbdyno " (env!("CARGO_PKG_VERSION")) "." }
                }
                @if let Some(uplot) = UPLOT {
                    (series::data(results, &grid))
                    script { (PreEscaped(format!("/*\n{}*/\n", uplot.licence))) (PreEscaped(uplot.script)) }
                    script { (PreEscaped(SCRIPT)) }
                }
            }
        }
    };
    page.into_string()
}

fn head(title: &str) -> Markup {
    html! {
        head {
            meta charset="utf-8";
            meta http-equiv="Content-Security-Policy" content=(POLICY);
            meta name="viewport" content="width=device-width, initial-scale=1";
            meta name="color-scheme" content="light dark";
            title { (title) }
            @if let Some(uplot) = UPLOT { style { (PreEscaped(uplot.style)) } }
            style { (PreEscaped(STYLE)) }
        }
    }
}

/// Hatches that the style sheet fills with, so that I/O wait and steal are told apart without colour.
fn hatches() -> Markup {
    html! {
        svg.hatches width="0" height="0" aria-hidden="true" {
            @for (name, path) in [("iowait", "M-1 1l2 -2M0 6l6 -6M5 7l2 -2"), ("steal", "M0 3h6M3 0v6")] {
                pattern id={ "hatch-" (name) } width="6" height="6" patternUnits="userSpaceOnUse" {
                    rect class={ "hatch-ground-" (name) } width="6" height="6" {}
                    path.hatch-stroke d=(path) {}
                }
            }
        }
    }
}

fn answer_section(results: &Results, grid: &Grid) -> Markup {
    let sentences: Vec<String> = grid
        .facets
        .iter()
        .map(|facet| unbroken(&answer::sentence(grid, facet)))
        .collect();
    html! {
        section aria-labelledby="answer" {
            h2 id="answer" { "The short answer" }
            @match sentences.as_slice() {
                [] => p.lead { "Nothing was measured yet." },
                [only] => p.lead { (only) },
                several => ul.lead { @for sentence in several { li { (sentence) } } },
            }
            @if let Some(limit) = limit::at_the_peak(results, grid) { p { (unbroken(&limit)) } }
            @if let Some(warning) = answer::other_work(grid) { p { strong { (unbroken(&warning)) } } }
            @for sentence in steadiness::sentences(results) { p { (unbroken(&sentence)) } }
            @for sentence in disturbances::sentences(results) { p { (unbroken(&sentence)) } }
            @if grid.combinations() > 1 && grid.line.is_some() { (peaks(grid)) }
            @if grid.x.is_none() { (single_figures(grid)) }
            p.note {
                (answer::coverage(results))
                @if !grid.constants.is_empty() { " All runs: " (in_words(&grid.constants)) "." }
                @if grid.combinations() > 0 { " " (answer::method(grid)) }
            }
        }
    }
}

/// Keeps a number and its sign or margin on one line.
fn unbroken(text: &str) -> String {
    text.replace(" %", "\u{a0}%")
        .replace(" ± ", "\u{a0}±\u{a0}")
}

/// The highest throughput of each line in each facet.
fn peaks(grid: &Grid) -> Markup {
    let line = grid.line.as_ref().map_or("", |factor| factor.name.as_str());
    let x = grid.x.as_ref().map_or("", |factor| factor.name.as_str());
    let lines = grid.line.as_ref().map_or(0, |factor| factor.levels.len());
    html! {
        (figures::scrolling("Highest throughput", html! {
            table.peaks {
                caption { "Highest throughput, operations/s, at which " (x) ", with the CPU there" }
                thead { tr {
                    th scope="col" { (line) }
                    @for facet in &grid.facets { th scope="col" { (facet.name().unwrap_or("highest".into())) } }
                } }
                tbody {
                    @for at in 0..lines {
                        tr {
                            th scope="row" { (grid.line.as_ref().map_or("", |factor| &factor.levels[at])) }
                            @for facet in &grid.facets { td { (peak_cell(grid, facet, at)) } }
                        }
                    }
                }
            }
        }))
    }
}

fn peak_cell(grid: &Grid, facet: &Facet, line: usize) -> Markup {
    let Some(peak) = answer::peak_of_line(facet, line) else {
        return html! { "–" };
    };
    let level = grid.x.as_ref().map(|factor| &factor.levels[peak.x]);
    html! {
        strong { (answer::throughput_in_words(&peak.throughput)) }
        @if let Some(level) = level { " at " (level) }
        br;
        small {
            @match &peak.cell.cpu {
                Some(cpu) => (unbroken(&answer::cpu_in_words(cpu))),
                None => (grid.cpu_missing),
            }
        }
    }
}

/// The figures of experiments that have nothing to draw along x.
fn single_figures(grid: &Grid) -> Markup {
    let several = grid.combinations() > 1;
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
                    th scope="col" { "runs" }
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
