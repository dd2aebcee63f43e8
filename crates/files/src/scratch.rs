//! Directories in the system's temporary directory that never outlast their process for long.

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

/// The file in such a directory that says so; it is locked as long as its process lives.
const MARKER: &str = "dbdyno-scratch";
/// What it says.
const WORDS: &str = "a directory that dbdyno made for a moment; the next dbdyno removes it\n";

/// A directory that goes with its process: when it is dropped, or, after a kill, when the next one of its kind is made.
#[derive(Debug)]
pub struct Scratch {
    directory: PathBuf,
    _marker: File,
}

impl Scratch {
    /// Makes one that only the user may enter, its name beginning with `prefix`.
    pub fn make(prefix: &str) -> Result<Self, Error> {
        Self::make_in(&std::env::temp_dir(), prefix)
    }

    fn make_in(root: &Path, prefix: &str) -> Result<Self, Error> {
        sweep(root, prefix);
        loop {
            let made = tempfile::Builder::new().prefix(prefix).tempdir_in(root);
            let made = made.map_err(Error::io("make a directory in", root))?;
            let path = made.path().join(MARKER);
            let failed = || Error::io("write", &path);
            let mut marker = open(&path, 0o600).map_err(failed())?;
            flock(&marker, FlockOperation::LockExclusive)
                .map_err(|error| failed()(error.into()))?;
            // Until it was locked, the sweep of another process could take it for one that was left behind.
            if is_at(&marker, &path).map_err(failed())? {
                marker.write_all(WORDS.as_bytes()).map_err(failed())?;
                return Ok(Self {
                    directory: made.keep(),
                    _marker: marker,
                });
            }
        }
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.directory
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed now goes when the next one is made.
        let _ = remove_marked(&self.directory, MARKER, None);
    }
}

/// Removes what killed processes left; what cannot be removed is none of this process's concern.
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

/// `None` for a directory without the marker, or with one whose process lives.
fn sweep_one(directory: &Path) -> Option<()> {
    let path = directory.join(MARKER);
    // Not created where it is not there.
    path.symlink_metadata().ok().filter(|it| it.is_file())?;
    let mut marker = open(&path, 0o600).ok()?;
    flock(&marker, FlockOperation::NonBlockingLockExclusive).ok()?;
    let mut words = String::new();
    (&mut marker).take(1000).read_to_string(&mut words).ok()?;
    let is_whole = words == WORDS && is_at(&marker, &path).ok()?;
    // Killed before it had written its words: nothing else is in it then.
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
        // Of a killed process, of the user, of a user who writes something else into such a file.
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
