//! The search for a server binary: in PATH, in the usual directories, and among the servers installed by dbdyno.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::{BINARIES, Installation};
use crate::error::Error;
use crate::install::marker::InstallMarker;
use crate::process::launch::Launch;
use crate::user_directory::installs_root;
use crate::version::VersionRequest;

/// Directories of binaries besides PATH, which for an ordinary user often lacks the sbin directories.
const USUAL_PLACES: [&str; 8] = [
    "/usr/sbin",
    "/usr/libexec",
    "/usr/bin",
    "/usr/local/sbin",
    "/usr/local/libexec",
    "/usr/local/bin",
    "/usr/local/mysql/bin",
    "/usr/local/mariadb/bin",
];

impl Installation {
    /// Finds a server: at `mysqld` if given, else the server that dbdyno installed under exactly this name, else one in
    /// PATH and the usual directories, else another one that dbdyno installed. `wanted` is a flavour, a version or
    /// both:
    /// `mariadb`, `mysql-8.0`, `10.11`.
    pub fn find(wanted: Option<&str>, mysqld: Option<&Path>) -> Result<Self, Error> {
        let installed = match installs_root() {
            Some(root) => InstallMarker::list(&root)?,
            None => Vec::new(),
        };
        let named = installed
            .iter()
            .find(|marker| Some(marker.name()) == wanted);
        if let (Some(marker), None) = (named, mysqld) {
            return Self::installed(marker);
        }
        let wanted = match wanted {
            None => None,
            Some(text) => Some((
                text,
                VersionRequest::parse(text).ok_or_else(|| Error::UnknownVersion {
                    wanted: text.to_owned(),
                })?,
            )),
        };
        if let Some(path) = mysqld {
            let found = match installed
                .iter()
                .find(|marker| is_same_file(&marker.mysqld(), path))
            {
                Some(marker) => Self::installed(marker)?,
                None => Self::at(path, &Launch::default())?,
            };
            return match wanted {
                Some((text, wanted)) if !found.is(&wanted) => {
                    Err(not_found(Some(text), &[Ok(found)]))
                }
                _ => Ok(found),
            };
        }
        let mut found = Vec::new();
        let on_machine = candidates().into_iter();
        let on_machine = on_machine.map(|path| Self::at(&path, &Launch::default()));
        for installation in on_machine.chain(installed.iter().rev().map(Self::installed)) {
            match installation {
                Ok(installation)
                    if wanted
                        .as_ref()
                        .is_none_or(|(_, wanted)| installation.is(wanted)) =>
                {
                    return Ok(installation);
                }
                // The user has interrupted: the search ends.
                Err(error @ Error::Io { .. }) => return Err(error),
                other => found.push(other),
            }
        }
        Err(not_found(wanted.map(|(text, _)| text), &found))
    }

    /// An installation by dbdyno.
    pub(crate) fn installed(marker: &InstallMarker) -> Result<Self, Error> {
        Self::remembered(
            &marker.mysqld(),
            &marker.basedir(),
            marker.flavour,
            &marker.version,
            &marker.launch(),
        )
        .ok_or_else(|| Error::Binary {
            path: marker.mysqld(),
            why: format!("has a version without a number: {}", marker.version),
        })
    }
}

fn not_found(wanted: Option<&str>, looked_at: &[Result<Installation, Error>]) -> Error {
    Error::NotInstalled {
        wanted: wanted.map(str::to_owned),
        found: looked_at
            .iter()
            .map(|found| match found {
                Ok(installation) => installation.describe(),
                Err(error) => error.to_string(),
            })
            .collect(),
    }
}

fn is_same_file(one: &Path, other: &Path) -> bool {
    matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}

/// Every binary that may be a server, each once.
fn candidates() -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut directories: Vec<PathBuf> = std::env::split_paths(&path).collect();
    directories.extend(USUAL_PLACES.map(PathBuf::from));
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let unpacked = [
        Some(PathBuf::from("/opt")),
        home.map(|home| home.join("opt")),
    ];
    for root in unpacked.into_iter().flatten() {
        directories.extend(unpacked_servers(&root));
    }
    let mut seen = Vec::new();
    let mut candidates = Vec::new();
    for binary in directories
        .iter()
        .flat_map(|dir| BINARIES.map(|name| dir.join(name)))
    {
        if let Ok(real) = binary.canonicalize()
            && real.is_file()
            && !seen.contains(&real)
        {
            seen.push(real);
            candidates.push(binary);
        }
    }
    candidates
}

/// Servers in unpacked archives: `opt/mysql-8.0.33/bin`, `opt/mysql/8.0.33/bin`, in descending order of name.
fn unpacked_servers(root: &Path) -> Vec<PathBuf> {
    let is_vendor = |path: &PathBuf| {
        let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
        ["mysql", "mariadb", "percona"]
            .iter()
            .any(|vendor| name.to_ascii_lowercase().contains(vendor))
    };
    let mut directories = Vec::new();
    for vendor in subdirectories(root).into_iter().filter(is_vendor) {
        directories.extend(
            subdirectories(&vendor)
                .into_iter()
                .map(|version| version.join("bin")),
        );
        directories.extend(["bin", "sbin", "libexec"].map(|name| vendor.join(name)));
    }
    directories
}

fn subdirectories(root: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(root) else {
        return Vec::new();
    };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.is_dir());
    paths.sort_by(|one, other| other.cmp(one));
    paths
}
