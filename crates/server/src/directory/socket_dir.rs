//! A short directory for a server's socket, for server directories whose own path is too long.

use std::path::{Path, PathBuf};

use crate::directory::layout::{Layout, make_private_dir};
use crate::error::Error;
use crate::random::random_name;

/// The file in it that names its server directory.
const OWNER: &str = "dbdyno-socket-of";

/// Makes a socket directory in the user's runtime directory or the system's temporary directory.
pub(crate) fn make(layout: &Layout) -> Result<PathBuf, Error> {
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let parent = runtime
        .filter(|directory| directory.is_dir())
        .unwrap_or_else(std::env::temp_dir);
    let directory = parent.join(format!("dbdyno-{}", random_name()?));
    make_private_dir(&directory).map_err(Error::io("create the directory", &directory))?;
    let owner = directory.join(OWNER);
    let server = layout.dir.as_os_str().as_encoded_bytes();
    std::fs::write(&owner, server).map_err(Error::io("write", &owner))?;
    Ok(directory)
}

/// Whether a directory exists and belongs to this server.
pub(crate) fn belongs_to(directory: &Path, layout: &Layout) -> bool {
    std::fs::read(directory.join(OWNER))
        .is_ok_and(|owner| owner == layout.dir.as_os_str().as_encoded_bytes())
}

/// Removes it if it belongs to this server.
pub(crate) fn remove(directory: &Path, layout: &Layout) -> Result<(), Error> {
    if !belongs_to(directory, layout) {
        return Ok(());
    }
    files::remove_marked(directory, OWNER, None)
        .map(|_| ())
        .map_err(|error| Error::io("remove", directory)(error.into()))
}
