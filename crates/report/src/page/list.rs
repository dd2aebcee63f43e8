//! The list of runs, in which one run is selected to see its time series.

use maud::{Markup, html};
use samples::PlannedEvent;
use units::{duration, percent_number, si};
use verdict::Execution;

use super::{
    figures::{self, unbroken},
    series::{RunSeries, stages_in_words},
};
use crate::{
    chart::{frame::Description, timeline::Timeline},
    grid::{Grid, cell::Percentile},
    results::Results,
    sentences::{disturbances, limit::RunLimit, steadiness},
};

/// The run list; below it the panel that the script fills, or static charts if no library was built in.
pub(super) fn section(results: &Results, grid: &Grid, zoomable: bool) -> Markup {
    let all_factors = results.all_factors();
    let factors: Vec<&str> = all_factors
        .iter()
        .map(|factor| factor.name.as_str())
        .filter(|name| !grid.constants.iter().any(|(constant, _)| constant == name))
        .collect();
    html! {
        @if !results.runs.is_empty() {
            section aria-labelledby="runs" {
                h2 id="runs" { "A run over time" }
                @if zoomable { (panel(grid)) }
                details.all-runs open[!zoomable] {
                    summary {
                        @match (results.parts.batches.is_empty(), results.parts.staged.is_empty()) {
                            (false, _) => "Every batch of every run (",
                            (true, false) => "Every stage of every run (",
                            (true, true) => "Every run (",
                        }
                        (grid.executions.len()) ")" @if zoomable { ": choose the one to see" }
                    }
                    (table(results, grid, &factors, zoomable))
                    @for sentence in steadiness::sentences(results).iter().chain(&disturbances::sentences(results)) {
                        p { (unbroken(sentence)) }
                    }
                }
                @if !zoomable { (static_courses(results)) }
            }
        }
    }
}

fn table(results: &Results, grid: &Grid, factors: &[&str], zoomable: bool) -> Markup {
    let shown = Shown {
        factors,
        has_batches: !results.parts.batches.is_empty(),
        zoomable,
    };
    let label = if shown.has_batches {
        "Every batch of every run"
    } else {
        "Every run"
    };
    html! {
                p.note {
                    @if zoomable { "Choose a run to see its charts over time; choose a heading to sort. " }
                    "The charts end with the measurement; operations still in flight at that point are only in the run record. "
                    "Percentiles are response times of all operations; CPU is the busy share of the server's machine."
                }
                div.scroll.run-list role="region" aria-label=(label) tabindex="0" {
                    table id="run-table" {
                        thead { tr {
                            (head("run", zoomable))
                            @if shown.has_batches { (head("batch", zoomable)) }
                            @for name in factors { (head(name, zoomable)) }
                            @for name in ["operations/s", "p50", "p95", "p99", "CPU %", "errors", "limited by"] { (head(name, zoomable)) }
                            th scope="col" { "state" }
                        } }
                        tbody { @for (index, execution) in grid.executions.iter().enumerate() {
                            (row(results.run_of(index), execution, &shown))
                        } }
                    }
                }
    }
}

/// What the list shows of each run.
struct Shown<'a> {
    factors: &'a [&'a str],
    /// True for a list of batches of slices.
    has_batches: bool,
    zoomable: bool,
}

fn head(name: &str, sortable: bool) -> Markup {
    html! {
        th scope="col" { @if sortable { button type="button" data-sort="" { (name) } } @else { (name) } }
    }
}

/// A cell that is sorted by its number, not by its text.
fn number(value: Option<f64>, text: impl Fn(f64) -> String) -> Markup {
    match value {
        Some(value) => html! { td data-value=(value) { (text(value)) } },
        None => html! { td data-value="-1" { "–" } },
    }
}

fn row(index: usize, execution: &Execution<'_>, shown: &Shown<'_>) -> Markup {
    let (record, figures) = (execution.record, execution.figures());
    let zoomable = shown.zoomable;
    let run = record.header.run;
    html! {
        tr data-run=[zoomable.then_some(index)] class=[(!record.is_complete()).then_some("incomplete")] {
            th scope="row" data-value=(run) {
                @if zoomable {
                    button type="button" aria-pressed="false" aria-controls="course" {
                        span.hidden { "show run " } (run)
                    }
                } @else { (run) }
            }
            @if shown.has_batches { (number(record.batch.map(f64::from), |it| format!("{it:.0}"))) }
            @for factor in shown.factors {
                td { (record.header.combination.get(*factor).map_or("–", String::as_str)) }
            }
            (number(figures.throughput_per_s, si))
            @for percentile in Percentile::ALL {
                (number(percentile.metric().of(figures), duration))
            }
            (number(figures.server_cpu.map(|cpu| cpu.busy()), percent_number))
            td data-value=(figures.errors) { (figures.errors) }
            td { (RunLimit::of(record).name()) }
            td.state {
                @match record.incomplete_why() {
                    None if record.events.iter().any(PlannedEvent::has_failed) => { "complete, " strong { "event failed" } },
                    None => "complete",
                    Some(why) => { strong { "incomplete" } ": " (why) }
                }
            }
        }
    }
}

/// The panel that `series.js` fills.
fn panel(grid: &Grid) -> Markup {
    html! {
        div id="course" tabindex="-1" hidden {
            h3 id="course-title" aria-live="polite" {}
            div.zoom role="group" aria-label="Choose a run" {
                button type="button" data-step="-1" { "Previous run" }
                button type="button" data-step="1" { "Next run" }
                span.note { "in the order of the list" }
            }
            div.zoom role="group" aria-label="Zoom" {
                @for (action, label) in [
                    ("in", "Zoom in"),
                    ("out", "Zoom out"),
                    ("earlier", "Earlier"),
                    ("later", "Later"),
                    ("all", "Whole run"),
                ] { button type="button" data-zoom=(action) { (label) } }
                span.note id="course-shown" aria-live="polite" {}
            }
            p.note.on-screen { "Drag over a chart to zoom all charts; double-click to show the whole run. Keyboard: + and - zoom, the arrow keys move, Home shows the whole run. Horizontal axis: seconds since the start of the load." }
            p.note id="course-note" {}
            div id="course-charts" tabindex="0" role="group" aria-label="Charts of the run; plus and minus zoom, arrow keys move" {}
            details id="course-more" {
                summary { (if grid.uses_servers() { "Machine and server in this run" } else { "Machine and disk in this run" }) }
                div id="course-rest" tabindex="0" role="group" aria-label="Charts of the machine; plus and minus zoom, arrow keys move" {}
                div id="course-totals" {}
            }
            details { summary { "Values for each second" } div.scroll id="course-numbers" tabindex="0" role="region" aria-label="Values for each second" {} }
        }
        noscript { p { "The charts of a run over time need JavaScript; everything above does not." } }
    }
}

fn static_courses(results: &Results) -> Markup {
    html! {
        h3 { "Throughput of each run over time" }
        @for (index, record) in results.runs.iter().enumerate() {
            @let course = RunSeries::of(record);
            details {
                summary { (course.title) }
                @if let Some(stages) = stages_in_words(record) { p.note { "Stages of the load: " (stages) "." } }
                @if course.throughput.is_empty() {
                    p { "No interval was recorded." }
                } @else {
                    (timeline(index, &course))
                    (figures::scrolling(&course.title, html! {
                        table {
                            thead { tr { th scope="col" { "second" } th scope="col" { "operations/s" } } }
                            tbody { @for (t_s, per_s) in &course.throughput { tr {
                                th scope="row" { (format!("{t_s:.1}")) } td { (si(*per_s)) }
                            } } }
                        }
                    }))
                }
            }
        }
    }
}

fn timeline(index: usize, course: &RunSeries) -> Markup {
    let chart = Timeline {
        description: Description {
            id: &format!("course-{index}"),
            title: &format!("Throughput over time, {}", course.title),
            text: "Operations per second in each interval; the table below has the numbers.",
        },
        points: &course.throughput,
        measured_from_s: course.measured.map_or(0.0, |(from, _)| from),
        y_name: "operations/s",
        mark: course.event.clone(),
    };
    chart.draw()
}
