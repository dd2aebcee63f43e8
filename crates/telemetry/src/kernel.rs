//! The files in which the kernel tells its counters, under one root directory.

use std::{
    fs,
    path::{Path, PathBuf},
};

use procfs_core::{
    CpuInfo, DiskStats, ExplicitSystemInfo, FromRead, FromReadSI, KernelStats, Meminfo, ProcError,
    process::{MountInfos, Stat},
};

use crate::counters::{DiskCounters, ProcessCounters};

/// The files of /proc and /sys, and the two constants without which they cannot be read.
#[derive(Debug)]
pub(crate) struct Kernel {
    root: PathBuf,
    pub(crate) ticks_per_s: u64,
    page_bytes: u64,
}

impl Kernel {
    /// The kernel that we run on.
    pub(crate) fn running() -> Self {
        Self::at(
            Path::new("/"),
            rustix::param::clock_ticks_per_second(),
            rustix::param::page_size() as u64,
        )
    }

    /// A kernel whose files are kept under `root`.
    pub(crate) fn at(root: &Path, ticks_per_s: u64, page_bytes: u64) -> Self {
        Self {
            root: root.to_owned(),
            ticks_per_s,
            page_bytes,
        }
    }

    /// A file by its path without the leading slash, as `proc/stat`.
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    /// CPU time of the machine as a whole and by CPU.
    pub(crate) fn stats(&self) -> Result<KernelStats, ProcError> {
        let constants = ExplicitSystemInfo {
            boot_time_secs: 0,
            ticks_per_second: self.ticks_per_s,
            page_size: self.page_bytes,
            is_little_endian: cfg!(target_endian = "little"),
        };
        KernelStats::from_file(self.path("proc/stat"), &constants)
    }

    /// The counters of a process (`self` or its id); `None` when it has ended.
    pub(crate) fn process(&self, process: &str) -> Result<Option<ProcessCounters>, ProcError> {
        match Stat::from_file(self.path(&format!("proc/{process}/stat"))) {
            Ok(stat) => Ok(ProcessCounters::of(&stat, self.page_bytes)),
            Err(ProcError::NotFound(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Memory of the machine.
    pub(crate) fn memory(&self) -> Result<Meminfo, ProcError> {
        Meminfo::from_file(self.path("proc/meminfo"))
    }

    /// The counters of one block device; `None` when the kernel lists it no more.
    pub(crate) fn disk(&self, major: u32, minor: u32) -> Result<Option<DiskCounters>, ProcError> {
        let DiskStats(disks) = DiskStats::from_file(self.path("proc/diskstats"))?;
        Ok(disks
            .iter()
            .find(|disk| (disk.major, disk.minor) == (major as i32, minor as i32))
            .map(DiskCounters::from))
    }

    /// The CPUs' own description; `None` when there is none.
    pub(crate) fn cpu_info(&self) -> Option<CpuInfo> {
        CpuInfo::from_file(self.path("proc/cpuinfo")).ok()
    }

    /// One setting of /proc/sys/kernel, as `hostname`; empty when it cannot be read.
    pub(crate) fn setting(&self, name: &str) -> String {
        fs::read_to_string(self.path(&format!("proc/sys/kernel/{name}")))
            .map(|text| text.trim().to_owned())
            .unwrap_or_default()
    }

    /// The type of the file system that holds an absolute path, as `overlay`.
    pub(crate) fn filesystem_of(&self, path: &Path) -> Option<String> {
        let MountInfos(mounts) = MountInfos::from_file(self.path("proc/self/mountinfo")).ok()?;
        mounts
            .into_iter()
            // Of two mounts on one point the later one is seen, and `max_by_key` keeps the last.
            .filter(|mount| path.starts_with(&mount.mount_point))
            .max_by_key(|mount| mount.mount_point.components().count())
            .map(|mount| mount.fs_type)
    }
}
