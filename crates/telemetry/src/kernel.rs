//! The files in which the kernel tells its counters, under one root directory.

use std::{
    fs,
    path::{Path, PathBuf},
};

use procfs_core::{
    CpuInfo, FromRead, ProcError,
    process::{MountInfo, MountInfos},
};

/// The files of /proc and /sys, and the two constants without which they cannot be read.
#[derive(Debug)]
pub(crate) struct Kernel {
    root: PathBuf,
    pub(crate) ticks_per_s: u64,
    pub(crate) page_bytes: u64,
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

    /// A file by its path, with or without the leading slash, as `proc/stat`.
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.root.join(path.trim_start_matches('/'))
    }

    /// What a file holds, by its path as in [`Kernel::path`].
    pub(crate) fn text(&self, path: &str) -> Result<String, ProcError> {
        self.text_of(&self.path(path))
    }

    /// What a file under the root holds.
    pub(crate) fn text_of(&self, path: &Path) -> Result<String, ProcError> {
        fs::read_to_string(path).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => ProcError::NotFound(Some(path.to_owned())),
            std::io::ErrorKind::PermissionDenied => {
                ProcError::PermissionDenied(Some(path.to_owned()))
            }
            _ => ProcError::Io(error, Some(path.to_owned())),
        })
    }

    /// What a file of one line holds, by its path as in [`Kernel::path`]; `None` when it is empty or not there.
    pub(crate) fn line(&self, path: &str) -> Option<String> {
        let text = self.text(path).ok()?;
        Some(text.trim().to_owned()).filter(|line| !line.is_empty())
    }

    /// A number that stands alone in a file.
    pub(crate) fn number(&self, path: &str) -> Option<u64> {
        self.line(path)?.parse().ok()
    }

    /// The names in a directory, sorted; none when it is not there.
    pub(crate) fn names(&self, path: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(path)).into_iter().flatten();
        let mut names: Vec<_> = entries
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .collect();
        names.sort();
        names
    }

    /// The CPUs' own description; `None` when there is none.
    pub(crate) fn cpu_info(&self) -> Option<CpuInfo> {
        CpuInfo::from_file(self.path("proc/cpuinfo")).ok()
    }

    /// What is mounted; nothing when it cannot be read.
    pub(crate) fn mounts(&self) -> Vec<MountInfo> {
        MountInfos::from_file(self.path("proc/self/mountinfo"))
            .map(|MountInfos(mounts)| mounts)
            .unwrap_or_default()
    }

    /// What is mounted where an absolute path stands.
    pub(crate) fn mount_of(&self, path: &Path) -> Option<MountInfo> {
        self.mounts()
            .into_iter()
            // Of two mounts on one point the later one is seen, and `max_by_key` keeps the last.
            .filter(|mount| path.starts_with(&mount.mount_point))
            .max_by_key(|mount| mount.mount_point.components().count())
    }
}

/// What a counter grew by; 0 when it went backwards, as the kernel's iowait may.
pub(crate) fn difference(now: u64, before: u64) -> u64 {
    now.saturating_sub(before)
}

/// What a counter grew by that not every kernel has.
pub(crate) fn difference_of(now: Option<u64>, before: Option<u64>) -> Option<u64> {
    Some(difference(now?, before?))
}

/// Seconds between two readings of a counter of time.
pub(crate) fn seconds_between(now: u64, before: u64, units_per_s: u64) -> f64 {
    difference(now, before) as f64 / units_per_s as f64
}
