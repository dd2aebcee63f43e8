//! mysqlslap's `--pre-system` and `--post-system`: shell command lines before and after the load.

use std::{
    io::{IsTerminal, stdin},
    os::unix::process::{CommandExt, ExitStatusExt},
    process::{Child, Command, ExitStatus},
    time::Duration,
};

use blame::{Blame, Blamed};
use reactor::{Interrupt, wait_for_child};
use runs::signals;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};

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
    let status = wait_for_child(child, Some(interrupt), Duration::MAX)?;
    if status.is_none() {
        let pid = Pid::from_child(child);
        // It may have ended in between.
        let _ = if leads_group {
            kill_process_group(pid, Signal::TERM)
        } else {
            kill_process(pid, Signal::TERM)
        };
    }
    Ok(status)
}
