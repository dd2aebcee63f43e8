//! The report as one self-contained HTML page: the answer first, then what it rests on.
//!
//! It is opened from disk and asks nothing of a network; its content security policy forbids it to.

mod audit;
mod blocks;
mod charts;
mod comparison;
mod costs;
mod environment;
mod figures;
mod list;
mod machines;
mod series;
mod variables;
mod verdict;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::{grid::Grid, results::Results};

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
    let charts = charts::Charts::of(&grid);
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
                a.skip href="#verdict" { "Skip to the verdict" }
                (hatches())
                header {
                    p.kicker { "dbdyno report: " (results.name) }
                    h1 { (title) }
                    (contents(results, &grid))
                }
                main {
                    (verdict::section(results, &grid))
                    (comparison::section(results, &grid))
                    @if let Some(charts) = &charts { (charts.answer()) }
                    (audit::section(results))
                    (costs::section(results, &grid, charts.as_ref()))
                    @if let Some(charts) = &charts { (charts.rest()) }
                    (environment::errors(results))
                    (list::section(results, &grid, UPLOT.is_some()))
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
    // XML, to which the charts of the page are cut out, knows no control characters; and nobody is to be deceived.
    samples::printable_lines(&page.into_string()).into_owned()
}

/// Where to find what, for those who do not read from the top.
fn contents(results: &Results, grid: &Grid) -> Markup {
    let measured = !results.runs.is_empty();
    let parts = [
        ("verdict", "Verdict", true),
        ("audit", "Audit", results.audit.is_some()),
        ("time", "Where the time went", grid.combinations() > 0),
        ("runs", "Every run", measured),
        ("environment", "Machine, server and data", measured),
        ("reproduce", "How to reproduce", true),
    ];
    html! {
        nav aria-label="Parts of this report" {
            ul { @for (id, name, shown) in parts { @if shown { li { a href={ "#" (id) } { (name) } } } } }
        }
    }
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
