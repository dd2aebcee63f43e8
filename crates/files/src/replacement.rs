//! A file that takes the place of another one whole: written beside it, put on disk, renamed.
//!
//! Beside `origin.json` that is `.origin.json.dbdyno-new`. A killed process leaves it behind at most; the next
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

/// Puts content in the place of a file. Whoever reads the file, at any moment and after any crash, sees the old content
/// or the new one. A symbolic link stays; the file that it leads to is replaced.
pub fn replace(path: &Path, content: &[u8]) -> Result<(), Error> {
    Replacement::begin(path)?.hold(content)
}

/// The same for a file that only its owner may read.
pub fn replace_private(path: &Path, content: &[u8]) -> Result<(), Error> {
    Replacement::begin_private(path)?.hold(content)
}

/// The new file while it is written; unless it is put in place, nothing stays of it.
#[derive(Debug)]
pub struct Replacement {
    /// The file that is replaced.
    path: PathBuf,
    /// The name of the new one until then; `None` for what is no file, such as a terminal: it is written at once.
    new: Option<PathBuf>,
    file: File,
}

impl Replacement {
    /// Begins with an empty file; it gets the permissions of the file that it replaces.
    pub fn begin(path: &Path) -> Result<Self, Error> {
        Self::begin_as(path, None)
    }

    /// Begins with an empty file that only its owner may read.
    pub fn begin_private(path: &Path) -> Result<Self, Error> {
        Self::begin_as(path, Some(0o600))
    }

    fn begin_as(path: &Path, mode: Option<u32>) -> Result<Self, Error> {
        let failed = || Error::io("write", path);
        // A link to a file that is not there yet is written through as `open` would.
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

    /// The new file's name until it is in place, for those who write it by name.
    pub fn path(&self) -> &Path {
        self.new.as_deref().unwrap_or(&self.path)
    }

    fn hold(mut self, content: &[u8]) -> Result<(), Error> {
        let written = put_in_place(&mut self, content);
        written.map_err(Error::io("write", &self.path))
    }

    /// Puts the file in place once everything is written.
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
            // It was never put in place, and its lock is still held: nobody else writes it.
            let _ = fs::remove_file(new);
        }
    }
}

/// What a replacement does to a file system; a test takes another one's place.
trait Steps {
    /// Writes content behind what the new file has.
    fn write(&mut self, content: &[u8]) -> io::Result<()>;
    /// Waits until the new file is on disk.
    fn sync_file(&mut self) -> io::Result<()>;
    /// Gives the new file the old one's name.
    fn rename(&mut self) -> io::Result<()>;
    /// Waits until the name is on disk.
    fn sync_directory(&mut self) -> io::Result<()>;
}

/// The order is what it is about: a name never leads to content that a power failure could still take away.
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
            // A pipe or a terminal has no disk.
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
        // Some file systems cannot; the content is in place all the same.
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
        // The process before may have given it the old one's name meanwhile.
        if is_at(&file, new)? {
            return Ok(file);
        }
    }
}

#[cfg(test)]
mod tests;
