//! The file of a unix socket.

use std::{
    fs, io,
    os::unix::{
        fs::{FileTypeExt, MetadataExt},
        net::UnixStream,
    },
    path::{Path, PathBuf},
};

/// The file of a socket that listens, removed when this value is dropped.
#[derive(Debug)]
pub struct SocketFile {
    path: PathBuf,
    identity: Option<FileIdentity>,
}

/// Device and inode of a file.
type FileIdentity = (u64, u64);

impl SocketFile {
    /// The socket just bound to this path. Another file that took its place already is not removed later.
    pub fn at(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            identity: identity(path),
        }
    }

    /// Removes the file of a socket on which no program listens any more; true if there was one.
    pub fn remove_stale(path: &Path) -> io::Result<bool> {
        let is_socket = fs::symlink_metadata(path).is_ok_and(|it| it.file_type().is_socket());
        if !is_socket {
            return Ok(false);
        }
        match UnixStream::connect(path) {
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                fs::remove_file(path)?;
                Ok(true)
            }
            _ => Ok(false),
        }
    }
}

/// The identity of the socket's file at a path, if one exists.
fn identity(path: &Path) -> Option<FileIdentity> {
    let metadata = fs::symlink_metadata(path).ok()?;
    let is_socket = metadata.file_type().is_socket();
    is_socket.then(|| (metadata.dev(), metadata.ino()))
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        // Another process may have removed it meanwhile, or created another file in its place.
        if self.identity.is_some() && identity(&self.path) == self.identity {
            let _ = fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{os::unix::net::UnixListener, thread, time::Duration};

    use super::*;

    /// Interval and maximum number of the checks of a condition: 5 minutes.
    const POLL: Duration = Duration::from_millis(20);
    const LOOKS: u32 = 15_000;

    #[test]
    fn only_the_file_of_a_dead_socket_is_removed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("socket");
        assert!(!SocketFile::remove_stale(&path).unwrap());
        let listener = UnixListener::bind(&path).unwrap();
        assert!(!SocketFile::remove_stale(&path).unwrap());
        drop(listener);
        // A process that another test is starting has a copy of the listener until it executes its program.
        let is_removed = (0..LOOKS).any(|_| {
            let is_removed = SocketFile::remove_stale(&path).unwrap();
            if !is_removed {
                thread::sleep(POLL);
            }
            is_removed
        });
        assert!(is_removed);
        fs::write(&path, "no socket").unwrap();
        assert!(!SocketFile::remove_stale(&path).unwrap());
        assert!(path.exists());
    }

    #[test]
    fn another_file_in_its_place_stays() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("socket");
        let _first = UnixListener::bind(&path).unwrap();
        let file = SocketFile::at(&path);
        fs::rename(&path, dir.path().join("kept")).unwrap();
        let _second = UnixListener::bind(&path).unwrap();
        drop(file);
        assert!(path.exists());
        drop(SocketFile::at(&path));
        assert!(!path.exists());
    }

    #[test]
    fn a_file_that_took_its_place_at_once_stays() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("socket");
        fs::write(&path, "somebody else's").unwrap();
        drop(SocketFile::at(&path));
        assert!(path.exists());
    }
}
