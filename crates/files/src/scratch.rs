//! Temporary directories that are removed with their process, or soon after a kill.

use std::{
    fs::{self, File},
    io::{Read, Write},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use rustix::fs::{FlockOperation, flock};

use crate::{
    error::Error,
    lock::{is_at, open},
    tree::remove_marked,
};

/// The marker file of such a directory; it is locked during the lifetime of its process.
const MARKER: &str = "dbdyno-scratch";
/// Content of the marker file.
const WORDS: &str = "a directory that dbdyno made for a moment; the next dbdyno removes it\n";

/// A temporary directory that is removed when dropped or, after a kill, when the next one with its prefix is created.
#[derive(Debug)]
pub struct Scratch {
    directory: PathBuf,
    _marker: File,
}

impl Scratch {
    /// Creates a directory that only the user may enter, with a name that starts with `prefix`.
    pub fn make(prefix: &str) -> Result<Self, Error> {
        Self::make_in(&std::env::temp_dir(), prefix)
    }

    fn make_in(root: &Path, prefix: &str) -> Result<Self, Error> {
        sweep(root, prefix);
        loop {
            let made = tempfile::Builder::new().prefix(prefix).tempdir_in(root);
            let made = made.map_err(Error::io("create a directory in", root))?;
            let path = made.path().join(MARKER);
            let failed = || Error::io("write", &path);
            let mut marker = open(&path, 0o600).map_err(failed())?;
            flock(&marker, FlockOperation::LockExclusive)
                .map_err(|error| failed()(error.into()))?;
            // Before it was locked, the sweep of another process could have taken it for an abandoned one.
            if is_at(&marker, &path).map_err(failed())? {
                marker.write_all(WORDS.as_bytes()).map_err(failed())?;
                return Ok(Self {
                    directory: made.keep(),
                    _marker: marker,
                });
            }
        }
    }

    pub fn path(&self) -> &Path {
        &self.directory
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // If it cannot be removed now, the next sweep removes it.
        let _ = remove_marked(&self.directory, MARKER, None);
    }
}

/// Removes the directories of killed processes; failures are ignored.
fn sweep(root: &Path, prefix: &str) {
    let own = rustix::process::getuid().as_raw();
    for entry in fs::read_dir(root).into_iter().flatten().flatten() {
        let is_named = entry.file_name().to_string_lossy().starts_with(prefix);
        let is_ours = is_named
            && entry
                .path()
                .symlink_metadata()
                .is_ok_and(|it| it.is_dir() && it.uid() == own);
        if is_ours {
            let _ = sweep_one(&entry.path());
        }
    }
}

/// `None` for a directory without the marker, or with a living process.
fn sweep_one(directory: &Path) -> Option<()> {
    let path = directory.join(MARKER);
    // A missing marker must not be created.
    path.symlink_metadata().ok().filter(|it| it.is_file())?;
    let mut marker = open(&path, 0o600).ok()?;
    flock(&marker, FlockOperation::NonBlockingLockExclusive).ok()?;
    let mut words = String::new();
    (&mut marker).take(1000).read_to_string(&mut words).ok()?;
    let is_whole = words == WORDS && is_at(&marker, &path).ok()?;
    // The process was killed before it wrote the content: the directory is otherwise empty then.
    let is_bare = words.is_empty() && fs::read_dir(directory).ok()?.count() == 1;
    if is_whole || is_bare {
        remove_marked(directory, MARKER, None).ok()?;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_one_removes_what_a_kill_left_and_nothing_else() {
        let root = tempfile::tempdir().unwrap();
        let there = |name: &str| root.path().join(name).exists();
        // Of a killed process, of the user, and of a user who wrote other content into a file of this name.
        for (name, file, text) in [
            ("x-killed", MARKER, WORDS),
            ("x-theirs", "thesis.txt", ""),
            ("x-other", MARKER, "mine"),
            ("y-killed", MARKER, WORDS),
        ] {
            fs::create_dir(root.path().join(name)).unwrap();
            fs::write(root.path().join(name).join(file), text).unwrap();
        }
        fs::write(root.path().join("x-killed/my.cnf"), "x").unwrap();
        let living = Scratch::make_in(root.path(), "x-").unwrap();
        assert!(!there("x-killed"));
        assert!(there("x-theirs") && there("x-other") && there("y-killed"));
        let next = Scratch::make_in(root.path(), "x-").unwrap();
        assert!(living.path().is_dir());
        let path = next.path().to_owned();
        fs::write(path.join("my.cnf"), "x").unwrap();
        drop(next);
        assert!(!path.exists());
    }

    #[test]
    fn those_that_are_made_at_once_leave_each_other_alone() {
        let root = tempfile::tempdir().unwrap();
        let make_many = || {
            for _ in 0..300 {
                let scratch = Scratch::make_in(root.path(), "x-").unwrap();
                assert!(scratch.path().join(MARKER).is_file());
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(make_many);
            }
        });
    }
}
