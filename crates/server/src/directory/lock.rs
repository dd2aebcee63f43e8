//! The lock of a server directory: one dbdyno works on a server at a time.

use std::fs::{File, OpenOptions};
use std::path::Path;

use rustix::fs::{FlockOperation, flock};

use crate::directory::layout::Layout;
use crate::error::Error;

/// Held while a server is created, started, stopped, changed or destroyed; the kernel releases it when the process
/// ends.
#[derive(Debug)]
pub(crate) struct Lock(File);

impl Drop for Lock {
    fn drop(&mut self) {
        // Closing alone may come too late: a process that another thread is just starting holds a copy of the file
        // until its exec. If this fails, closing still unlocks in the end.
        let _ = flock(&self.0, FlockOperation::Unlock);
    }
}

impl Lock {
    /// Takes the lock, or returns the error that another process holds it.
    pub(crate) fn take(layout: &Layout) -> Result<Self, Error> {
        Self::of(&layout.lock, &layout.dir)
    }

    /// Takes the lock file of any directory.
    pub(crate) fn of(path: &Path, dir: &Path) -> Result<Self, Error> {
        let file = open(path)?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Self(file)),
            Err(rustix::io::Errno::WOULDBLOCK) => Err(Error::Busy {
                dir: dir.to_owned(),
            }),
            Err(error) => Err(Error::io("lock", path)(error.into())),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_excludes_and_ends_even_while_a_copy_of_its_file_is_open() {
        let dir = tempfile::tempdir().unwrap();
        let layout = Layout::new(dir.path());
        let lock = Lock::take(&layout).unwrap();
        assert!(matches!(Lock::take(&layout), Err(Error::Busy { .. })));
        // As in a process between fork and exec.
        let _copy = lock.0.try_clone().unwrap();
        drop(lock);
        Lock::take(&layout).unwrap();
    }
}
