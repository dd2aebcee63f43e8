//! The files of a server's binary log, which a snapshot leaves out.
//!
//! They contain the history of the changes, not the data, and can be larger than the data. A server without them begins
//! a new one.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use crate::error::Error;

/// Names at the top of a data directory that belong to a binary log: the index, the files that it lists, and
/// MariaDB's list of what was logged. A relay log, which a replica still has to apply, is data.
pub(crate) fn binary_logs(data: &Path) -> Result<Vec<OsString>, Error> {
    let mut names = Vec::new();
    for entry in fs::read_dir(data).map_err(Error::io("read the directory", data))? {
        let path = entry.map_err(Error::io("read the directory", data))?.path();
        let (Some(name), Some(base)) = (path.file_name(), path.file_stem()) else {
            continue;
        };
        let is_index = path
            .extension()
            .is_some_and(|extension| extension == "index");
        if !is_index || base.to_string_lossy().contains("relay") {
            continue;
        }
        let listed = fs::read_to_string(&path).map_err(Error::io("read", &path))?;
        // ./binlog.000001
        names.extend(
            listed
                .lines()
                .map(Path::new)
                .filter_map(Path::file_name)
                .map(OsString::from),
        );
        let mut state = base.to_owned();
        state.push(".state");
        names.extend([name.to_owned(), state]);
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_index_tells_what_belongs_to_it() {
        let dir = tempfile::tempdir().unwrap();
        for (name, content) in [
            ("binlog.index", "./binlog.000001\n./binlog.000002\n"),
            ("binlog.000001", ""),
            ("host-relay-bin.index", "./host-relay-bin.000001\n"),
            ("ibdata1", ""),
        ] {
            fs::write(dir.path().join(name), content).unwrap();
        }
        let names = binary_logs(dir.path()).unwrap();
        assert_eq!(
            names,
            [
                "binlog.000001",
                "binlog.000002",
                "binlog.index",
                "binlog.state"
            ]
        );
    }
}
