//! The process that starts the proxy, watches it and ends with it.

use std::{
    io,
    os::unix::process::{CommandExt, ExitStatusExt},
    path::Path,
    process::{Child, Command, ExitStatus},
    time::Duration,
};

use blame::Blame;
use reactor::{Interrupt, end_child, wait_for_child};

use crate::{
    StartError,
    supervision::{
        background::leave_terminal,
        pid_file::write_pid_file,
        role::{Supervision, is_in_background, set_role},
        system_user::SystemUser,
    },
};

/// Time before a crashed proxy is started again, so that one that crashes at once does not occupy a processor. One that
/// crashes within this time of its first start is not started again.
const AGAIN_AFTER: Duration = Duration::from_secs(1);

/// Time that a proxy has to end after its guard was asked to; then it is killed. A script that never returns would hold
/// it for ever.
const END_WITHIN: Duration = Duration::from_secs(5);

/// The process that starts the proxy, again after each crash if that is wanted.
pub struct Guard<'a> {
    /// What is wanted.
    pub supervision: &'a Supervision,
    /// Makes the command that starts this program again as the proxy.
    pub command: &'a dyn Fn() -> io::Result<Command>,
    /// The file for the guard's process id, whose signals end both.
    pub pid_file: Option<&'a Path>,
    /// Ends both.
    pub interrupt: &'a Interrupt,
    /// Receives warnings.
    pub warn: fn(&str),
}

impl Guard<'_> {
    /// Starts the proxy and watches it until it ends; its exit code.
    pub fn run(&self) -> Result<u8, StartError> {
        if let Some(path) = self.pid_file {
            write_pid_file(path)?;
        }
        let mut is_first = true;
        let code = loop {
            let mut child = self.start()?;
            let started = reactor::system_now();
            if is_first && is_in_background() {
                // The proxy has the terminal until it serves.
                leave_terminal();
            }
            let status = self.watch(&mut child).map_err(StartError::Process)?;
            // An exit code is a decision of the proxy's own; a signal or a bug's code is a crash.
            let has_crashed = status.signal().is_some() || status.code() == Some(Blame::Bug as i32);
            let has_served = !is_first || reactor::system_now() - started >= AGAIN_AFTER;
            is_first = false;
            let restarts = self.supervision.restarts && !self.interrupt.is_raised();
            if has_crashed && has_served && restarts {
                (self.warn)(&format!("the proxy ended with {status}; it is restarted"));
                self.interrupt.wait(AGAIN_AFTER);
                continue;
            }
            break status.code().and_then(|code| u8::try_from(code).ok());
        };
        Ok(code.unwrap_or(Blame::Machine as u8))
    }

    fn start(&self) -> Result<Child, StartError> {
        let mut command = (self.command)().map_err(StartError::Process)?;
        let role = if is_in_background() {
            "guarded-background"
        } else {
            "guarded"
        };
        set_role(&mut command, role);
        if let Some(name) = &self.supervision.user {
            let user = SystemUser::named(name)?;
            command.uid(user.uid).gid(user.gid);
        }
        command.spawn().map_err(StartError::Process)
    }

    /// Waits for the end of the proxy, which an interrupt of the guard ends.
    fn watch(&self, child: &mut Child) -> io::Result<ExitStatus> {
        match wait_for_child(child, Some(self.interrupt), Duration::MAX)? {
            Some(status) => Ok(status),
            None => self.end(child),
        }
    }

    /// Ends the proxy, by force if it does not end in time.
    fn end(&self, child: &mut Child) -> io::Result<ExitStatus> {
        end_child(child, END_WITHIN, || {
            (self.warn)(&format!(
                "the proxy did not end within {}, probably because of a script that does not return; it is killed",
                units::span(END_WITHIN)
            ));
        })
    }
}
