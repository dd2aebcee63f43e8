//! The limit under which a private server ran.

use serde::{Deserialize, Serialize};

use crate::disk_limit::DiskLimit;

/// What the kernel allowed a server; `None` is no limit.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ServerLimit {
    /// On the disk with its data directory, from before the load until its end.
    pub disk: Option<DiskLimit>,
    /// CPU seconds per second, from its start.
    pub cpus: Option<f64>,
    /// Memory with the page cache that belongs to it, from its start, bytes.
    pub memory_bytes: Option<u64>,
    /// Version of the control groups that held CPUs and memory: 1 or 2; `None` without a limit of either.
    pub cgroup_version: Option<u32>,
}
