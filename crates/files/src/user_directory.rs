//! The user's directories in which dbdyno keeps files.

use std::{env, path::PathBuf};

/// Files to keep: `~/.local/share/dbdyno`; `None` without a home directory.
pub fn data_home() -> Option<PathBuf> {
    let data =
        absolute("XDG_DATA_HOME").or_else(|| Some(absolute("HOME")?.join(".local/share")))?;
    Some(data.join("dbdyno"))
}

/// Files that can be made again: `~/.cache/dbdyno`; `None` without a home directory.
pub fn cache_home() -> Option<PathBuf> {
    let cache = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))?;
    Some(cache.join("dbdyno"))
}

fn absolute(variable: &str) -> Option<PathBuf> {
    env::var_os(variable)
        .map(PathBuf::from)
        .filter(|path| path.is_absolute())
}
