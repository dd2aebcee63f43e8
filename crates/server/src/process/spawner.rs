//! Starts server processes that end with dbdyno or survive it, as requested.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::sync::Mutex;
use std::sync::mpsc::{Sender, channel};

use crate::control_group::Cgroup;

use rustix::process::{Signal, getpid, getppid, set_parent_process_death_signal, setsid};

/// The lifetime of a server process.
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

/// The channel to the spawner thread; the thread starts with the first job and never ends.
///
/// The kernel sends the death signal when the parent *thread* ends, not the process, so a server started from
/// a worker thread would die with that thread.
static SPAWNER: Mutex<Option<Sender<Job>>> = Mutex::new(None);

/// Starts a server process, private or not, with this lifetime.
pub fn spawn(command: Command, lifetime: Lifetime) -> io::Result<Child> {
    spawn_in(command, lifetime, None)
}

/// The same; the process is in the control group before its program begins.
pub fn spawn_in(
    mut command: Command,
    lifetime: Lifetime,
    group: Option<&Cgroup>,
) -> io::Result<Child> {
    let parent = getpid();
    let processes = group.map(Cgroup::processes).transpose()?;
    let live = move || {
        // In a session of its own, whatever its lifetime: the kernel's scheduler shares the processor between sessions
        // (sched_autogroup_enabled), so that a server in the client's session would run at the client's expense. Ctrl-C
        // is for dbdyno, too, which then stops the server cleanly.
        setsid()?;
        match lifetime {
            Lifetime::Owned => {
                set_parent_process_death_signal(Some(Signal::KILL))?;
                // If the parent ended before the line above, the signal is never sent.
                if getppid() == Some(parent) {
                    Ok(())
                } else {
                    Err(io::ErrorKind::BrokenPipe.into())
                }
            }
            Lifetime::Detached => Ok(()),
        }
    };
    let before_exec = move || {
        for processes in processes.iter().flatten() {
            // The process that writes a 0 joins.
            rustix::io::write(processes, b"0")?;
        }
        live()
    };
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
                // If the requester has gone, the next request is still served.
                let _ = reply.send(command.spawn());
            }
        })?;
    Ok(sender)
}
