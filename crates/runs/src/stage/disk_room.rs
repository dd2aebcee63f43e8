//! Whether the disk has room for servers that run side by side and for their data: before the first one is made, by what is
//! known of them, and again when the first one has its data, by what that took.

use std::path::{Path, PathBuf};

use blame::{Blame, Blamed};
use rustix::fs::statvfs;
use units::{bytes, counted};

const HINT: &str = "load fewer rows or compare fewer combinations, or write design = \"classical\", which has one copy \
                    of the data";

/// The disk before the first of the servers got its data.
pub(crate) struct DiskRoom {
    directory: PathBuf,
    free_bytes: Option<u64>,
}

/// An error unless the disk of this directory, which need not exist yet, has room for new servers that need these bytes at
/// least.
pub(crate) fn provide_for_new(directory: &Path, needed_bytes: &[u64]) -> Result<(), Blamed> {
    let existing = directory.ancestors().find(|it| it.exists());
    let free = existing.and_then(free_bytes);
    free.map_or(Ok(()), |free| check_new(directory, needed_bytes, free))
}

fn check_new(directory: &Path, needed_bytes: &[u64], free_bytes: u64) -> Result<(), Blamed> {
    let all = needed_bytes.iter();
    let all = all.fold(0, |sum: u64, it| sum.saturating_add(*it));
    if all <= free_bytes {
        return Ok(());
    }
    let message = format!(
        "not enough disk space for {} side by side: they need at least {}, and {} are free in {}",
        counted(needed_bytes.len(), "server"),
        bytes(all),
        bytes(free_bytes),
        directory.display()
    );
    Err(Blamed::new(Blame::Machine, message).hint(HINT.to_owned()))
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
    Err(Blamed::new(Blame::Machine, message).hint(HINT.to_owned()))
}

/// Bytes that a server can still take on the disk of this directory; `None` if that cannot be measured.
pub(crate) fn free_bytes(directory: &Path) -> Option<u64> {
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
    fn new_servers_need_room_together() {
        let check = |free_mib| {
            check_new(
                Path::new("/servers"),
                &[200 * MIB, 100 * MIB],
                free_mib * MIB,
            )
        };
        assert!(check(300).is_ok());
        let error = check(299).unwrap_err();
        assert_eq!(error.blame, Blame::Machine);
        assert_eq!(
            error.message,
            "not enough disk space for 2 servers side by side: they need at least 300 MiB, and 299 MiB are free in /servers"
        );
        assert_eq!(error.hints, [HINT]);
        let directory = tempfile::tempdir().unwrap();
        let nowhere = directory.path().join("not/yet");
        assert!(provide_for_new(&nowhere, &[1, 1]).is_ok());
        assert!(provide_for_new(&nowhere, &[u64::MAX, 1]).is_err());
    }

    #[test]
    fn a_disk_has_free_space() {
        let directory = tempfile::tempdir().unwrap();
        assert!(DiskRoom::now(directory.path()).free_bytes.is_some());
        let nowhere = DiskRoom::now(&directory.path().join("nowhere"));
        assert!(nowhere.provide_for(7).is_ok());
    }
}
