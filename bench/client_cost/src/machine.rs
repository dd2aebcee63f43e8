//! What the figures were measured on.

use std::process::Command;

use crate::{finished::Finished, servers::MariaDb, tool::Programs};

/// One paragraph: processors, kernel, versions, how busy the machine was with other work.
pub(crate) fn describe(programs: &Programs, server: &MariaDb) -> String {
    let mariadb = server.ask("SELECT VERSION()").unwrap_or_default();
    format!(
        "{}; MariaDB {}; {}; {}; {}; {}.",
        harness::machine::describe(),
        mariadb.trim(),
        version(Command::new(&programs.dbdyno), "--version"),
        version(Command::new("sysbench"), "--version"),
        version(Command::new("mariadb-slap"), "--version"),
        version(Command::new("go"), "version"),
    )
}

/// The first line of what a program says its version is.
fn version(mut command: Command, option: &str) -> String {
    let program = command.get_program().display().to_string();
    command.arg(option);
    match Finished::success_of(command) {
        Ok(finished) => {
            let line = finished.stdout.lines().next().unwrap_or_default();
            // mariadb-slap begins with the path that it was called by.
            line.trim_start_matches("/usr/bin/").trim().to_owned()
        }
        Err(_) => format!("{program} of unknown version"),
    }
}
