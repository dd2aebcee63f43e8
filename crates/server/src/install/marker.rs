//! The marker file of an installed server: its version, its source and how to start it.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::directory::marker::{parse, write_private};
use crate::error::Error;
use crate::process::launch::Launch;
use crate::version::{Flavour, Numbers};

const FORMAT: u32 = 1;

const MARKER: &str = "dbdyno-install.json";

/// The content of an install directory's marker, for example
/// `{"format":1,"flavour":"mysql","version":"5.6.24","mysqld":"tree/package/server/mysqld", ...}`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct InstallMarker {
    format: u32,
    pub(crate) flavour: Flavour,
    pub(crate) version: String,
    /// Relative to the directory, unless the server is only registered.
    mysqld: PathBuf,
    basedir: PathBuf,
    launch: Launch,
    /// The source of the installation, for display.
    pub(crate) source: String,
    /// The archives that it was unpacked from.
    pub(crate) archives: Vec<Archive>,
    /// The install directory; not stored in the file.
    #[serde(skip)]
    dir: PathBuf,
}

/// A file that an installed server was unpacked from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Archive {
    pub(crate) name: String,
    pub(crate) bytes: u64,
    /// Hexadecimal.
    pub(crate) sha256: String,
}

impl InstallMarker {
    /// The marker of a server that is in `dir`, or that is registered there.
    pub(crate) fn new(
        dir: &Path,
        installation: &crate::Installation,
        source: String,
        archives: Vec<Archive>,
    ) -> Self {
        let relative = |path: &Path| path.strip_prefix(dir).unwrap_or(path).to_owned();
        Self {
            format: FORMAT,
            flavour: installation.flavour,
            version: installation.version.clone(),
            mysqld: relative(&installation.mysqld),
            basedir: relative(&installation.basedir),
            launch: installation.launch().relative_to(dir),
            source,
            archives,
            dir: dir.to_owned(),
        }
    }

    /// Reads the marker of an install directory; `None` when it has none, or is another file.
    pub(crate) fn read(dir: &Path) -> Result<Option<Self>, Error> {
        let path = dir.join(MARKER);
        let bytes = match std::fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
                ) =>
            {
                return Ok(None);
            }
            Err(error) => return Err(Error::io("read the marker", &path)(error)),
        };
        let marker: Self = parse(&bytes, FORMAT, &path)?;
        Ok(Some(Self {
            dir: dir.to_owned(),
            ..marker
        }))
    }

    /// The installed servers of a directory, oldest version first. The name of an unfinished installation begins with a
    /// dot.
    pub(crate) fn list(root: &Path) -> Result<Vec<Self>, Error> {
        let entries = match std::fs::read_dir(root) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(Error::io("read the directory", root)(error)),
        };
        let mut markers = Vec::new();
        for entry in entries.flatten() {
            if !entry.file_name().as_encoded_bytes().starts_with(b".") {
                markers.extend(Self::read(&entry.path())?);
            }
        }
        markers.sort_by_key(|marker| {
            let numbers = Numbers::parse(&marker.version);
            (marker.flavour.to_string(), numbers, marker.dir.clone())
        });
        Ok(markers)
    }

    /// Writes the marker into its directory.
    pub(crate) fn write(&self) -> Result<(), Error> {
        let text =
            serde_json::to_vec_pretty(self).expect("a marker has only keys that are strings");
        write_private(&self.dir.join(MARKER), &text)
    }

    pub(crate) fn name(&self) -> &str {
        let name = self.dir.file_name().unwrap_or_default();
        name.to_str().unwrap_or_default()
    }

    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    pub(crate) fn mysqld(&self) -> PathBuf {
        self.dir.join(&self.mysqld)
    }

    pub(crate) fn basedir(&self) -> PathBuf {
        self.dir.join(&self.basedir)
    }

    pub(crate) fn launch(&self) -> Launch {
        self.launch.below(&self.dir)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_foreign_file_is_no_installation() {
        let root = tempfile::tempdir().unwrap();
        std::fs::write(root.path().join("notes.txt"), "theirs").unwrap();
        assert!(InstallMarker::list(root.path()).unwrap().is_empty());
    }
}
