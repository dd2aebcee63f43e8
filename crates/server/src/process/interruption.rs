//! Ends waits, copies, unpacking and comparisons when the user interrupts.

use std::{
    io::{self, Read},
    os::fd::AsFd,
    process::{Child, ExitStatus},
    time::Duration,
};

use reactor::{Interrupt, readable_within, system_now, wait_for_child};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};

/// Interval at which a child is watched.
const PERIOD: Duration = Duration::from_millis(50);

/// The reaction of a wait for a server's process to an interruption by the user: it ends with an error of the kind
/// [`io::ErrorKind::Interrupted`]. A stop or kill that begins later continues, since it cleans up.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wait {
    /// `None` for a wait that cleans up after an interruption.
    interrupt: Option<&'static Interrupt>,
}

impl Wait {
    /// For ordinary work: an interruption ends it, even an earlier one.
    pub(crate) fn of_work() -> Self {
        Self {
            interrupt: Some(Interrupt::of_user()),
        }
    }

    /// For work that also cleans up after an interruption: only a later interruption ends it.
    pub(crate) fn from_now() -> Self {
        Self {
            interrupt: Some(Interrupt::of_user()).filter(|it| !it.is_raised()),
        }
    }

    /// The interrupt that ends this wait, if one does.
    pub(crate) fn interrupt(self) -> Option<&'static Interrupt> {
        self.interrupt
    }

    /// An error if an interruption has to end this wait.
    pub(crate) fn go_on(self) -> io::Result<()> {
        if self.interrupt.is_some_and(Interrupt::is_raised) {
            Err(interrupted())
        } else {
            Ok(())
        }
    }
}

/// An error after an interruption: for work that is not needed for cleaning up, such as copying.
pub(crate) fn check() -> io::Result<()> {
    if is_raised() {
        Err(interrupted())
    } else {
        Ok(())
    }
}

/// A stream that fails after an interruption; the reader calls [`check`] for the cause.
pub(crate) struct Interruptible<R>(pub(crate) R);

impl<R: Read> Read for Interruptible<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if is_raised() {
            // Readers retry after an error of kind `Interrupted`.
            Err(io::Error::other("interrupted"))
        } else {
            self.0.read(buffer)
        }
    }
}

/// The processes that are killed with a child.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProcessScope {
    /// Only the child.
    Alone,
    /// The child's own process group.
    Group,
}

/// A pipe of a child that may never write to it or close it: reading fails after an interruption, as in
/// [`Interruptible`].
pub(crate) struct InterruptiblePipe<P>(pub(crate) P);

impl<P: Read + AsFd> Read for InterruptiblePipe<P> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if is_raised() || !readable_within(&self.0, Some(Interrupt::of_user()), Duration::MAX)? {
            return Err(io::Error::other("interrupted"));
        }
        self.0.read(buffer)
    }
}

/// Waits for a child and kills it after an interruption; `watch` is called from time to time.
pub(crate) fn wait_for(
    child: &mut Child,
    kin: ProcessScope,
    watch: &mut dyn FnMut(u32),
) -> io::Result<ExitStatus> {
    wait_for_within(child, kin, Duration::MAX, watch)
}

/// The same with a time limit, after which the child is killed.
pub(crate) fn wait_for_within(
    child: &mut Child,
    kin: ProcessScope,
    limit: Duration,
    watch: &mut dyn FnMut(u32),
) -> io::Result<ExitStatus> {
    let wait = Wait::of_work();
    let begun = system_now();
    loop {
        watch(child.id());
        let left = limit.saturating_sub(system_now() - begun);
        if let Some(status) = wait_for_child(child, wait.interrupt(), left.min(PERIOD))? {
            return Ok(status);
        }
        let in_time = if system_now() - begun < limit {
            Ok(())
        } else {
            Err(io::ErrorKind::TimedOut.into())
        };
        if let Err(error) = wait.go_on().and(in_time) {
            kill(child, kin);
            child.wait()?;
            return Err(error);
        }
    }
}

/// Kills a child that has not been reaped yet.
pub(crate) fn kill(child: &Child, kin: ProcessScope) {
    let pid = Pid::from_child(child);
    // It may have ended in the meantime.
    let _ = match kin {
        ProcessScope::Group => kill_process_group(pid, Signal::KILL),
        ProcessScope::Alone => kill_process(pid, Signal::KILL),
    };
}

fn interrupted() -> io::Error {
    io::Error::new(io::ErrorKind::Interrupted, "interrupted")
}

fn is_raised() -> bool {
    Interrupt::of_user().is_raised()
}
