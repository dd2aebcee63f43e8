//! Shared libraries that a server needs and this machine lacks.

use std::fs;
use std::path::{Path, PathBuf};

use super::debian::{Apt, unpack_package};
use crate::directory::marker::remove_tree;
use crate::error::Error;

/// The suite of the libraries: old enough to run with the C library of most machines.
const SUITE: &str = "bookworm";

/// Debian's packages of the libraries that servers are linked to.
const PACKAGES: [(&str, &str); 7] = [
    ("libaio.so.1", "libaio1"),
    ("libcrypt.so.1", "libcrypt1"),
    ("libjemalloc.so.2", "libjemalloc2"),
    ("libncurses.so.5", "libncurses5"),
    ("libnuma.so.1", "libnuma1"),
    ("libsystemd.so.0", "libsystemd0"),
    ("libtinfo.so.5", "libtinfo5"),
];

/// The directory of a tree that holds a library.
pub(super) fn find(tree: &Path, library: &str) -> Result<Option<PathBuf>, Error> {
    let mut dirs = vec![tree.to_owned()];
    while let Some(dir) = dirs.pop() {
        if dir.join(library).is_file() {
            return Ok(Some(dir));
        }
        for entry in fs::read_dir(&dir).map_err(Error::io("read the directory", &dir))? {
            let entry = entry.map_err(Error::io("read the directory", &dir))?;
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                dirs.push(entry.path());
            }
        }
    }
    Ok(None)
}

/// Fetches the package of a library into the installation; `None` when no package is known for it.
pub(super) fn fetch(work: &Path, library: &str) -> Result<Option<PathBuf>, Error> {
    let Some((_, package)) = PACKAGES.iter().find(|(name, _)| *name == library) else {
        return Ok(None);
    };
    let download = work.join("library-download");
    let libraries = work.join("libraries");
    fs::create_dir_all(&libraries).map_err(Error::io("create the directory", &libraries))?;
    let apt = Apt::prepare(&download, SUITE, package)?;
    apt.fetch_alone(&[package])?;
    for deb in apt.fetched()? {
        unpack_package(&deb, &libraries)?;
    }
    remove_tree(&download)?;
    find(&libraries, library)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_is_found_where_it_lies() {
        let dir = tempfile::tempdir().unwrap();
        let inner = dir.path().join("linux/libs");
        fs::create_dir_all(&inner).unwrap();
        assert_eq!(find(dir.path(), "libaio.so.1").unwrap(), None);
        fs::write(inner.join("libaio.so.1"), "").unwrap();
        assert_eq!(find(dir.path(), "libaio.so.1").unwrap(), Some(inner));
    }

    #[test]
    fn nothing_is_fetched_for_an_unknown_library() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(fetch(dir.path(), "libodd.so.9").unwrap(), None);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }
}
