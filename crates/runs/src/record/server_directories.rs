//! The directories that a server writes to, according to its variables.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use telemetry::Directory;

/// The directories that a server with these variables writes to; empty if its data directory is unknown.
pub(crate) fn server_directories(variables: &BTreeMap<String, String>) -> Vec<Directory> {
    let Some(data) = variables.get("datadir").map(Path::new) else {
        return Vec::new();
    };
    let value = |name: &str| variables.get(name).filter(|value| !value.is_empty());
    // Relative paths start at the data directory, which is the server's working directory.
    let path = |name: &str| value(name).map(|value| data.join(value));
    let binary_log =
        path("log_bin_basename").filter(|_| value("log_bin").is_some_and(|it| it == "ON"));
    let binary_log = binary_log.and_then(|file| file.parent().map(Path::to_owned));
    // A list of directories that are used in turn.
    let temporary = value("tmpdir").and_then(|list| list.split(':').next());
    let all: [(&'static str, Option<PathBuf>); 7] = [
        ("data", Some(data.to_owned())),
        ("InnoDB's system tablespace", path("innodb_data_home_dir")),
        ("redo log", path("innodb_log_group_home_dir")),
        ("undo log", path("innodb_undo_directory")),
        ("doublewrite buffer", path("innodb_doublewrite_dir")),
        ("binary log", binary_log),
        ("temporary files", temporary.map(|path| data.join(path))),
    ];
    let known = all.into_iter().filter_map(|(holds, path)| {
        let holds = holds.to_owned();
        Some(Directory { holds, path: path? })
    });
    known.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_paths_begin_at_the_data_directory() {
        let variables = [
            ("datadir", "/srv/db/"),
            ("innodb_log_group_home_dir", "./"),
            ("innodb_undo_directory", "../undo"),
            ("innodb_data_home_dir", ""),
            ("log_bin", "ON"),
            ("log_bin_basename", "/logs/bin/server"),
            ("tmpdir", "/tmp:/var/tmp"),
        ];
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let found = server_directories(&variables.into());
        let found: Vec<_> = found
            .iter()
            .map(|directory| (directory.holds.as_str(), directory.path.to_str().unwrap()))
            .collect();
        let expected = [
            ("data", "/srv/db/"),
            ("redo log", "/srv/db/./"),
            ("undo log", "/srv/db/../undo"),
            ("binary log", "/logs/bin"),
            ("temporary files", "/tmp"),
        ];
        assert_eq!(found, expected);
        assert_eq!(server_directories(&BTreeMap::new()), []);
    }
}
