//! Values that could not be observed, with the reasons.

use std::{io, path::PathBuf};

use procfs_core::ProcError;

/// A value that could not be observed; its text goes into the run record.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotObserved {
    #[error("server host not observed")]
    ServerHost,
    #[error("server process not observed: its process id is not known")]
    ServerProcessUnknown,
    #[error("server process {pid} not observed: it is not running")]
    ServerProcessGone { pid: u32 },
    #[error("server process {pid} not observed: {source}")]
    ServerProcess { pid: u32, source: ProcError },
    #[error("dbdyno's own process not observed: {0}")]
    OwnProcess(ProcError),
    #[error("CPU time of the machine not observed: {0}")]
    MachineCpu(ProcError),
    #[error("CPU model not observed: the kernel names none")]
    CpuModel,
    #[error("memory not observed: {0}")]
    Memory(ProcError),
    #[error("memory not observed: this kernel does not estimate the available memory")]
    MemoryAvailable,
    #[error("disk of the data directory not observed: the data directory is not known")]
    DataDirectoryUnknown,
    #[error("disk of the data directory {} not observed: {source}", path.display())]
    DataDirectory { path: PathBuf, source: io::Error },
    #[error(
        "disk of the data directory {} not observed: its file system has no block device{}",
        path.display(),
        filesystem.as_ref().map(|name| format!(" ({name})")).unwrap_or_default()
    )]
    NoBlockDevice {
        path: PathBuf,
        filesystem: Option<String>,
    },
    #[error("disk {device} of the data directory not observed: {source}")]
    DiskCounters { device: String, source: ProcError },
    #[error("disk {device} of the data directory not observed: the kernel has no counters for it")]
    DiskNotCounted { device: String },
    #[error("storage of the {holds} {} not observed: {source}", path.display())]
    Directory {
        holds: String,
        path: PathBuf,
        source: io::Error,
    },
    #[error("{what} of {name} not observed: {source}")]
    ProcessPart {
        name: &'static str,
        what: &'static str,
        source: ProcError,
    },
    #[error(
        "context switches of {name} not observed: it has {threads} threads, which are too many to count each time"
    )]
    TooManyThreads { name: &'static str, threads: u64 },
    #[error("paging and swapping not observed: the kernel does not count {name}")]
    PagingCounter { name: &'static str },
    #[error("{what} not observed: {source}")]
    Counters {
        what: &'static str,
        source: ProcError,
    },
}

impl NotObserved {
    /// The error for unreadable counters called `what`.
    pub(crate) fn counters(what: &'static str, source: ProcError) -> Self {
        Self::Counters { what, source }
    }
}

/// The value; without one, `None` and the reason in `missing`.
pub(crate) fn note<T>(result: Result<T, NotObserved>, missing: &mut Vec<NotObserved>) -> Option<T> {
    result.map_err(|error| missing.push(error)).ok()
}
