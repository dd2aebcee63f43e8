//! A process that enables a server's redo log again if the process that disabled it is killed.

use std::io;

use blame::{Blame, Blamed};
use protocol::Endpoint;

use crate::{
    guard::{self, Guard, login::Login},
    redo_log,
};

/// The hidden command of the guard.
pub const COMMAND: &str = "redo-log-guard";

/// Starts the guard of a server's redo log.
pub(super) fn set_up(endpoint: &Endpoint) -> Result<Guard, Blamed> {
    let failed = |error: io::Error| {
        let message = format!("the guard of the redo log cannot be started: {error}");
        Blamed::new(Blame::Machine, message)
    };
    Guard::set_up(COMMAND, &Login::of(endpoint)).map_err(failed)
}

/// Main function of the guard: waits for the end of its standard input; returns whether it enabled the redo log.
pub fn run() -> Result<bool, Blamed> {
    let Some(login) = guard::wait::<Login>(COMMAND)? else {
        return Ok(false);
    };
    let was_off = login.undo(async |connection| redo_log::bring_back(connection).await);
    was_off.map_err(redo_log::still_off)
}
