//! The report as one self-contained HTML page: the answer first, then the evidence.
//!
//! It is opened from disk and asks nothing of a network; its content security policy forbids it to. While an experiment
//! runs, a browser can be served the same page, with what happens now above it.

mod audit;
mod blocks;
mod charts;
mod comparison;
mod costs;
mod document;
mod environment;
mod events;
mod figures;
mod header;
mod interval;
mod list;
mod machines;
mod proxies;
mod scripts;
mod series;
mod served;
mod sessions;
mod stage_rates;
mod variables;
mod verdict;

use maud::{DOCTYPE, Markup, PreEscaped, html};

pub use audit::audit_html;
pub(crate) use audit::audit_section;
pub use document::PAGE_MARK;
pub(crate) use document::{document, document_with_style};
pub(crate) use figures::{scrolling, unbroken};
pub(crate) use interval::RatioScale;
pub(crate) use machines::devices;
pub use served::served_script;

use crate::{
    grid::Grid,
    results::Results,
    sentences::events::overview::{EventOverview, overviews},
};
use scripts::{SCRIPT, UPLOT};

/// Renders `results` as one HTML page.
pub fn html(results: &Results) -> String {
    page(results, None)
}

/// The same page for a browser that follows the experiment while it runs: the server's `/now` is framed above the answer,
/// scripts come from [`served_script`], and the page is loaded again when the server's `/version` differs from `version`.
pub fn served_html(results: &Results, version: &str) -> String {
    page(results, Some(version))
}

fn page(results: &Results, version: Option<&str>) -> String {
    let grid = Grid::of(results);
    let asked = results.verdict.as_ref().map(|question| question.metric);
    let charts = charts::Charts::of(&grid, asked);
    let variables = variables::Variables::of(results);
    let planned = overviews(results, &grid);
    let title = results.title();
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            (document::head(title, UPLOT.as_ref().map(|it| it.style), version.is_some()))
            body {
                a.skip href="#verdict" { "Skip to the verdict" }
                (hatches())
                header {
                    p.kicker { "dbdyno report: " (results.name) }
                    h1 { (title) }
                    (header::facts(results, &grid, &variables))
                    (contents(results, &grid, &planned))
                }
                main {
                    @if let Some(version) = version { (served::section(results, version)) }
                    (verdict::section(results, &grid, &planned))
                    (events::section(&planned))
                    (stage_rates::section(&grid))
                    (comparison::section(results, &grid))
                    (sessions::section(results, &grid))
                    @if let Some(charts) = &charts { (charts.answer()) }
                    (environment::errors(results))
                    (audit::section(results))
                    (list::section(results, &grid, UPLOT.is_some()))
                    @if let Some(blocks) = comparison::blocks(results, &grid) {
                        (part("blocks-part", comparison::blocks_title(&grid), blocks))
                    }
                    @if grid.combinations() > 0 {
                        (part("costs-part", "Limits, CPU and cost per operation", html! {
                            (costs::section(results, &grid, charts.as_ref()))
                            (proxies::section(results))
                            @if let Some(charts) = &charts { (charts.rest()) }
                        }))
                    }
                    @if !results.runs.is_empty() {
                        (part("environment-part", environment::title(&grid), environment::section(results, &grid, &variables)))
                    }
                    (part("reproduce-part", "How to reproduce", environment::reproduce(results)))
                }
                (document::footer())
                @if let Some(uplot) = UPLOT {
                    (series::data(results, &grid))
                    @if version.is_none() {
                        script { (PreEscaped(uplot.licensed())) }
                        script { (PreEscaped(SCRIPT)) }
                    }
                }
                @if version.is_some() { (served::scripts()) }
            }
        }
    };
    document::as_text(page)
}

/// The table of contents, for readers who do not start at the top.
fn contents(results: &Results, grid: &Grid, planned: &[EventOverview]) -> Markup {
    let measured = !results.runs.is_empty();
    let parts = [
        ("verdict", "Verdict", true),
        ("events", "Planned events", !planned.is_empty()),
        ("audit", "Audit", results.audit.is_some()),
        ("runs", "A run over time", measured),
        (
            "costs-part",
            "Limits, CPU and cost per operation",
            grid.combinations() > 0,
        ),
        ("environment-part", environment::title(grid), measured),
        ("reproduce-part", "How to reproduce", true),
    ];
    html! {
        nav aria-label="Parts of this report" {
            ul { @for (id, name, shown) in parts { @if shown { li { a href={ "#" (id) } { (name) } } } } }
        }
    }
}

/// A part that few readers need: folded by default. A link to `id` opens it, because the target is inside.
fn part(id: &str, title: &str, content: Markup) -> Markup {
    html! {
        details.part {
            summary { (title) }
            div id=(id) { (content) }
        }
    }
}

/// Hatch patterns for the style sheet, so that I/O wait and steal are distinguished without colour.
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
