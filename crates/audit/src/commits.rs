//! Commits, and the flushes that they cost.

use crate::{finding::Unjudged, run::Run};

/// Statements that change rows, each a transaction where nobody says BEGIN.
const CHANGES: [&str; 6] = [
    "Com_insert",
    "Com_update",
    "Com_delete",
    "Com_replace",
    "Com_update_multi",
    "Com_load",
];

/// Transactions with changes that were committed per second: COMMIT statements where there are any, else the statements
/// that change rows.
pub(crate) fn commits_per_s(run: &Run<'_>) -> Result<f64, Unjudged> {
    let changes: Result<Vec<f64>, _> = CHANGES.iter().map(|name| run.counter_per_s(name)).collect();
    let changes: f64 = changes?.iter().sum();
    let commits = run.counter_per_s("Com_commit")?;
    Ok(if changes > 0.0 && commits > 0.0 {
        commits
    } else {
        changes
    })
}

/// Flushes of InnoDB's log per second and what was counted: the log's own where the server counts them, else all of
/// InnoDB's.
pub(crate) fn log_flushes_per_s(run: &Run<'_>) -> Result<(f64, &'static str), Unjudged> {
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
