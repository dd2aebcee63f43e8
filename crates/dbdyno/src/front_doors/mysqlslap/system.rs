//! Commands of the shell before and after a test.

use std::{os::unix::process::ExitStatusExt, process::Command};

use crate::blame::{Blame, Blamed};

/// Runs a command; a failure is told and nothing more, as with mysqlslap, whose number is wait(2)'s.
pub(super) fn run_command(command: &str, option: &str) -> Result<(), Blamed> {
    let status = Command::new("sh").arg("-c").arg(command).status();
    let status = status
        .map_err(|error| Blamed::new(Blame::Machine, format!("sh -c '{command}': {error}")))?;
    if !status.success() {
        let raw = status.into_raw();
        eprintln!("Warning: Execution of {option} option returned {raw}.");
    }
    Ok(())
}
