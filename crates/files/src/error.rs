//! Why a file could not be written, locked or removed.

use std::{
    io,
    path::{Path, PathBuf},
};

/// Why a file could not be written, locked or removed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The system refused.
    #[error("cannot {what} {}: {source}", path.display())]
    Io {
        /// As in "cannot write".
        what: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Another process holds the lock.
    #[error("{}: {} is writing there", path.display(), holder(*pid))]
    Held {
        /// The lock's file.
        path: PathBuf,
        /// The process, where it is known.
        pid: Option<u32>,
    },
    /// Another file system is mounted inside, which is not ours to empty.
    #[error("cannot remove {}: another file system is mounted on {}", dir.display(), mounted.display())]
    Mounted {
        /// What was to be removed; nothing of it was.
        dir: PathBuf,
        /// Where.
        mounted: PathBuf,
    },
}

impl Error {
    pub(crate) fn io(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { what, path, source }
    }
}

/// For those who name file and deed themselves.
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
