//! The end of a child process, waited for beside an interrupt.

use std::{
    io,
    process::{Child, ExitStatus},
    time::Duration,
};

use rustix::process::{Pid, PidfdFlags, pidfd_open};

use crate::interrupt::{Interrupt, readable_within};

/// The exit status of a child, as soon as it ends; `None` if the time is over or the interrupt is raised first.
pub fn wait_for_child(
    child: &mut Child,
    interrupt: Option<&Interrupt>,
    timeout: Duration,
) -> io::Result<Option<ExitStatus>> {
    // A child that was waited for has no process id any more.
    if let Some(status) = child.try_wait()? {
        return Ok(Some(status));
    }
    let process = pidfd_open(Pid::from_child(child), PidfdFlags::empty())?;
    readable_within(&process, interrupt, timeout)?;
    child.try_wait()
}

#[cfg(test)]
mod tests {
    use std::{
        process::{Command, Stdio},
        thread,
    };

    use super::*;

    #[test]
    fn a_child_is_waited_for_until_it_ends_or_the_interrupt_is_raised() {
        let long = Duration::from_secs(600);
        let interrupt = Interrupt::default();
        // It ends with its input, even if this test fails.
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        let ended = wait_for_child(&mut child, None, Duration::from_millis(1)).unwrap();
        assert_eq!(ended, None);
        let interrupted = thread::scope(|scope| {
            scope.spawn(|| interrupt.raise());
            wait_for_child(&mut child, Some(&interrupt), long).unwrap()
        });
        assert_eq!(interrupted, None);
        drop(child.stdin.take());
        for _ in 0..2 {
            let ended = wait_for_child(&mut child, None, long).unwrap();
            assert!(ended.unwrap().success());
        }
    }
}
