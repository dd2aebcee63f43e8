//! Starts server processes so that they end as they should: with dbdyno, or not.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::sync::Mutex;
use std::sync::mpsc::{Sender, channel};

use rustix::process::{Signal, getpid, getppid, set_parent_process_death_signal, setsid};

/// How long a server lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lifetime {
    /// It ends with this process, even when this process is killed with SIGKILL.
    Owned,
    /// It survives this process and the terminal.
    Detached,
}

struct Job {
    command: Command,
    reply: Sender<io::Result<Child>>,
}

/// The way to the spawner thread; the thread starts with the first job and never ends.
///
/// The kernel sends the death signal when the parent *thread* ends, not the process, so a server started from
/// a worker thread would die with that thread.
static SPAWNER: Mutex<Option<Sender<Job>>> = Mutex::new(None);

/// Starts a process that is a server, ours or not: it ends as `lifetime` says.
pub fn spawn(mut command: Command, lifetime: Lifetime) -> io::Result<Child> {
    let parent = getpid();
    let before_exec = move || match lifetime {
        Lifetime::Owned => {
            set_parent_process_death_signal(Some(Signal::KILL))?;
            // A parent that died before the line above sends no signal any more.
            if getppid() == Some(parent) {
                Ok(())
            } else {
                Err(io::ErrorKind::BrokenPipe.into())
            }
        }
        Lifetime::Detached => Ok(setsid().map(drop)?),
    };
    if lifetime == Lifetime::Owned {
        // Ctrl-C is for dbdyno, which then stops the server in order.
        command.process_group(0);
    }
    // SAFETY: between fork and exec the closure only makes system calls; it neither allocates nor locks.
    unsafe {
        command.pre_exec(before_exec);
    }
    let (reply, answer) = channel();
    let mut spawner = SPAWNER
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner());
    let sender = match &*spawner {
        Some(sender) => sender,
        None => spawner.insert(start_thread()?),
    };
    let gone = |_| io::Error::other("the thread that starts servers is gone");
    sender
        .send(Job { command, reply })
        .map_err(|error| gone(error.to_string()))?;
    drop(spawner);
    answer.recv().map_err(|error| gone(error.to_string()))?
}

fn start_thread() -> io::Result<Sender<Job>> {
    let (sender, jobs) = channel::<Job>();
    std::thread::Builder::new()
        .name("spawner".to_owned())
        .spawn(move || {
            for Job { mut command, reply } in jobs {
                // An asker that has gone away does not stop the next one.
                let _ = reply.send(command.spawn());
            }
        })?;
    Ok(sender)
}
