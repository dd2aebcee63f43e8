//! mysqlslap's `--pre-system` and `--post-system`: shell command lines before and after the load.

use std::{
    io::{IsTerminal, stdin},
    os::unix::process::{CommandExt, ExitStatusExt},
    process::{Child, Command, ExitStatus},
    thread,
    time::Duration,
};

use blame::{Blame, Blamed};
use load::Interrupt;
use runs::signals;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};

/// Polling interval of the running command.
const PERIOD: Duration = Duration::from_millis(20);

/// Runs a command line as system() does, until an interruption; a failure is reported and is not an error.
pub(super) fn run_command(command: &str, option: &str) -> Result<(), Blamed> {
    let failed = |error: &dyn std::fmt::Display| {
        Blamed::new(Blame::Machine, format!("sh -c '{command}': {error}"))
    };
    let interrupt = signals::interrupt().map_err(|error| failed(&error))?;
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(command);
    // A command that prompts at the terminal must stay in the terminal's group, and receives Ctrl-C on its own.
    let leads_group = !stdin().is_terminal();
    if leads_group {
        shell.process_group(0);
    }
    let mut child = shell.spawn().map_err(|error| failed(&error))?;
    let status = ended(&mut child, leads_group, &interrupt).map_err(|error| failed(&error))?;
    let Some(status) = status else {
        let option = option.replace('_', "-");
        let message = format!("interrupted; the command of --{option} was ended");
        return Err(Blamed::new(Blame::Interrupted, message));
    };
    if !status.success() {
        let raw = status.into_raw();
        eprintln!("Warning: Execution of {option} option returned {raw}.");
    }
    Ok(())
}

/// Waits for the child; `None` after an interruption, which ends the child and its group.
fn ended(
    child: &mut Child,
    leads_group: bool,
    interrupt: &Interrupt,
) -> std::io::Result<Option<ExitStatus>> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if interrupt.is_raised() {
            let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
            // It may have ended in between.
            let _ = match pid {
                Some(pid) if leads_group => kill_process_group(pid, Signal::TERM),
                Some(pid) => kill_process(pid, Signal::TERM),
                None => Ok(()),
            };
            return Ok(None);
        }
        thread::sleep(PERIOD);
    }
}
