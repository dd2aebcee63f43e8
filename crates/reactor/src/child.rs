//! The end of a child process: waited for beside an interrupt, or brought about.

use std::{
    io,
    process::{Child, ExitStatus},
    time::Duration,
};

use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};

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

/// Asks a child to end with SIGTERM, and kills it if it has not ended within the time; calls `before_kill` first then.
pub fn end_child(
    child: &mut Child,
    timeout: Duration,
    before_kill: impl FnOnce(),
) -> io::Result<ExitStatus> {
    // The number of a child that was waited for may be another process's.
    if let Some(status) = child.try_wait()? {
        return Ok(status);
    }
    // Whatever fails, it is killed after that.
    let _ = kill_process(Pid::from_child(child), Signal::TERM);
    match wait_for_child(child, None, timeout) {
        Ok(Some(status)) => return Ok(status),
        Ok(None) => before_kill(),
        Err(_) => {}
    }
    child.kill()?;
    child.wait()
}

#[cfg(test)]
mod tests {
    use std::{
        io::{BufRead, BufReader},
        os::unix::process::ExitStatusExt,
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

    #[test]
    fn a_child_that_takes_no_notice_of_the_request_to_end_is_killed() {
        let long = Duration::from_secs(600);
        for (script, timeout, signal) in [
            ("echo; exec cat", long, Signal::TERM),
            (
                "trap '' TERM; echo; exec cat",
                Duration::from_millis(1),
                Signal::KILL,
            ),
        ] {
            let mut shell = Command::new("sh");
            shell.args(["-c", script]);
            let pipes = shell.stdin(Stdio::piped()).stdout(Stdio::piped());
            let mut child = pipes.spawn().unwrap();
            let mut ready = String::new();
            let output = child.stdout.take().unwrap();
            BufReader::new(output).read_line(&mut ready).unwrap();
            let mut is_told = false;
            let status = end_child(&mut child, timeout, || is_told = true).unwrap();
            assert_eq!(status.signal(), Some(signal.as_raw()), "{script}");
            assert_eq!(is_told, signal == Signal::KILL, "{script}");
            let again = end_child(&mut child, long, || panic!("it has ended"));
            assert_eq!(again.unwrap(), status);
        }
    }
}
