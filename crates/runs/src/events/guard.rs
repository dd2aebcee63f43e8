//! A process between dbdyno and the program of an event: it ends the program, and all that this has started, when the
//! program has ended or dbdyno has, also by SIGKILL.

use std::{
    env, fs,
    io::{self, BufRead, BufReader, Read, Write},
    net::Shutdown,
    os::{
        fd::{AsFd, OwnedFd},
        unix::{
            net::UnixStream,
            process::{CommandExt, ExitStatusExt},
        },
    },
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    thread,
    time::Duration,
};

use reactor::wait_for_child;
use rustix::{
    event::{PollFd, PollFlags, poll},
    io::Errno,
    process::{
        Pid, PidfdFlags, Signal, WaitOptions, getpid, kill_process, kill_process_group, pidfd_open,
        set_child_subreaper, wait,
    },
};
use serde::{Deserialize, Serialize};

use super::cut_off::CutOff;

/// The hidden command of the guard.
pub const COMMAND: &str = "event-guard";
/// Time for processes to end that were killed. One of another user cannot be.
const END_WITHIN: Duration = Duration::from_secs(2);
/// Pause between two looks at processes that were killed.
const PAUSE: Duration = Duration::from_millis(2);

/// What the guard is to start.
#[derive(Debug, Serialize, Deserialize)]
struct Order {
    program: PathBuf,
    arguments: Vec<String>,
}

/// What became of it.
#[derive(Debug, Serialize, Deserialize)]
enum Report {
    /// It could not be started.
    NotStarted(String),
    /// The status of its end, as wait(2) gives it.
    Ended(i32),
}

/// A program under a guard.
pub(super) struct Guarded {
    guard: Child,
    line: UnixStream,
}

impl Guarded {
    /// The command that starts a guard: this program.
    pub(super) fn own_command() -> io::Result<Command> {
        let mut command = Command::new(env::current_exe()?);
        command.arg(COMMAND);
        Ok(command)
    }

    /// Starts a program by a guard, with the environment and the outputs of the guard's command.
    pub(super) fn start(
        mut guard: Command,
        program: &Path,
        arguments: &[String],
    ) -> io::Result<Self> {
        let (line, guards_end) = UnixStream::pair()?;
        guard.stdin(OwnedFd::from(guards_end));
        // It outlives this process, by the moment in which it ends the program.
        let guard = server::spawn(guard, server::Lifetime::Detached)?;
        let order = Order {
            program: program.to_owned(),
            arguments: arguments.to_vec(),
        };
        let mut order = serde_json::to_vec(&order)?;
        order.push(b'\n');
        (&line).write_all(&order)?;
        Ok(Self { guard, line })
    }

    /// The guard's process, whose outputs are the program's.
    pub(super) fn process(&mut self) -> &mut Child {
        &mut self.guard
    }

    /// Waits for the program's end, and has it ended when it is cut off; returns how it ended, and why it was cut off.
    pub(super) fn end(mut self, cut_off: &CutOff<'_>) -> io::Result<(ExitStatus, Option<String>)> {
        let ended = wait_for_child(&mut self.guard, Some(cut_off.end), cut_off.left())?;
        let why = match ended {
            Some(_) => None,
            None => {
                self.line.shutdown(Shutdown::Write)?;
                Some(cut_off.why())
            }
        };
        let of_guard = self.guard.wait()?;
        let mut report = String::new();
        self.line.read_to_string(&mut report)?;
        match serde_json::from_str(&report) {
            Ok(Report::Ended(status)) => Ok((ExitStatus::from_raw(status), why)),
            Ok(Report::NotStarted(error)) => Err(io::Error::other(error)),
            // It was killed itself.
            Err(_) => Ok((of_guard, why)),
        }
    }
}

/// Main function of the guard, whose standard input is the line to the dbdyno that started it.
pub fn run() -> io::Result<()> {
    let line = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let mut input = BufReader::new(&line);
    let mut order = String::new();
    input.read_line(&mut order)?;
    let order: Order = serde_json::from_str(&order).map_err(|_| {
        let text = format!("{COMMAND} is internal to dbdyno and has no use by hand");
        io::Error::new(io::ErrorKind::InvalidInput, text)
    })?;
    // What leaves the program's process group or session, and loses its parent, becomes this process's child.
    set_child_subreaper(Some(getpid()))?;
    let mut command = Command::new(&order.program);
    let started = command
        .args(&order.arguments)
        .stdin(Stdio::null())
        .process_group(0)
        .spawn();
    let report = match started {
        Ok(mut child) => {
            until_end(Pid::from_child(&child), &line)?;
            // Its number still names its group: it is not reaped yet.
            let _ = kill_process_group(Pid::from_child(&child), Signal::KILL);
            let status = child.wait()?;
            end_children();
            Report::Ended(status.into_raw())
        }
        Err(error) => Report::NotStarted(error.to_string()),
    };
    // The other side may be gone.
    let _ = (&line).write_all(&serde_json::to_vec(&report)?);
    Ok(())
}

/// Waits for the end of the program, or of the other side of the line.
fn until_end(program: Pid, line: &UnixStream) -> io::Result<()> {
    let program = pidfd_open(program, PidfdFlags::empty())?;
    loop {
        let mut polled = [
            PollFd::new(&program, PollFlags::IN),
            PollFd::new(line, PollFlags::IN),
        ];
        match poll(&mut polled, None) {
            // Nothing is ever sent behind the order: what can be read of the line is its end.
            Ok(_) => return Ok(()),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Ends all children, and theirs, which become children here as their parents end.
fn end_children() {
    let until = reactor::system_now() + END_WITHIN;
    while reactor::system_now() < until {
        for child in children() {
            // One that has ended meanwhile is not reaped yet.
            let _ = kill_process(child, Signal::KILL);
        }
        while matches!(wait(WaitOptions::NOHANG), Ok(Some(_))) {}
        if children().is_empty() {
            return;
        }
        thread::sleep(PAUSE);
    }
}

/// The processes whose parent this one is. Source: proc_pid_stat(5).
fn children() -> Vec<Pid> {
    let own = getpid().as_raw_nonzero().to_string();
    let numbers = fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = numbers.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let is_child = |pid: &i32| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        // The name before it may hold anything.
        let parent = stat
            .rsplit_once(')')
            .and_then(|(_, rest)| rest.split_whitespace().nth(1));
        parent == Some(own.as_str())
    };
    numbers.filter(is_child).filter_map(Pid::from_raw).collect()
}
