//! The table of the stages of the runs' loads.

use rusqlite::{Transaction, params};
use samples::STAGE;
use verdict::{Execution, run_state};

use super::columns::{integer, thin_percentiles, time_columns};
use crate::results::Results;

/// Inserts a row for each stage that began.
pub(super) fn insert(
    transaction: &Transaction,
    results: &Results,
    numbers: &[u32],
) -> rusqlite::Result<()> {
    let mut insert = transaction.prepare_cached(
        "INSERT INTO load_stages VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, \
         ?17, ?18, ?19, ?20, ?21)",
    )?;
    for (index, record) in results.parts.staged.records.iter().enumerate() {
        // A run without stages is there as a whole.
        let [stage] = record.stages.as_slice() else {
            continue;
        };
        let execution = Execution::of(record, 1);
        let figures = execution.figures();
        let [mean, min, p50, p95, p99, p999, max] = time_columns(figures.response.as_ref());
        let shortfall = record.offered.as_ref().map(|it| it.shortfall.is_some());
        insert.execute(params![
            numbers[results.parts.staged.runs[index]],
            stage.number,
            record.header.combination.get(STAGE),
            stage.connections_from,
            stage.connections_to,
            stage.rate_from_per_s,
            stage.rate_to_per_s,
            stage
                .rate_per_s()
                .and(shortfall)
                .map(|fell_short| !fell_short),
            figures.measured_s,
            integer(figures.count),
            integer(figures.errors),
            figures.throughput_per_s,
            mean,
            min,
            p50,
            p95,
            p99,
            p999,
            max,
            run_state(record).ok().map(|state| state.steadiness.word()),
            thin_percentiles(figures.response.as_ref()),
        ])?;
    }
    Ok(())
}
