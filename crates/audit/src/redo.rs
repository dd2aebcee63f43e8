//! InnoDB's redo log: its capacity, and the bytes written to it.

use crate::{
    finding::{SkipReason, missing},
    run::Run,
};

/// The capacity of the redo log, bytes.
///
/// Source: MySQL Reference Manual, innodb_redo_log_capacity (from 8.0.30), innodb_log_file_size and
/// innodb_log_files_in_group; MariaDB has one file from 10.5.
pub(crate) fn capacity_bytes(run: &Run<'_>) -> Result<f64, SkipReason> {
    let files = run.number("innodb_log_files_in_group").unwrap_or(1.0);
    let of_files = run.number("innodb_log_file_size").map(|size| size * files);
    let capacity = run.number("innodb_redo_log_capacity").or(of_files);
    capacity
        .filter(|bytes| *bytes > 0.0)
        .ok_or_else(|| missing("the size of the redo log"))
}

/// Redo log written in the measured phase, bytes.
pub(crate) fn written_bytes(run: &Run<'_>) -> Result<f64, SkipReason> {
    let readings = run.status()?;
    if run.record.side_by_side.is_some() {
        // Between two slices the log sequence number grows, too.
        let counters = run.counters()?;
        let written = counters.per_s("Innodb_os_log_written");
        let written = written.map(|per_s| per_s * counters.length_s());
        return written.ok_or_else(|| missing("the counter Innodb_os_log_written"));
    }
    let lsns: Vec<u64> = readings
        .iter()
        .filter_map(|reading| reading.innodb.as_ref()?.lsn)
        .collect();
    match lsns.as_slice() {
        [first, .., last] => {
            // The time of the first reading is the end of its interval.
            let covered: f64 = readings
                .iter()
                .skip(1)
                .map(|reading| reading.length_s)
                .sum();
            let all: f64 = readings.iter().map(|reading| reading.length_s).sum();
            Ok(last.saturating_sub(*first) as f64 * all / covered)
        }
        _ => Err(missing(
            "redo log written (log sequence numbers of two readings)",
        )),
    }
}
