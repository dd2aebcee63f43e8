//! The limit under which a disk was measured.

use serde::{Deserialize, Serialize};

/// What the kernel allowed on one disk; `None` is no limit.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiskLimit {
    pub read_iops: Option<u64>,
    pub write_iops: Option<u64>,
    pub read_bytes_per_s: Option<u64>,
    pub write_bytes_per_s: Option<u64>,
    /// Version of the control groups that held it: 1 or 2.
    pub cgroup_version: u32,
    /// The disk by its numbers, `254:0`.
    pub device: String,
    /// What the kernel does not limit, in words.
    pub not_limited: Vec<String>,
}

impl DiskLimit {
    /// The values, without what held them: a run continues under the same values.
    pub(crate) fn values(&self) -> [Option<u64>; 4] {
        [
            self.read_iops,
            self.write_iops,
            self.read_bytes_per_s,
            self.write_bytes_per_s,
        ]
    }
}
