//! The block device that holds a directory.

use std::{fs, os::unix::fs::MetadataExt, path::Path};

use crate::{error::NotObserved, kernel::Kernel};

/// A block device: a whole disk, never a partition, since the parts of a disk share its one queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BlockDevice {
    /// Major number.
    pub(crate) major: u32,
    /// Minor number.
    pub(crate) minor: u32,
    /// Name as the kernel gives it: `vda`, `nvme0n1`, `dm-0`.
    pub(crate) name: String,
}

impl BlockDevice {
    /// The device that holds `directory`.
    pub(crate) fn holding(kernel: &Kernel, directory: &Path) -> Result<Self, NotObserved> {
        let unreadable = |source| NotObserved::DataDirectory {
            path: directory.to_owned(),
            source,
        };
        let path = directory.canonicalize().map_err(unreadable)?;
        let device = fs::metadata(&path).map_err(unreadable)?.dev();
        let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
        // overlay, tmpfs, btrfs and network file systems have a number that belongs to no device.
        Self::numbered(kernel, major, minor).ok_or_else(|| NotObserved::NoBlockDevice {
            filesystem: kernel.filesystem_of(&path),
            path,
        })
    }

    /// The device with this number or, for a partition, the disk that it is a part of.
    ///
    /// A logical volume (`dm-0`) and an array (`md0`) are devices of their own: what they count is theirs.
    pub(crate) fn numbered(kernel: &Kernel, major: u32, minor: u32) -> Option<Self> {
        let link = kernel.path(&format!("sys/dev/block/{major}:{minor}"));
        let node = link.canonicalize().ok()?;
        let disk = match node.join("partition").exists() {
            true => node.parent()?,
            false => &node,
        };
        let number = fs::read_to_string(disk.join("dev")).ok()?;
        let (major, minor) = number.trim().split_once(':')?;
        Some(Self {
            major: major.parse().ok()?,
            minor: minor.parse().ok()?,
            name: disk.file_name()?.to_str()?.to_owned(),
        })
    }
}
