//! The errors of writing, locking and removing files.

use std::{
    io,
    path::{Path, PathBuf},
};

/// A file could not be written, locked or removed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("cannot {what} {}: {source}", path.display())]
    Io {
        /// The action, as in "cannot write".
        what: &'static str,
        /// The file or directory.
        path: PathBuf,
        source: io::Error,
    },
    /// Another process holds the lock.
    #[error("{}: {} is writing there", path.display(), holder(*pid))]
    Held {
        /// Path of the lock file.
        path: PathBuf,
        /// The process, if known.
        pid: Option<u32>,
    },
    /// Another file system is mounted inside, which must not be emptied.
    #[error("cannot remove {}: another file system is mounted on {}", dir.display(), mounted.display())]
    Mounted {
        /// The directory to remove; nothing of it was removed.
        dir: PathBuf,
        /// The mount point.
        mounted: PathBuf,
    },
}

impl Error {
    pub(crate) fn io(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { what, path, source }
    }
}

/// For callers that name the file and the action themselves.
impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        match error {
            Error::Io { source, .. } => source,
            other => Self::other(other),
        }
    }
}

fn holder(pid: Option<u32>) -> String {
    match pid {
        Some(pid) => format!("process {pid}"),
        None => "another process".to_owned(),
    }
}
