//! Commits and the log flushes that they cause.

use crate::{finding::SkipReason, run::Run};

/// Statements that change rows; each is a transaction unless the client sends BEGIN.
const CHANGES: [&str; 6] = [
    "Com_insert",
    "Com_update",
    "Com_delete",
    "Com_replace",
    "Com_update_multi",
    "Com_load",
];

/// Committed transactions with changes per second: COMMIT statements if there are any, otherwise the statements that
/// change rows.
pub(crate) fn commits_per_s(run: &Run<'_>) -> Result<f64, SkipReason> {
    let changes: Result<Vec<f64>, _> = CHANGES.iter().map(|name| run.counter_per_s(name)).collect();
    let changes: f64 = changes?.iter().sum();
    let commits = run.counter_per_s("Com_commit")?;
    Ok(if changes > 0.0 && commits > 0.0 {
        commits
    } else {
        changes
    })
}

/// Flushes of InnoDB's log per second, and the name of the counter: the log's own if the server has it, otherwise all
/// of InnoDB's flushes.
pub(crate) fn log_flushes_per_s(run: &Run<'_>) -> Result<(f64, &'static str), SkipReason> {
    let of_log = run.counter_per_s("Innodb_os_log_fsyncs")?;
    Ok(if of_log > 0.0 {
        (of_log, "flushes of the log")
    } else {
        (
            run.counter_per_s("Innodb_data_fsyncs")?,
            "flushes by InnoDB",
        )
    })
}
