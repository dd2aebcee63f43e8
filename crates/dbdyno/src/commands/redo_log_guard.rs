//! `dbdyno redo-log-guard`, an internal command: enables a redo log again after dbdyno was killed.

use std::process::ExitCode;

use runs::redo_log::guard;

/// Waits for the end of the dbdyno that started it.
pub(crate) fn run() -> anyhow::Result<ExitCode> {
    if guard::run()? {
        eprintln!("note: dbdyno was killed; the server's redo log is switched on again");
    }
    Ok(ExitCode::SUCCESS)
}
