//! `dbdyno variables-guard`, an internal command: puts the variables of a server back that dbdyno did not put back.

use std::process::ExitCode;

use runs::global_variables::guard;

/// Waits for the end of the dbdyno that started it.
pub(crate) fn run() -> anyhow::Result<ExitCode> {
    if guard::run()? {
        // Not only after a kill: dbdyno may have failed to put them back.
        eprintln!("note: the variables of the server have their original values again");
    }
    Ok(ExitCode::SUCCESS)
}
