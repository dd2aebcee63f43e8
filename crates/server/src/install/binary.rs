//! Finds the server binary in an unpacked tree.

use std::fs;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::installation::BINARIES;

/// Maximum directory depth of a binary; some archives contain directories of packages.
const DEPTH_MAX: usize = 8;

/// The server binary of a tree; MariaDB's name has priority. The binary and the programs beside it are made executable:
/// some archives contain no permissions.
pub(super) fn find(tree: &Path) -> Result<Option<PathBuf>, Error> {
    let mut level = vec![tree.to_owned()];
    for _ in 0..DEPTH_MAX {
        for dir in &level {
            for path in BINARIES.map(|name| dir.join(name)) {
                if is_program(&path) {
                    make_executable(dir)?;
                    return Ok(Some(path));
                }
            }
        }
        level = level.iter().flat_map(|dir| subdirectories(dir)).collect();
    }
    Ok(None)
}

/// Whether a file is an executable for this operating system, by its first bytes.
pub(super) fn is_program(path: &Path) -> bool {
    let mut start = [0; 4];
    let read = files::open_regular(path).and_then(|mut file| file.read_exact(&mut start));
    read.is_ok() && start == *b"\x7fELF"
}

fn make_executable(dir: &Path) -> Result<(), Error> {
    for entry in fs::read_dir(dir).map_err(Error::io("read the directory", dir))? {
        let path = entry.map_err(Error::io("read the directory", dir))?.path();
        let Ok(metadata) = path.symlink_metadata() else {
            continue;
        };
        let mode = metadata.permissions().mode();
        if metadata.is_file() && mode & 0o100 == 0 && is_program(&path) {
            let executable = fs::Permissions::from_mode(mode | 0o755);
            fs::set_permissions(&path, executable).map_err(Error::io("make executable", &path))?;
        }
    }
    Ok(())
}

fn subdirectories(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let dirs = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let mut paths: Vec<PathBuf> = dirs.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_binary_is_found_below_and_made_executable() {
        let dir = tempfile::tempdir().unwrap();
        let bin = dir.path().join("ch/vendor/linux/bin");
        fs::create_dir_all(&bin).unwrap();
        assert_eq!(find(dir.path()).unwrap(), None);
        // A directory or a script of that name is not a server binary.
        fs::create_dir(dir.path().join("mysqld")).unwrap();
        fs::write(dir.path().join("ch/mysqld"), "#!/bin/sh\n").unwrap();
        for name in ["mysqld", "mysql"] {
            fs::write(bin.join(name), b"\x7fELF...").unwrap();
        }
        assert_eq!(find(dir.path()).unwrap(), Some(bin.join("mysqld")));
        for name in ["mysqld", "mysql"] {
            let mode = fs::metadata(bin.join(name)).unwrap().permissions().mode();
            assert_eq!(mode & 0o111, 0o111, "{name}");
        }
    }
}
