//! The marker file: dbdyno made this directory, and these processes belong to it.

use std::io;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::directory::layout::Layout;
use crate::error::Error;
use crate::process::ProcessId;
use crate::process::launch::Launch;
use crate::version::Flavour;

/// The version of the marker's format.
const FORMAT: u32 = 1;

/// What a server directory says of itself, for example
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
    /// The process that the directory is removed with; `None` for a server that is kept.
    pub(crate) owner: Option<ProcessId>,
    /// The server process that was started last, running or not.
    pub(crate) server: Option<ProcessId>,
    /// Whether the data directory is whole: no crash, no kill since the last clean stop.
    pub(crate) stopped_cleanly: bool,
    /// The address that TCP connections go to.
    pub(crate) host: String,
    pub(crate) port: u16,
    /// Whether the user named the port: then no other is taken in its place.
    pub(crate) port_is_named: bool,
    /// A directory outside that holds the socket, because the path of this one is too long.
    pub(crate) socket_dir: Option<PathBuf>,
}

impl Marker {
    /// A marker with the parts that are known when the directory is made.
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

    /// Reads the marker of a server directory; without one it is none of ours.
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

    /// Writes the marker; a reader sees the old one or the new one.
    pub(crate) fn write(&self, layout: &Layout) -> Result<(), Error> {
        let text =
            serde_json::to_vec_pretty(self).expect("a marker has only keys that are strings");
        write_private(&layout.marker, &text)
    }

    /// Whether the process that makes the server is still at it: what it writes last is not there.
    pub(crate) fn is_being_made(&self, layout: &Layout) -> bool {
        let owner_lives = self.owner.as_ref().is_some_and(ProcessId::is_alive);
        owner_lives && !layout.client_file.exists()
    }

    /// The server process, if it runs.
    pub(crate) fn running(&self) -> Option<&ProcessId> {
        self.server.as_ref().filter(|process| process.is_alive())
    }
}

/// Reads a marker-like file after a look at its format version.
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

/// Writes a file that only its owner may read, in place of the one before.
pub(crate) fn write_private(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    files::replace_private(path, bytes).map_err(|error| Error::io("write", path)(error.into()))
}

/// Removes a directory that this process made or that a marker says is ours, unless something is mounted inside.
pub(crate) fn remove_tree(dir: &Path) -> Result<(), Error> {
    files::remove_tree(dir).map_err(|error| Error::io("remove", dir)(error.into()))
}
