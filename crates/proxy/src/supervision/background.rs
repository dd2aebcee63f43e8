//! The process in the background, its start, and its leave from the terminal.

use std::{
    fs::File,
    io::{self, Read, Write},
    process::{Command, Stdio},
};

use blame::Blame;

use crate::{
    StartError,
    supervision::role::{is_in_background, set_role},
};

/// What a process in the background says on its standard output when it serves.
const READY: &[u8] = b"ready\n";

/// Starts the process in the background with this command and waits until it serves; the exit code of the starter.
pub fn start_in_background(mut command: Command) -> Result<u8, StartError> {
    set_role(&mut command, "background");
    let started = command.stdout(Stdio::piped()).spawn();
    let mut child = started.map_err(StartError::Process)?;
    let mut said = [0; READY.len()];
    let out = child.stdout.as_mut();
    if out.is_some_and(|out| out.read_exact(&mut said).is_ok()) && said == READY {
        return Ok(0);
    }
    // It has said why on standard error.
    let status = child.wait().map_err(StartError::Process)?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(code
        .filter(|code| *code != 0)
        .unwrap_or(Blame::Machine as u8))
}

/// A process in the background tells its starter that it serves, and leaves the terminal.
pub(crate) fn announce_ready() {
    if !is_in_background() {
        return;
    }
    let mut out = io::stdout();
    // The starter may have been killed.
    let _ = out.write_all(READY).and_then(|()| out.flush());
    leave_terminal();
}

pub(crate) fn leave_terminal() {
    // Without it the terminal only stays in use.
    if let Ok(nowhere) = File::options().write(true).open("/dev/null") {
        let _ = rustix::stdio::dup2_stdout(&nowhere);
        let _ = rustix::stdio::dup2_stderr(&nowhere);
    }
}
