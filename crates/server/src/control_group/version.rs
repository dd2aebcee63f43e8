//! The version of the kernel's control groups.

/// The interface of the kernel's control groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CgroupVersion {
    /// One tree for each controller; `blkio` limits requests, but not what the kernel writes back from the page cache.
    V1,
    /// One tree; `io` limits write-back, too, on file systems that support it.
    V2,
}
