//! The figures of one combination in words.

use units::duration;

use super::answer;
use crate::grid::{
    cell::{Cell, Percentile},
    percentiles::marked,
};

/// `operations/s`; with New-Orders `operations/s (1.21k ± 0.02k New-Orders/min)`.
pub(crate) fn unit(cell: &Cell) -> String {
    match &cell.new_orders_per_min {
        Some(figure) => format!(
            "operations/s ({} New-Orders/min)",
            answer::throughput_in_words(figure)
        ),
        None => "operations/s".to_owned(),
    }
}

/// `; p50 544 µs, p95 1.54 ms, p99 2.24 ms`.
pub(crate) fn latency(cell: &Cell) -> String {
    let told = Percentile::ALL.into_iter().filter_map(|percentile| {
        let figure = cell.percentile_ns(percentile)?;
        let value = marked(duration(figure.mean), figure.is_thin);
        Some(format!("{} {value}", percentile.name()))
    });
    match told.collect::<Vec<_>>().join(", ") {
        none if none.is_empty() => none,
        told => format!("; {told}"),
    }
}
