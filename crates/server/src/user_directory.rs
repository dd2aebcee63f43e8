//! The user's directories in which dbdyno keeps files.

use std::env;
use std::path::PathBuf;

/// Private servers by name: `~/.local/share/dbdyno/servers`; `None` without a home directory.
pub fn servers_root() -> Option<PathBuf> {
    Some(data_home()?.join("servers"))
}

/// Installed servers by name: `~/.local/share/dbdyno/installs`; `None` without a home directory.
pub fn installs_root() -> Option<PathBuf> {
    Some(data_home()?.join("installs"))
}

/// The calibration of this client on this machine: `~/.local/share/dbdyno/calibration.json`; `None` without a home
/// directory.
pub fn calibration_file() -> Option<PathBuf> {
    Some(data_home()?.join("calibration.json"))
}

/// List of the results written on this machine: `~/.local/share/dbdyno/history.jsonl`; `None` without a home directory.
pub fn history_file() -> Option<PathBuf> {
    Some(data_home()?.join("history.jsonl"))
}

/// Initialised data directories to copy: `~/.cache/dbdyno/templates`; `None` without a home directory.
pub(crate) fn templates_root() -> Option<PathBuf> {
    Some(cache_home()?.join("templates"))
}

/// What server binaries answered to `--version`: `~/.cache/dbdyno/versions`; `None` without a home directory.
pub(crate) fn versions_root() -> Option<PathBuf> {
    Some(cache_home()?.join("versions"))
}

fn cache_home() -> Option<PathBuf> {
    let cache = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))?;
    Some(cache.join("dbdyno"))
}

fn data_home() -> Option<PathBuf> {
    let data =
        absolute("XDG_DATA_HOME").or_else(|| Some(absolute("HOME")?.join(".local/share")))?;
    Some(data.join("dbdyno"))
}

fn absolute(variable: &str) -> Option<PathBuf> {
    env::var_os(variable)
        .map(PathBuf::from)
        .filter(|path| path.is_absolute())
}
