//! `dbdyno variables-guard`, an internal command: puts the variables of a server back after dbdyno was killed.

use std::process::ExitCode;

use runs::global_variables::guard;

/// Waits for the end of the dbdyno that started it.
pub(crate) fn run() -> anyhow::Result<ExitCode> {
    if guard::run()? {
        eprintln!(
            "note: dbdyno was killed; the variables of the server have their original values again"
        );
    }
    Ok(ExitCode::SUCCESS)
}
