//! The files with the kernel's counters, under one root directory.

use std::{
    fs,
    path::{Path, PathBuf},
};

use procfs_core::{
    CpuInfo, FromRead, ProcError,
    process::{MountInfo, MountInfos},
};

/// The files of /proc and /sys, and the two constants needed to read them.
#[derive(Debug)]
pub(crate) struct Kernel {
    root: PathBuf,
    pub(crate) ticks_per_s: u64,
    pub(crate) page_bytes: u64,
}

impl Kernel {
    pub(crate) fn running() -> Self {
        Self::at(
            Path::new("/"),
            rustix::param::clock_ticks_per_second(),
            rustix::param::page_size() as u64,
        )
    }

    /// A kernel with its files under `root`.
    pub(crate) fn at(root: &Path, ticks_per_s: u64, page_bytes: u64) -> Self {
        Self {
            root: root.to_owned(),
            ticks_per_s,
            page_bytes,
        }
    }

    /// A file by its path, with or without the leading slash, such as `proc/stat`.
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.root.join(path.trim_start_matches('/'))
    }

    /// The content of a file, by its path as in [`Kernel::path`].
    pub(crate) fn text(&self, path: &str) -> Result<String, ProcError> {
        self.text_of(&self.path(path))
    }

    /// The content of a file under the root.
    pub(crate) fn text_of(&self, path: &Path) -> Result<String, ProcError> {
        fs::read_to_string(path).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => ProcError::NotFound(Some(path.to_owned())),
            std::io::ErrorKind::PermissionDenied => {
                ProcError::PermissionDenied(Some(path.to_owned()))
            }
            _ => ProcError::Io(error, Some(path.to_owned())),
        })
    }

    /// The content of a one-line file, by its path as in [`Kernel::path`]; `None` when it is empty or missing.
    pub(crate) fn line(&self, path: &str) -> Option<String> {
        let text = self.text(path).ok()?;
        Some(text.trim().to_owned()).filter(|line| !line.is_empty())
    }

    /// The number in a file that contains nothing else.
    pub(crate) fn number(&self, path: &str) -> Option<u64> {
        self.line(path)?.parse().ok()
    }

    /// The names in a directory, sorted; empty when the directory does not exist.
    pub(crate) fn names(&self, path: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(path)).into_iter().flatten();
        let mut names: Vec<_> = entries
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .collect();
        names.sort();
        names
    }

    /// The content of /proc/cpuinfo; `None` if it cannot be read.
    pub(crate) fn cpu_info(&self) -> Option<CpuInfo> {
        CpuInfo::from_file(self.path("proc/cpuinfo")).ok()
    }

    /// The mounts; empty when they cannot be read.
    pub(crate) fn mounts(&self) -> Vec<MountInfo> {
        MountInfos::from_file(self.path("proc/self/mountinfo"))
            .map(|MountInfos(mounts)| mounts)
            .unwrap_or_default()
    }

    /// The mount that contains an absolute path.
    pub(crate) fn mount_of(&self, path: &Path) -> Option<MountInfo> {
        self.mounts()
            .into_iter()
            // Of two mounts on one mount point the later one is visible, and `max_by_key` returns the last.
            .filter(|mount| path.starts_with(&mount.mount_point))
            .max_by_key(|mount| mount.mount_point.components().count())
    }
}

/// The growth of a counter; 0 when it went backwards, as the kernel's iowait may.
pub(crate) fn difference(now: u64, before: u64) -> u64 {
    now.saturating_sub(before)
}

/// The growth of a counter that not every kernel has.
pub(crate) fn difference_of(now: Option<u64>, before: Option<u64>) -> Option<u64> {
    Some(difference(now?, before?))
}

/// Seconds between two readings of a counter of time.
pub(crate) fn seconds_between(now: u64, before: u64, units_per_s: u64) -> f64 {
    difference(now, before) as f64 / units_per_s as f64
}
