//! Ends waiting for a process, copying, unpacking and comparing when the user interrupts.

use std::{
    io::{self, Read},
    os::fd::AsFd,
    process::{Child, ExitStatus},
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    process::{Pid, Signal, kill_process, kill_process_group},
};

/// How often a child is looked at.
const PERIOD: Duration = Duration::from_millis(50);

/// Set by the program's signal handler.
static FLAG: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// From now on, waiting for a server's process ends when this flag is set, with an error of the kind
/// [`io::ErrorKind::Interrupted`]. Stopping and killing a server that begins later goes on: it clears up.
pub fn end_waits_when(flag: Arc<AtomicBool>) {
    // A second flag would be that of the same handler.
    let _ = FLAG.set(flag);
}

/// How a wait takes an interruption.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wait {
    /// It clears up after an interruption.
    clears_up: bool,
}

impl Wait {
    /// Of work: it ends by an interruption, also by one that came before it.
    pub(crate) fn of_work() -> Self {
        Self { clears_up: false }
    }

    /// Of what also clears up after an interruption: it ends by one that comes from now on.
    pub(crate) fn from_now() -> Self {
        Self {
            clears_up: is_raised(),
        }
    }

    /// An error when somebody interrupted.
    pub(crate) fn go_on(self) -> io::Result<()> {
        if is_raised() && !self.clears_up {
            Err(interrupted())
        } else {
            Ok(())
        }
    }
}

/// An error once somebody has interrupted: for work that no clearing up needs, such as copying.
pub(crate) fn check() -> io::Result<()> {
    if is_raised() {
        Err(interrupted())
    } else {
        Ok(())
    }
}

/// A stream that ends with an error when somebody interrupts; whoever reads asks [`check`] why.
pub(crate) struct Interruptible<R>(pub(crate) R);

impl<R: Read> Read for Interruptible<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if is_raised() {
            // Readers try again after an error of the kind that is meant for this.
            Err(io::Error::other("interrupted"))
        } else {
            self.0.read(buffer)
        }
    }
}

/// Which processes a child stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProcessScope {
    /// It alone.
    Alone,
    /// It leads a process group of its own.
    Group,
}

/// A pipe of a child that may never write to it, nor close it: reading ends as [`Interruptible`] does.
pub(crate) struct InterruptiblePipe<P>(pub(crate) P);

impl<P: Read + AsFd> Read for InterruptiblePipe<P> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let period = Timespec {
            tv_sec: 0,
            tv_nsec: i64::from(PERIOD.subsec_nanos()),
        };
        loop {
            if is_raised() {
                return Err(io::Error::other("interrupted"));
            }
            match poll(&mut [PollFd::new(&self.0, PollFlags::IN)], Some(&period)) {
                Ok(0) | Err(rustix::io::Errno::INTR) => {}
                Ok(_) => return self.0.read(buffer),
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// Waits for a child, which is killed when somebody interrupts; `watch` is called now and then.
pub(crate) fn wait_for(
    child: &mut Child,
    kin: ProcessScope,
    watch: &mut dyn FnMut(u32),
) -> io::Result<ExitStatus> {
    wait_for_within(child, kin, Duration::MAX, watch)
}

/// The same; one that takes longer than `limit` is killed, too.
pub(crate) fn wait_for_within(
    child: &mut Child,
    kin: ProcessScope,
    limit: Duration,
    watch: &mut dyn FnMut(u32),
) -> io::Result<ExitStatus> {
    let wait = Wait::of_work();
    let mut waited = Duration::ZERO;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        let in_time = if waited < limit {
            Ok(())
        } else {
            Err(io::ErrorKind::TimedOut.into())
        };
        if let Err(error) = wait.go_on().and(in_time) {
            kill(child, kin);
            child.wait()?;
            return Err(error);
        }
        watch(child.id());
        thread::sleep(PERIOD);
        waited += PERIOD;
    }
}

/// Kills a child that nobody has collected yet.
pub(crate) fn kill(child: &Child, kin: ProcessScope) {
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    // It may have ended in between.
    let _ = match (pid, kin) {
        (Some(pid), ProcessScope::Group) => kill_process_group(pid, Signal::KILL),
        (Some(pid), ProcessScope::Alone) => kill_process(pid, Signal::KILL),
        (None, _) => Ok(()),
    };
}

fn interrupted() -> io::Error {
    io::Error::new(io::ErrorKind::Interrupted, "interrupted")
}

fn is_raised() -> bool {
    FLAG.get().is_some_and(|flag| flag.load(Ordering::Relaxed))
}
