//! Figures, tables and running text as HTML.

use std::collections::BTreeSet;

use maud::{Markup, html};
use units::{duration, duration_with_interval};

use crate::{
    grid::{
        cell::{Cell, Figure, Percentile},
        percentiles::marked,
    },
    sentences::answer::throughput_in_words,
};

/// A table with its own scroll bar on a narrow screen, usable by keyboard.
pub(crate) fn scrolling(label: &str, table: Markup) -> Markup {
    html! { div.scroll role="region" aria-label=(label) tabindex="0" { (table) } }
}

/// Operations per second with margin, `–` when unknown.
pub(super) fn throughput(cell: &Cell) -> String {
    let figure = cell.throughput.as_ref();
    figure.map_or("–".to_owned(), throughput_in_words)
}

/// A percentile of the response time with margin, `–` when unknown.
pub(super) fn latency(cell: &Cell, percentile: Percentile) -> String {
    cell.percentile_ns(percentile)
        .as_ref()
        .map_or("–".to_owned(), latency_in_words)
}

/// A response time with margin.
pub(super) fn latency_in_words(figure: &Figure) -> String {
    let words = match figure.interval {
        Some(bounds) => duration_with_interval(figure.mean, bounds),
        None => duration(figure.mean),
    };
    marked(words, figure.is_thin)
}

/// New-Orders per minute with their interval.
pub(super) fn new_orders(cell: &Cell) -> String {
    let figure = cell.new_orders_per_min.as_ref();
    figure.map_or("–".to_owned(), throughput_in_words)
}

/// Keeps a number and its sign on one line.
pub(crate) fn unbroken(text: &str) -> String {
    text.replace(" %", "\u{a0}%")
}

/// The values separated by commas: `a, b, c`.
pub(super) fn joined<T: ToString>(values: &BTreeSet<T>) -> String {
    values
        .iter()
        .map(T::to_string)
        .collect::<Vec<_>>()
        .join(", ")
}
