//! A limit as the record keeps it.

use samples::DiskLimit;
use server::{Cgroup, CgroupVersion};
use settings::DiskLimits;

/// The limit that a group holds, with what the kernel leaves out.
pub fn recorded_limit(limits: DiskLimits, group: &Cgroup) -> DiskLimit {
    let mut not_limited = Vec::new();
    if limits.limits_writes() && group.version() == CgroupVersion::V1 {
        let why = "What the kernel itself writes is not limited by cgroup v1: write-back from the page cache and the \
                   journal of the file system";
        not_limited.push(why.to_owned());
    }
    DiskLimit {
        read_iops: limits.read_iops,
        write_iops: limits.write_iops,
        read_bytes_per_s: limits.read_bytes_per_s,
        write_bytes_per_s: limits.write_bytes_per_s,
        cgroup_version: match group.version() {
            CgroupVersion::V1 => 1,
            CgroupVersion::V2 => 2,
        },
        device: group.device().to_owned(),
        not_limited,
    }
}
