//! The lock of a server directory: one dbdyno works on a server at a time.

use std::fs::{File, OpenOptions};
use std::path::Path;

use rustix::fs::{FlockOperation, flock};

use crate::error::Error;
use crate::layout::Layout;

/// Held while a server is created, started, stopped, changed or destroyed; the kernel gives it back when the
/// process dies.
#[derive(Debug)]
pub(crate) struct Lock(#[expect(dead_code, reason = "held open: closing it unlocks")] File);

impl Lock {
    /// Takes the lock, or says that another process has it.
    pub(crate) fn take(layout: &Layout) -> Result<Self, Error> {
        let file = open(&layout.lock)?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Self(file)),
            Err(rustix::io::Errno::WOULDBLOCK) => Err(Error::Busy {
                dir: layout.dir.clone(),
            }),
            Err(error) => Err(Error::io("lock", &layout.lock)(error.into())),
        }
    }
}

fn open(path: &Path) -> Result<File, Error> {
    OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)
        .map_err(Error::io("open the lock", path))
}
