//! A comparison as a page: the answer, the changes with their intervals, the differences, and the audit of both sides.

use audit::SidesAudit;
use maud::{Markup, html};
use verdict::{Check, Compared, Contrast, SharedCombination};

use super::{MeasureSelection, NOTHING_DIFFERS, Rows, differences, side_audits, unlike, words};
use crate::page::{RatioScale, document, scrolling, unbroken};

/// A comparison as one self-contained HTML page.
pub fn contrast_as_html(
    contrast: &Contrast,
    checks: &[Check],
    audit: &SidesAudit,
    shown: MeasureSelection,
) -> String {
    let [a, b] = &contrast.names;
    let differences = differences(contrast);
    let content = html! {
        dl.facts { dt { "A" } dd { (a) } dt { "B" } dd { (b) } }
        section aria-labelledby="answer" {
            h2 id="answer" { "The answer" }
            @for place in &contrast.places { p.lead { (unbroken(&words::headline(contrast, place, audit))) } }
            @for check in checks { p { strong { (words::check(check)) } } }
            @if let Some(unlike) = unlike(contrast) { p { strong { (unlike) } } }
        }
        @for (index, place) in contrast.places.iter().enumerate() { (moved(contrast, place, shown, index)) }
        @for text in words::alone(contrast) { p { (text) } }
        section aria-labelledby="sides" {
            h2 id="sides" { "What differs between the sides" }
            @if differences.is_empty() { p { (NOTHING_DIFFERS) "." } }
            ul { @for difference in &differences { li { (difference) } } }
        }
        section aria-labelledby="audit" {
            h2 id="audit" { "The audit of both sides" }
            ul { @for sentence in side_audits::sentences(audit) { li { (sentence) } } }
        }
        p.note { (words::method(contrast)) }
    };
    let title = format!("{b} against {a}");
    document("dbdyno compare", &title, &content)
}

/// The changes in one combination, and their causes.
fn moved(
    contrast: &Contrast,
    place: &SharedCombination,
    shown: MeasureSelection,
    index: usize,
) -> Markup {
    let rows = Rows::of(contrast, place, shown);
    let id = format!("place-{index}");
    html! {
        section aria-labelledby=(id) {
            h2 id=(id) { "What changed: " (words::levels(&place.within)) }
            @for sentence in words::groups(contrast, place).iter().chain(&words::causes(place)) { p { (sentence) } }
            @if !rows.metrics.is_empty() { (table(contrast, "Metrics", &rows.metrics, place.of_batches)) }
            @if !rows.costs.is_empty() { (table(contrast, "Per operation", &rows.costs, place.of_batches)) }
            @if let Some(left_out) = &rows.left_out { p.note { (left_out) } }
        }
    }
}

/// The intervals of a table share one scale.
fn table(contrast: &Contrast, caption: &str, rows: &[&Compared], of_batches: bool) -> Markup {
    // A comparison by its absolute difference has no ratio to draw.
    let ratio = |row: &&Compared| {
        row.comparison
            .filter(|_| row.amount().is_none())
            .map(|it| it.ratio)
    };
    let scale = RatioScale::of(contrast.margin, rows.iter().filter_map(ratio));
    scrolling(
        caption,
        html! {
            table {
                caption { (caption) }
                thead { tr {
                    @for name in ["", "A", "B", "change", "95 % interval", "decision", "B against A"] { th scope="col" { (name) } }
                } }
                tbody { @for row in rows {
                    @let [name, rest @ ..] = words::row(row, of_batches);
                    tr {
                        th scope="row" { (name) }
                        @for cell in rest { td { (cell) } }
                        td { @if let Some(ratio) = ratio(row) { (scale.drawn(&ratio)) } }
                    }
                } }
            }
        },
    )
}
