//! A process that is identified by more than its number, which could have been reused.

pub(crate) mod interruption;
pub(crate) mod launch;
pub(crate) mod log;
pub(crate) mod port;
pub(crate) mod program;
pub(crate) mod readiness;
pub(crate) mod spawner;

use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use reactor::readable_within;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use serde::{Deserialize, Serialize};

use crate::process::interruption::Wait;

/// A process by number, start time and boot of the machine, as stored in a marker file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ProcessId {
    pid: u32,
    /// Start of the process since boot, in the kernel's clock ticks.
    start_ticks: u64,
    /// The kernel's random id of this boot.
    boot: String,
}

impl ProcessId {
    pub(crate) fn own() -> io::Result<Self> {
        Self::of(std::process::id())
    }

    /// The process that has this number now.
    pub(crate) fn of(pid: u32) -> io::Result<Self> {
        let (_, start_ticks) = state_and_start(pid)?;
        Ok(Self {
            pid,
            start_ticks,
            boot: boot_id()?,
        })
    }

    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    /// Whether this very process still runs; false if it only waits to be reaped.
    pub(crate) fn is_alive(&self) -> bool {
        let same_start = matches!(
            state_and_start(self.pid),
            Ok((state, start_ticks)) if start_ticks == self.start_ticks && !matches!(state, 'Z' | 'X')
        );
        same_start && boot_id().is_ok_and(|boot| boot == self.boot)
    }

    /// Waits for a process that is ending already, such as a killed one. Returns at once for a process that runs.
    pub(crate) fn wait_if_ending(&self, timeout: Duration) -> io::Result<()> {
        if self.is_ending()
            && let Some(handle) = self.handle()?
        {
            handle.wait(timeout, Wait::from_now())?;
        }
        Ok(())
    }

    /// Whether the kernel is ending it, in the order in which that becomes visible: the signal is pending, the main
    /// thread ends, the memory is freed while files are still being closed.
    fn is_ending(&self) -> bool {
        let read = |file| fs::read_to_string(format!("/proc/{}/{file}", self.pid));
        read("status").is_ok_and(|status| is_kill_pending(&status))
            || read("stat").is_ok_and(|stat| has_ending_flag(&stat))
            || read("cmdline").is_ok_and(|line| line.is_empty())
    }

    pub(crate) fn uptime(&self) -> io::Result<Duration> {
        let text = fs::read_to_string("/proc/uptime")?;
        let up_s: f64 = text
            .split_whitespace()
            .next()
            .and_then(|up| up.parse().ok())
            .ok_or(io::ErrorKind::InvalidData)?;
        let start_s = self.start_ticks as f64 / rustix::param::clock_ticks_per_second() as f64;
        Ok(Duration::from_secs_f64((up_s - start_s).max(0.0)))
    }

    pub(crate) fn has_argument(&self, argument: &str) -> bool {
        fs::read(format!("/proc/{}/cmdline", self.pid)).is_ok_and(|arguments| {
            arguments
                .split(|&byte| byte == 0)
                .any(|one| one == argument.as_bytes())
        })
    }

    /// A handle that always refers to this process; `None` when it has ended.
    pub(crate) fn handle(&self) -> io::Result<Option<ProcessHandle>> {
        let Some(pid) = i32::try_from(self.pid).ok().and_then(Pid::from_raw) else {
            return Ok(None);
        };
        let handle = match pidfd_open(pid, PidfdFlags::empty()) {
            Ok(handle) => handle,
            Err(rustix::io::Errno::SRCH) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        // Only now is the number tied to a process, which may be another one already.
        Ok(self.is_alive().then_some(ProcessHandle(handle)))
    }
}

pub(crate) struct ProcessHandle(OwnedFd);

impl ProcessHandle {
    /// Sends a signal; a process that has ended in the meantime is not an error.
    pub(crate) fn signal(&self, signal: Signal) -> io::Result<()> {
        match pidfd_send_signal(&self.0, signal) {
            Ok(()) | Err(rustix::io::Errno::SRCH) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Waits until it ends; false after a timeout. An interruption of `wait` is an error.
    pub(crate) fn wait(&self, timeout: Duration, wait: Wait) -> io::Result<bool> {
        let has_ended = readable_within(&self.0, wait.interrupt(), timeout)?;
        if !has_ended {
            wait.go_on()?;
        }
        Ok(has_ended)
    }
}

/// State and start time of a process; the start is in clock ticks since boot.
fn state_and_start(pid: u32) -> io::Result<(char, u64)> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
    parse_stat(&stat).ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// The fields from the third on. The name is in parentheses and may itself contain some, so they are counted from the
/// last parenthesis.
fn fields_of_stat(stat: &str) -> Option<std::str::SplitWhitespace<'_>> {
    let (_, fields) = stat.rsplit_once(')')?;
    Some(fields.split_whitespace())
}

/// Source: proc(5), fields 3 and 22 of /proc/PID/stat.
fn parse_stat(stat: &str) -> Option<(char, u64)> {
    let mut fields = fields_of_stat(stat)?;
    let state = fields.next()?.chars().next()?;
    let start_ticks = fields.nth(18)?.parse().ok()?;
    Some((state, start_ticks))
}

/// Whether SIGKILL is pending: the sets of pending signals are in hexadecimal, signal 1 is the lowest bit.
/// Source: proc(5), SigPnd and ShdPnd of /proc/PID/status.
fn is_kill_pending(status: &str) -> bool {
    let sets = status.lines().filter_map(|line| {
        let (name, set) = line.split_once(':')?;
        matches!(name, "SigPnd" | "ShdPnd").then(|| u64::from_str_radix(set.trim(), 16).ok())?
    });
    sets.fold(0, |both, set| both | set) & (1 << (Signal::KILL.as_raw() - 1)) != 0
}

/// Whether the main thread is ending, or is about to end because of a signal.
/// Source: proc(5), field 9 of /proc/PID/stat; PF_EXITING and PF_SIGNALED of linux/sched.h.
fn has_ending_flag(stat: &str) -> bool {
    const EXITING: u64 = 0x4;
    const SIGNALED: u64 = 0x400;
    let flags = fields_of_stat(stat).and_then(|mut fields| fields.nth(6)?.parse::<u64>().ok());
    flags.is_some_and(|flags| flags & (EXITING | SIGNALED) != 0)
}

fn boot_id() -> io::Result<String> {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id")?;
    Ok(boot.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn stat_is_read_past_a_name_with_parentheses() {
        let stat = "42 (my (odd) name) S 1 42 42 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 98765 1 2";
        assert_eq!(parse_stat(stat), Some(('S', 98765)));
        assert_eq!(parse_stat("42 (x) S 1"), None);
        assert_eq!(parse_stat(""), None);
    }

    #[test]
    fn a_pending_kill_and_an_ending_thread_are_seen() {
        let status =
            |own, shared| format!("Name:\tx\nSigPnd:\t{own}\nShdPnd:\t{shared}\nSigBlk:\tff\n");
        assert!(is_kill_pending(&status(
            "0000000000000100",
            "0000000000000000"
        )));
        assert!(is_kill_pending(&status(
            "0000000000000000",
            "0000000000000100"
        )));
        assert!(!is_kill_pending(&status(
            "0000000000004000",
            "0000000000000001"
        )));
        assert!(!is_kill_pending(""));
        let stat = |flags| format!("42 (my (odd) name) S 1 42 42 0 -1 {flags} 1 2 3");
        assert!(has_ending_flag(&stat(0x400)) && has_ending_flag(&stat(0x40_0004)));
        assert!(!has_ending_flag(&stat(0x40_0100)) && !has_ending_flag("42 (x) S 1"));
    }

    /// A user who kills a server by hand and starts it at once must not get the error that it is running.
    #[test]
    fn a_process_that_was_just_killed_is_waited_for() {
        for _ in 0..100 {
            let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
            let id = ProcessId::of(child.id()).unwrap();
            id.wait_if_ending(Duration::ZERO).unwrap();
            assert!(id.is_alive());
            child.kill().unwrap();
            id.wait_if_ending(Duration::from_secs(10)).unwrap();
            assert!(!id.is_alive());
            child.wait().unwrap();
        }
    }

    #[test]
    fn another_process_with_the_same_number_is_not_this_one() {
        let own = ProcessId::own().unwrap();
        assert!(own.is_alive() && own.handle().unwrap().is_some());
        let earlier = ProcessId {
            start_ticks: own.start_ticks - 1,
            ..own.clone()
        };
        let other_boot = ProcessId {
            boot: "another".to_owned(),
            ..own
        };
        for other in [earlier, other_boot] {
            assert!(
                !other.is_alive() && other.handle().unwrap().is_none(),
                "{other:?}"
            );
        }
    }

    #[test]
    fn a_killed_process_is_dead_before_it_is_reaped() {
        // It ends with its input, even if this test fails.
        let mut child = Command::new("cat")
            .args(["-u", "-"])
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        let id = ProcessId::of(child.id()).unwrap();
        let handle = id.handle().unwrap().unwrap();
        while !id.has_argument("-u") {
            // For a moment after exec the kernel shows no arguments.
            assert!(
                !handle
                    .wait(Duration::from_millis(1), Wait::of_work())
                    .unwrap()
            );
        }
        assert!(!id.has_argument("u"));
        assert!(!handle.wait(Duration::ZERO, Wait::of_work()).unwrap());
        handle.signal(Signal::KILL).unwrap();
        assert!(
            handle
                .wait(Duration::from_secs(10), Wait::of_work())
                .unwrap()
        );
        assert!(!id.is_alive());
        child.wait().unwrap();
        assert!(id.handle().unwrap().is_none());
    }
}
