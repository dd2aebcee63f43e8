//! Atomic replacement of a file: the new content is written beside it, synced and renamed.
//!
//! For `origin.json` the new file is `.origin.json.dbdyno-new`. A killed process can leave it behind; the next
//! replacement of the same file reuses it.
//! replacement of the same file takes it over.

use std::{
    fs::{self, File, Permissions},
    io::{self, Write},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use rustix::fs::{FlockOperation, flock};

use crate::{
    error::Error,
    lock::{is_at, open},
};

/// Replaces the content of a file. A reader sees the old content or the new one, at any time and after any crash. A
/// symbolic link is kept; its target is replaced.
pub fn replace(path: &Path, content: &[u8]) -> Result<(), Error> {
    Replacement::begin(path)?.hold(content)
}

/// As [`replace`], for a file that only its owner may read.
pub fn replace_private(path: &Path, content: &[u8]) -> Result<(), Error> {
    Replacement::begin_private(path)?.hold(content)
}

/// A new file that is being written; it is removed unless it is committed.
#[derive(Debug)]
pub struct Replacement {
    /// The file to replace.
    path: PathBuf,
    /// Temporary path of the new file; `None` for a path that is not a file, such as a terminal: it is written
    /// directly.
    new: Option<PathBuf>,
    file: File,
}

impl Replacement {
    /// Creates an empty new file with the permissions of the file that it will replace.
    pub fn begin(path: &Path) -> Result<Self, Error> {
        Self::begin_as(path, None)
    }

    /// Creates an empty new file that only its owner may read.
    pub fn begin_private(path: &Path) -> Result<Self, Error> {
        Self::begin_as(path, Some(0o600))
    }

    fn begin_as(path: &Path, mode: Option<u32>) -> Result<Self, Error> {
        let failed = || Error::io("write", path);
        // A link to a missing file creates that file, as with `open`.
        let path = match path.canonicalize() {
            Ok(real) => real,
            Err(_) => path.to_owned(),
        };
        let old = path.metadata().ok();
        if old.as_ref().is_some_and(|old| !old.is_file()) || path.is_symlink() {
            let file = File::create(&path).map_err(failed())?;
            let new = None;
            return Ok(Self { path, new, file });
        }
        let new = new_name(&path).ok_or_else(|| io::ErrorKind::InvalidFilename.into());
        let new = new.map_err(failed())?;
        let file = open_alone(&new, mode.unwrap_or(0o666)).map_err(failed())?;
        let begun = Self {
            path,
            new: Some(new),
            file,
        };
        let mode = mode.or_else(|| Some(old?.permissions().mode() & 0o7777));
        begun.file.set_len(0).map_err(failed())?;
        if let Some(mode) = mode {
            let permissions = Permissions::from_mode(mode);
            begun.file.set_permissions(permissions).map_err(failed())?;
        }
        Ok(begun)
    }

    /// Path of the new file before the commit, for callers that write it by path.
    pub fn path(&self) -> &Path {
        self.new.as_deref().unwrap_or(&self.path)
    }

    fn hold(mut self, content: &[u8]) -> Result<(), Error> {
        let written = put_in_place(&mut self, content);
        written.map_err(Error::io("write", &self.path))
    }

    /// Replaces the file after everything has been written.
    pub fn commit(mut self) -> Result<(), Error> {
        let placed = put_in_place(&mut self, b"");
        placed.map_err(Error::io("write", &self.path))
    }
}

impl Write for Replacement {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for Replacement {
    fn drop(&mut self) {
        if let Some(new) = self.new.take() {
            // The file was not committed and its lock is still held: no other process writes it.
            let _ = fs::remove_file(new);
        }
    }
}

/// The file system operations of a replacement; tests substitute their own.
trait Steps {
    /// Appends content to the new file.
    fn write(&mut self, content: &[u8]) -> io::Result<()>;
    /// Syncs the new file to disk.
    fn sync_file(&mut self) -> io::Result<()>;
    /// Renames the new file to the old one's name.
    fn rename(&mut self) -> io::Result<()>;
    fn sync_directory(&mut self) -> io::Result<()>;
}

/// The order matters: a name must never refer to content that a power cut could still lose.
fn put_in_place(steps: &mut impl Steps, content: &[u8]) -> io::Result<()> {
    steps.write(content)?;
    steps.sync_file()?;
    steps.rename()?;
    steps.sync_directory()
}

impl Steps for Replacement {
    fn write(&mut self, content: &[u8]) -> io::Result<()> {
        self.file.write_all(content)
    }

    fn sync_file(&mut self) -> io::Result<()> {
        match self.file.sync_all() {
            // Pipes and terminals cannot be synced.
            Err(_) if self.new.is_none() => Ok(()),
            synced => synced,
        }
    }

    fn rename(&mut self) -> io::Result<()> {
        if let Some(new) = &self.new {
            fs::rename(new, &self.path)?;
            self.new = None;
        }
        Ok(())
    }

    fn sync_directory(&mut self) -> io::Result<()> {
        // Some file systems cannot sync a directory; the file is replaced nevertheless.
        let _ = File::open(directory_of(&self.path)).and_then(|directory| directory.sync_all());
        Ok(())
    }
}

fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

fn new_name(path: &Path) -> Option<PathBuf> {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name()?);
    name.push(".dbdyno-new");
    Some(path.with_file_name(name))
}

/// Opens the new file once no other process writes it.
fn open_alone(new: &Path, mode: u32) -> io::Result<File> {
    loop {
        let file = open(new, mode)?;
        flock(&file, FlockOperation::LockExclusive)?;
        // The previous process may have renamed it meanwhile.
        if is_at(&file, new)? {
            return Ok(file);
        }
    }
}

#[cfg(test)]
mod tests;
