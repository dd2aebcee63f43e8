//! The reasons why a proxy does not start.

use std::{io, path::PathBuf};

use crate::Address;

#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// A listening socket.
    #[error("cannot listen on {address}: {source}")]
    Listen { address: Address, source: io::Error },
    /// A thread or its event loop.
    #[error("cannot start an event thread: {0}")]
    Thread(io::Error),
    /// The hooks of a thread.
    #[error("{0}")]
    Hooks(String),
    /// A file that the proxy writes.
    #[error("{}: {source}", path.display())]
    File {
        /// The log or the file with the process id.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file with the process id belongs to another proxy.
    #[error("{}: process {pid} runs with this pid file", path.display())]
    PidFileInUse {
        /// The file.
        path: PathBuf,
        /// The other proxy.
        pid: u32,
    },
    /// Only root can start a process as another user.
    #[error("user {0}: needs root")]
    NotRoot(String),
    /// The user as whom the proxy is to run.
    #[error("user {name}: {why}")]
    User {
        /// The user's name.
        name: String,
        /// Why there is no such user.
        why: String,
    },
    /// The limit of open files.
    #[error("{files} open files: {source}; the system's limit is {most}")]
    OpenFiles {
        /// The wanted limit.
        files: u64,
        /// Why.
        source: io::Error,
        /// The system's limit, in words.
        most: String,
    },
    /// A further process of the proxy, or a thread or event loop beside the event threads.
    #[error(transparent)]
    Process(io::Error),
}
