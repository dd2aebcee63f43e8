//! The files of a server directory.
//!
//! ```text
//! dbdyno-server.json   the marker: identifies the directory and the processes that belong to it
//! lock                 held while a dbdyno works on the server
//! my.cnf               the server's only option file
//! client.cnf           how to connect, with passwords
//! server.log
//! data/                the data directory
//! tmp/  files/         temporary tables; what secure_file_priv allows
//! run/                 socket and pid file
//! ```

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use crate::error::Error;

/// The longest path of a unix socket in bytes, without its NUL. Source: unix(7).
const SOCKET_PATH_BYTES_MAX: usize = 107;

pub(crate) const MARKER: &str = "dbdyno-server.json";

pub(crate) const LOCK: &str = "lock";

/// The paths of one server directory.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    pub(crate) dir: PathBuf,
    pub(crate) marker: PathBuf,
    pub(crate) lock: PathBuf,
    pub(crate) option_file: PathBuf,
    pub(crate) client_file: PathBuf,
    pub(crate) log: PathBuf,
    pub(crate) data: PathBuf,
    pub(crate) temporary: PathBuf,
    pub(crate) files: PathBuf,
    pub(crate) run: PathBuf,
    pub(crate) pid_file: PathBuf,
}

impl Layout {
    /// The paths of a directory that may be given as a link or as a relative path.
    pub(crate) fn of(dir: &Path) -> Result<Self, Error> {
        let dir = std::path::absolute(dir).map_err(Error::io("use", dir))?;
        Ok(Self::new(&resolved(&dir)))
    }

    /// The paths under an absolute directory.
    pub(crate) fn new(dir: &Path) -> Self {
        let run = dir.join("run");
        Self {
            dir: dir.to_owned(),
            marker: dir.join(MARKER),
            lock: dir.join(LOCK),
            option_file: dir.join("my.cnf"),
            client_file: dir.join("client.cnf"),
            log: dir.join("server.log"),
            data: dir.join("data"),
            temporary: dir.join("tmp"),
            files: dir.join("files"),
            pid_file: run.join("mysqld.pid"),
            run,
        }
    }

    /// Makes the directory itself; the process that makes it owns the name.
    pub(crate) fn claim(&self) -> Result<(), Error> {
        let parent = self.dir.parent().unwrap_or(Path::new("/"));
        std::fs::create_dir_all(parent).map_err(Error::io("create the directory", parent))?;
        match make_private_dir(&self.dir) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                let dir = self.dir.clone();
                Err(if self.marker.exists() {
                    Error::NameTaken { dir }
                } else {
                    Error::Foreign { dir }
                })
            }
            made => made.map_err(Error::io("create the directory", &self.dir)),
        }
    }

    /// Makes the directories inside, except the data directory.
    pub(crate) fn make_directories(&self) -> Result<(), Error> {
        for directory in [&self.temporary, &self.files, &self.run] {
            make_private_dir(directory).map_err(Error::io("create the directory", directory))?;
        }
        Ok(())
    }

    /// Whether the path of a socket in the run directory is short enough for the kernel.
    pub(crate) fn has_room_for_socket(&self) -> bool {
        self.socket_in(&self.run).as_os_str().len() <= SOCKET_PATH_BYTES_MAX
    }

    pub(crate) fn socket_in(&self, directory: &Path) -> PathBuf {
        directory.join("mysqld.sock")
    }
}

/// The path without symbolic links, even if its last parts do not exist yet: a server has only one path.
fn resolved(path: &Path) -> PathBuf {
    match (path.canonicalize(), path.parent(), path.file_name()) {
        (Ok(real), _, _) => real,
        (Err(_), Some(parent), Some(name)) => resolved(parent).join(name),
        (Err(_), _, _) => path.to_owned(),
    }
}

/// Makes a directory that only its owner may enter: it will contain passwords and data.
pub(crate) fn make_private_dir(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(path)
}
