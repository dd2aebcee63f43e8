//! What limited the runs, in words.

use samples::Record;
use verdict::{Bottleneck, bottleneck};

use crate::{grid::Grid, results::Results};

/// What limited a run, in a sentence; `None` where nothing was measured.
pub fn limit_in_words(record: &Record) -> Option<String> {
    bottleneck(record).map(|bottleneck| bottleneck.in_words())
}

/// What limited a run, in a word or two.
pub(crate) fn limit_name(record: &Record) -> &'static str {
    let name = |bottleneck: Bottleneck| Some(bottleneck.limiting?.resource.name());
    match bottleneck(record) {
        Some(bottleneck) => name(bottleneck).unwrap_or("unexplained"),
        None => "–",
    }
}

/// What limited the complete run with the highest throughput; `None` where there is none.
pub(crate) fn at_the_peak(results: &Results, grid: &Grid) -> Option<String> {
    let runs = results.runs.iter().zip(&grid.summaries);
    let measured = runs.filter_map(|(record, summary)| {
        let per_s = summary.throughput_per_s?;
        record.is_complete().then_some((record, per_s))
    });
    let (record, _) = measured.max_by(|a, b| a.1.total_cmp(&b.1))?;
    let fastest = match results.runs.len() {
        1 => "it".to_owned(),
        _ => format!("the fastest run (run {})", record.header.run),
    };
    Some(format!(
        "What limited {fastest}: {}.",
        limit_in_words(record)?
    ))
}
