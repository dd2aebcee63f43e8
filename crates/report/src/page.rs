//! The report as one self-contained HTML page: the answer first, then what it rests on.
//!
//! It is opened from disk and asks nothing of a network; its content security policy forbids it to.

mod audit;
mod blocks;
mod charts;
mod comparison;
mod costs;
mod document;
mod environment;
mod figures;
mod header;
mod interval;
mod list;
mod machines;
mod series;
mod variables;
mod verdict;

use maud::{DOCTYPE, Markup, PreEscaped, html};

pub use audit::audit_html;
pub(crate) use document::{document, document_with_style};
pub(crate) use figures::{scrolling, unbroken};
pub(crate) use interval::RatioScale;
pub(crate) use machines::devices;

use crate::{grid::Grid, results::Results};

const SCRIPT: &str = include_str!("page/series.js");
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
    let asked = results.verdict.as_ref().map(|question| question.metric);
    let charts = charts::Charts::of(&grid, asked);
    let variables = variables::Variables::of(results);
    let title = results.title();
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            (document::head(title, UPLOT.as_ref().map(|it| it.style)))
            body {
                a.skip href="#verdict" { "Skip to the verdict" }
                (hatches())
                header {
                    p.kicker { "dbdyno report: " (results.name) }
                    h1 { (title) }
                    (header::facts(results, &grid, &variables))
                    (contents(results, &grid))
                }
                main {
                    (verdict::section(results, &grid))
                    (comparison::section(results, &grid))
                    @if let Some(charts) = &charts { (charts.answer()) }
                    (environment::errors(results))
                    (audit::section(results))
                    (list::section(results, &grid, UPLOT.is_some()))
                    @if let Some(blocks) = comparison::blocks(results, &grid) {
                        (part("blocks-part", "Block by block", blocks))
                    }
                    @if grid.combinations() > 0 {
                        (part("costs-part", "Limits, CPU and cost per operation", html! {
                            (costs::section(results, &grid, charts.as_ref()))
                            @if let Some(charts) = &charts { (charts.rest()) }
                        }))
                    }
                    @if !results.runs.is_empty() {
                        (part("environment-part", "Machine, server and data", environment::section(results, &variables)))
                    }
                    (part("reproduce-part", "How to reproduce", environment::reproduce(results)))
                }
                (document::footer())
                @if let Some(uplot) = UPLOT {
                    (series::data(results, &grid))
                    script { (PreEscaped(format!("/*\n{}*/\n", uplot.licence))) (PreEscaped(uplot.script)) }
                    script { (PreEscaped(SCRIPT)) }
                }
            }
        }
    };
    document::as_text(page)
}

/// Where to find what, for those who do not read from the top.
fn contents(results: &Results, grid: &Grid) -> Markup {
    let measured = !results.runs.is_empty();
    let parts = [
        ("verdict", "Verdict", true),
        ("audit", "Audit", results.audit.is_some()),
        ("runs", "A run over time", measured),
        (
            "costs-part",
            "Limits, CPU and cost per operation",
            grid.combinations() > 0,
        ),
        ("environment-part", "Machine, server and data", measured),
        ("reproduce-part", "How to reproduce", true),
    ];
    html! {
        nav aria-label="Parts of this report" {
            ul { @for (id, name, shown) in parts { @if shown { li { a href={ "#" (id) } { (name) } } } } }
        }
    }
}

/// What few look up: folded until it is asked for. A link to `id` opens it, for it lies inside.
fn part(id: &str, title: &str, content: Markup) -> Markup {
    html! {
        details.part {
            summary { (title) }
            div id=(id) { (content) }
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
