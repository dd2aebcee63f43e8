//! The marker file: proves that dbdyno made the directory and identifies its processes.

use std::io;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::directory::layout::Layout;
use crate::error::Error;
use crate::process::ProcessId;
use crate::process::launch::Launch;
use crate::version::Flavour;

const FORMAT: u32 = 1;

/// The content of a server directory's marker, for example
/// `{"format":1,"flavour":"mariadb","version":"10.11.19-MariaDB","port":24117, ...}`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Marker {
    format: u32,
    pub(crate) flavour: Flavour,
    pub(crate) version: String,
    pub(crate) mysqld: PathBuf,
    pub(crate) basedir: PathBuf,
    #[serde(default)]
    pub(crate) launch: Launch,
    /// Seconds since 1970.
    pub(crate) created_unix_s: u64,
    /// The process whose end makes the directory removable; `None` for a server that is kept.
    pub(crate) owner: Option<ProcessId>,
    /// The server process that was started last, running or not.
    pub(crate) server: Option<ProcessId>,
    /// Whether the data directory is intact: no crash, no kill since the last clean stop.
    pub(crate) stopped_cleanly: bool,
    /// The address for TCP connections.
    pub(crate) host: String,
    pub(crate) port: u16,
    /// Whether the user named the port; if so, no other port is used instead.
    pub(crate) port_is_named: bool,
    /// A directory elsewhere that holds the socket, because the path of this one is too long.
    pub(crate) socket_dir: Option<PathBuf>,
}

impl Marker {
    /// A marker with the values known when the directory is made.
    pub(crate) fn new(
        installation: &crate::Installation,
        owner: ProcessId,
        created_unix_s: u64,
    ) -> Self {
        Self {
            format: FORMAT,
            flavour: installation.flavour,
            version: installation.version.clone(),
            mysqld: installation.mysqld.clone(),
            basedir: installation.basedir.clone(),
            launch: installation.launch().clone(),
            created_unix_s,
            owner: Some(owner),
            server: None,
            stopped_cleanly: true,
            host: String::new(),
            port: 0,
            port_is_named: false,
            socket_dir: None,
        }
    }

    /// Reads the marker of a server directory; a directory without one is not ours.
    pub(crate) fn read(layout: &Layout) -> Result<Self, Error> {
        let dir = || layout.dir.clone();
        match std::fs::read(&layout.marker) {
            Ok(bytes) => parse(&bytes, FORMAT, &layout.marker),
            Err(_) if !layout.dir.exists() => Err(Error::Missing { dir: dir() }),
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
                ) =>
            {
                Err(Error::Foreign { dir: dir() })
            }
            Err(error) => Err(Error::io("read the marker", &layout.marker)(error)),
        }
    }

    /// Writes the marker atomically: a reader sees the old one or the new one.
    pub(crate) fn write(&self, layout: &Layout) -> Result<(), Error> {
        let text =
            serde_json::to_vec_pretty(self).expect("a marker has only keys that are strings");
        write_private(&layout.marker, &text)
    }

    /// Whether another process is still creating the server: the file that it writes last is missing.
    pub(crate) fn is_being_made(&self, layout: &Layout) -> bool {
        let owner_lives = self.owner.as_ref().is_some_and(ProcessId::is_alive);
        owner_lives && !layout.client_file.exists()
    }

    /// The server process; `None` when it is not running.
    pub(crate) fn running(&self) -> Option<&ProcessId> {
        self.server.as_ref().filter(|process| process.is_alive())
    }
}

/// Reads a marker-like file after checking its format version.
pub(crate) fn parse<T: DeserializeOwned>(
    bytes: &[u8],
    format: u32,
    path: &Path,
) -> Result<T, Error> {
    #[derive(Deserialize)]
    struct Format {
        format: u32,
    }
    let wrong = |why: String| Error::Marker {
        path: path.to_owned(),
        why,
    };
    let found: Format = serde_json::from_slice(bytes).map_err(|error| wrong(error.to_string()))?;
    if found.format != format {
        return Err(wrong(format!(
            "has format {}, this dbdyno reads {format}",
            found.format
        )));
    }
    serde_json::from_slice(bytes).map_err(|error| wrong(error.to_string()))
}

/// Replaces a file; only its owner may read it.
pub(crate) fn write_private(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    files::replace_private(path, bytes).map_err(|error| Error::io("write", path)(error.into()))
}

/// Removes a directory that this process made or that a marker identifies as ours, unless something is mounted inside.
pub(crate) fn remove_tree(dir: &Path) -> Result<(), Error> {
    files::remove_tree(dir).map_err(|error| Error::io("remove", dir)(error.into()))
}
