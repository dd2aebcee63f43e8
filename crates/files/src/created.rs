//! The files and directories that this process created, so that it can remove exactly these.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use crate::{error::Error, replacement::replace};

/// The paths that this process created, in order of time.
#[derive(Debug, Default)]
pub struct Created {
    files: Vec<PathBuf>,
    directories: Vec<PathBuf>,
}

impl Created {
    /// Creates a directory and its missing parents; true if this process, and no other, created the directory itself.
    pub fn make_dir(&mut self, dir: &Path) -> Result<bool, Error> {
        match fs::create_dir(dir) {
            Ok(()) => {
                self.directories.push(dir.to_owned());
                Ok(true)
            }
            Err(_) if dir.is_dir() => Ok(false),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                match dir.parent().filter(|parent| *parent != Path::new("")) {
                    Some(parent) if !parent.exists() => {
                        self.make_dir(parent)?;
                        self.make_dir(dir)
                    }
                    _ => Err(Error::io("create the directory", dir)(error)),
                }
            }
            Err(error) => Err(Error::io("create the directory", dir)(error)),
        }
    }

    /// Writes a file; a file that existed before is replaced and does not count as created.
    pub fn write(&mut self, path: &Path, content: &[u8]) -> Result<(), Error> {
        let is_new = path.symlink_metadata().is_err();
        replace(path, content)?;
        if is_new {
            self.files.push(path.to_owned());
        }
        Ok(())
    }

    /// Whether this process created the path.
    pub fn holds(&self, path: &Path) -> bool {
        let mut all = self.files.iter().chain(&self.directories);
        all.any(|made| made == path)
    }

    /// Removes everything that was created, directories only if nothing else is in them. Failed removals are ignored.
    pub fn remove(&mut self) {
        for file in self.files.drain(..) {
            let _ = fs::remove_file(file);
        }
        for dir in self.directories.drain(..).rev() {
            let _ = fs::remove_dir(dir);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_made_is_taken_back() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().join("a/results");
        let mut created = Created::default();
        assert!(created.make_dir(&root).unwrap());
        assert!(!created.make_dir(&root).unwrap());
        assert!(created.make_dir(&root.join("files/smacks")).unwrap());
        created.write(&root.join("files/smacks/x"), b"x").unwrap();
        fs::write(root.join("theirs"), "old").unwrap();
        created.write(&root.join("theirs"), b"new").unwrap();
        fs::write(root.join("files/notes.txt"), "mine").unwrap();
        assert!(created.holds(&root.join("files/smacks/x")));
        assert!(!created.holds(&root.join("theirs")));
        created.remove();
        assert!(!root.join("files/smacks").exists());
        assert_eq!(fs::read(root.join("files/notes.txt")).unwrap(), b"mine");
        assert!(root.join("theirs").exists());
        fs::remove_file(root.join("files/notes.txt")).unwrap();
    }

    #[test]
    fn what_holds_nothing_else_goes_with_the_directories_above() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().join("a/results");
        let mut created = Created::default();
        created.make_dir(&root).unwrap();
        created.write(&root.join("marker"), b"x").unwrap();
        created.remove();
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    }
}
