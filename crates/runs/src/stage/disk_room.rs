//! Whether the disk has room for the data of servers that run side by side.

use std::path::{Path, PathBuf};

use blame::{Blame, Blamed};
use rustix::fs::statvfs;
use units::{bytes, counted};

/// The disk before the first of the servers got its data.
pub(crate) struct DiskRoom {
    directory: PathBuf,
    free_bytes: Option<u64>,
}

impl DiskRoom {
    /// The disk of this directory, now.
    pub(crate) fn now(directory: &Path) -> Self {
        Self {
            free_bytes: free_bytes(directory),
            directory: directory.to_owned(),
        }
    }

    /// An error unless each of this number of other servers can take as much space as was taken since.
    pub(crate) fn provide_for(&self, others: usize) -> Result<(), Blamed> {
        let free = self.free_bytes.zip(free_bytes(&self.directory));
        // What cannot be measured is found when a server fails.
        free.map_or(Ok(()), |(before, free)| {
            check(before.saturating_sub(free), free, others)
        })
    }
}

fn check(taken_bytes: u64, free_bytes: u64, others: usize) -> Result<(), Blamed> {
    if taken_bytes.saturating_mul(others as u64) <= free_bytes {
        return Ok(());
    }
    let message = format!(
        "not enough disk space for {} side by side: the data of the first took {}, and {} are left for {others} more",
        counted(others + 1, "server"),
        bytes(taken_bytes),
        bytes(free_bytes)
    );
    let hint = "load fewer rows or compare fewer combinations, or write design = \"classical\", which has one copy of \
                the data";
    Err(Blamed::new(Blame::Machine, message).hint(hint.to_owned()))
}

fn free_bytes(directory: &Path) -> Option<u64> {
    let space = statvfs(directory).ok()?;
    Some(space.f_bavail * space.f_frsize)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    #[test]
    fn each_further_server_needs_as_much_as_the_first_took() {
        assert!(check(100 * MIB, 300 * MIB, 3).is_ok());
        let error = check(100 * MIB, 299 * MIB, 3).unwrap_err();
        assert_eq!(error.blame, Blame::Machine);
        assert_eq!(
            error.message,
            "not enough disk space for 4 servers side by side: the data of the first took 100 MiB, and 299 MiB are \
             left for 3 more"
        );
        assert!(check(0, 0, 7).is_ok());
    }

    #[test]
    fn a_disk_has_free_space() {
        let directory = tempfile::tempdir().unwrap();
        assert!(DiskRoom::now(directory.path()).free_bytes.is_some());
        let nowhere = DiskRoom::now(&directory.path().join("nowhere"));
        assert!(nowhere.provide_for(7).is_ok());
    }
}
