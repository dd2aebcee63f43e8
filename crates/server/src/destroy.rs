//! Removes servers: one by request, and those that a crashed dbdyno left behind.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::control_group::sweep_groups;
use crate::directory::layout::{LOCK, Layout, MARKER};
use crate::directory::lock::Lock;
use crate::directory::marker::Marker;
use crate::directory::socket_dir;
use crate::error::Error;
use crate::lifecycle::kill_marked;
use crate::server::Server;

impl Server {
    /// Kills the server, if it runs, and removes its directory.
    pub fn destroy(mut self) -> Result<(), Error> {
        let _lock = Lock::take(&self.layout)?;
        self.refresh()?;
        self.kill()?;
        remove_directory(&self.layout)
    }
}

/// Kills the server of a directory, if it runs, and removes the directory, even if its creation was never finished.
/// Refuses a directory that dbdyno did not make.
pub fn destroy(dir: &Path) -> Result<(), Error> {
    let layout = Layout::of(dir)?;
    Marker::read(&layout)?;
    let _lock = Lock::take(&layout)?;
    // Unwritten data is removed anyway.
    kill_marked(&layout, &Marker::read(&layout)?)?;
    remove_directory(&layout)
}

/// An entry of a directory of servers.
#[derive(Debug)]
pub struct Listed {
    /// Its directory, or the link to it.
    pub path: PathBuf,
    /// The server, or why it cannot be opened.
    pub server: Result<Server, Error>,
}

/// The servers in a directory of servers, sorted by path; other directories are left out.
pub fn list(root: &Path) -> Result<Vec<Listed>, Error> {
    let directories = server_directories(root)?;
    let open = |path: PathBuf| Listed {
        server: Server::open(&path),
        path,
    };
    Ok(directories.into_iter().map(open).collect())
}

/// Kills and removes the servers in a directory of servers whose owner process has ended, as after a crash of dbdyno.
/// Returns the removed directories. Control groups that they left are removed, too.
pub fn sweep(root: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut removed = Vec::new();
    for dir in server_directories(root)? {
        let layout = Layout::of(&dir)?;
        // An unreadable marker does not prove that its owner has ended.
        if Marker::read(&layout).is_ok_and(|marker| is_abandoned(&marker)) && sweep_one(&layout)? {
            if dir.is_symlink() {
                // The server was in another location.
                fs::remove_file(&dir).map_err(Error::io("remove", &dir))?;
            }
            removed.push(dir);
        }
    }
    sweep_groups();
    Ok(removed)
}

/// Whether an abandoned server was removed; false when another process is working on it or has removed it.
fn sweep_one(layout: &Layout) -> Result<bool, Error> {
    let lock = match Lock::take(layout) {
        Ok(lock) => lock,
        Err(Error::Busy { .. }) => return Ok(false),
        Err(_) if !layout.dir.exists() => return Ok(false),
        Err(error) => return Err(error),
    };
    let Ok(marker) = Marker::read(layout) else {
        return Ok(false);
    };
    if !is_abandoned(&marker) {
        return Ok(false);
    }
    kill_marked(layout, &marker)?;
    remove_directory(layout)?;
    drop(lock);
    Ok(true)
}

fn is_abandoned(marker: &Marker) -> bool {
    marker.owner.as_ref().is_some_and(|owner| !owner.is_alive())
}

/// Removes a marked directory, its marker last: after an interrupted removal the rest is still recognised as ours.
pub(crate) fn remove_directory(layout: &Layout) -> Result<(), Error> {
    if let Ok(marker) = Marker::read(layout)
        && let Some(directory) = &marker.socket_dir
    {
        socket_dir::remove(directory, layout)?;
    }
    let removed = files::remove_marked(&layout.dir, MARKER, Some(LOCK));
    if removed.map_err(|error| Error::io("remove", &layout.dir)(error.into()))? {
        Ok(())
    } else {
        Err(Error::Foreign {
            dir: layout.dir.clone(),
        })
    }
}

/// Removes a directory that this process has just made, even if its marker could not be written.
pub(crate) fn remove_claimed(layout: &Layout) -> Result<(), Error> {
    if layout.marker.exists() {
        remove_directory(layout)
    } else {
        fs::remove_dir(&layout.dir).map_err(Error::io("remove", &layout.dir))
    }
}

/// The subdirectories that carry our marker; none when there is no such directory.
fn server_directories(root: &Path) -> Result<Vec<PathBuf>, Error> {
    let entries = match fs::read_dir(root) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Error::io("read the directory", root)(error)),
    };
    let mut directories: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    directories.retain(|dir| Layout::new(dir).marker.exists());
    directories.sort();
    Ok(directories)
}
