//! Ends waiting for a server's process when the user interrupts.

use std::{
    io,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
};

/// Set by the program's signal handler.
static FLAG: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// From now on, waiting for a server's process ends when this flag is set, with an error of the kind
/// [`io::ErrorKind::Interrupted`]. Waits that begin later go on: they clear up.
pub fn end_waits_when(flag: Arc<AtomicBool>) {
    // A second flag would be that of the same handler.
    let _ = FLAG.set(flag);
}

/// A wait as of its begin.
pub(crate) struct Wait {
    /// It clears up after an interruption.
    clears_up: bool,
}

impl Wait {
    pub(crate) fn begin() -> Self {
        Self {
            clears_up: is_raised(),
        }
    }

    /// An error when somebody interrupted since.
    pub(crate) fn go_on(&self) -> io::Result<()> {
        match is_raised() && !self.clears_up {
            true => Err(io::Error::new(io::ErrorKind::Interrupted, "interrupted")),
            false => Ok(()),
        }
    }
}

fn is_raised() -> bool {
    FLAG.get().is_some_and(|flag| flag.load(Ordering::Relaxed))
}
