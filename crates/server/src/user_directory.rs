//! The places of servers, and of what is known about them, in the user's directories.

use std::path::PathBuf;

use files::{cache_home, data_home};

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

/// Initialised data directories to copy: `~/.cache/dbdyno/templates`; `None` without a home directory.
pub(crate) fn templates_root() -> Option<PathBuf> {
    Some(cache_home()?.join("templates"))
}

/// What server binaries answered to `--version`: `~/.cache/dbdyno/versions`; `None` without a home directory.
pub(crate) fn versions_root() -> Option<PathBuf> {
    Some(cache_home()?.join("versions"))
}

/// Settings that server binaries accepted: `~/.cache/dbdyno/accepted`; `None` without a home directory.
pub(crate) fn accepted_root() -> Option<PathBuf> {
    Some(cache_home()?.join("accepted"))
}
