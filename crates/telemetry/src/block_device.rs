//! Block devices and the devices below them.

use std::{fs, os::unix::fs::MetadataExt, path::Path};

use crate::{error::NotObserved, kernel::Kernel, setup::chosen};

/// Major and minor number of a block device.
pub(crate) type Number = (u32, u32);

/// Stacks of devices that are deeper than this are cut off; no practical stack is.
const DEPTH_AT_MOST: u32 = 16;

/// A block device: a whole disk, never a partition, since the parts of a disk share its one queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BlockDevice {
    pub(crate) major: u32,
    pub(crate) minor: u32,
    /// Name used by the kernel: `vda`, `nvme0n1`, `dm-0`.
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
        let (major, minor) = number_of(&path).map_err(unreadable)?;
        // overlay, tmpfs, btrfs and network file systems have a number that does not belong to any device.
        Self::numbered(kernel, major, minor).ok_or_else(|| NotObserved::NoBlockDevice {
            filesystem: kernel.mount_of(&path).map(|mount| mount.fs_type),
            path,
        })
    }

    /// The device with this number or, for a partition, the disk that it is a part of.
    ///
    /// A logical volume (`dm-0`) and an array (`md0`) are devices of their own, with their own counters.
    pub(crate) fn numbered(kernel: &Kernel, major: u32, minor: u32) -> Option<Self> {
        let link = kernel.path(&format!("sys/dev/block/{major}:{minor}"));
        let node = link.canonicalize().ok()?;
        let disk = if node.join("partition").exists() {
            node.parent()?
        } else {
            &node
        };
        let number = fs::read_to_string(disk.join("dev")).ok()?;
        let (major, minor) = number.trim().split_once(':')?;
        Some(Self {
            major: major.parse().ok()?,
            minor: minor.parse().ok()?,
            name: disk.file_name()?.to_str()?.to_owned(),
        })
    }

    pub(crate) fn number(&self) -> Number {
        (self.major, self.minor)
    }
}

/// Number of the device that holds a path.
pub(crate) fn number_of(path: &Path) -> Result<Number, std::io::Error> {
    let device = fs::metadata(path)?.dev();
    Ok((rustix::fs::major(device), rustix::fs::minor(device)))
}

/// Adds the device with this number and all devices below it to `devices`, each once; returns its name.
pub(crate) fn describe_stack(
    kernel: &Kernel,
    (major, minor): Number,
    devices: &mut Vec<samples::BlockDevice>,
) -> Option<String> {
    let link = kernel.path(&format!("sys/dev/block/{major}:{minor}"));
    describe(kernel, &link.canonicalize().ok()?, devices, 0)
}

/// Like [`describe_stack`], for a device's directory in /sys.
fn describe(
    kernel: &Kernel,
    node: &Path,
    devices: &mut Vec<samples::BlockDevice>,
    depth: u32,
) -> Option<String> {
    let name = node.file_name()?.to_str()?.to_owned();
    if depth > DEPTH_AT_MOST || devices.iter().any(|device| device.name == name) {
        return Some(name);
    }
    let text = |file: &str| fs::read_to_string(node.join(file)).ok();
    let line = |file: &str| {
        let line = text(file)?.trim().to_owned();
        (!line.is_empty()).then_some(line)
    };
    let number = |file: &str| line(file)?.parse::<u64>().ok();
    let (kind, model) = if node.join("partition").exists() {
        ("partition", None)
    } else if node.join("dm").is_dir() {
        ("volume", line("dm/name"))
    } else if node.join("md").is_dir() {
        ("array", line("md/level"))
    } else if node.join("loop").is_dir() {
        ("loop", line("loop/backing_file"))
    } else {
        ("disk", line("device/model"))
    };
    let place = devices.len();
    devices.push(samples::BlockDevice {
        name: name.clone(),
        kind: kind.to_owned(),
        // In units of 512 bytes, whatever the device's own sector size.
        size_bytes: number("size").unwrap_or(0) * 512,
        rotational: number("queue/rotational").map(|moves| moves != 0),
        scheduler: line("queue/scheduler").and_then(|text| chosen(&text)),
        write_cache: line("queue/write_cache"),
        queue_requests: number("queue/nr_requests").and_then(|count| count.try_into().ok()),
        read_ahead_bytes: number("queue/read_ahead_kb").map(|kib| kib * 1024),
        physical_block_bytes: number("queue/physical_block_size"),
        model,
        made_of: Vec::new(),
    });
    let mut below: Vec<_> = fs::read_dir(node.join("slaves"))
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.path().canonicalize().ok())
        .collect();
    below.sort();
    if kind == "partition" {
        below.extend(node.parent().map(Path::to_owned));
    }
    if kind == "loop"
        && let Some(file) = &devices[place].model
        && let Ok((major, minor)) = number_of(Path::new(file))
    {
        let link = kernel.path(&format!("sys/dev/block/{major}:{minor}"));
        below.extend(link.canonicalize());
    }
    let made_of: Vec<_> = below
        .iter()
        .filter_map(|node| describe(kernel, node, devices, depth + 1))
        .collect();
    devices[place].made_of = made_of;
    Some(name)
}

/// Rereads the properties that can change while a device is in use.
pub(crate) fn look_again(kernel: &Kernel, device: &mut samples::BlockDevice) {
    let queue = format!("sys/class/block/{}/queue", device.name);
    device.write_cache = kernel.line(&format!("{queue}/write_cache"));
    device.scheduler = kernel
        .line(&format!("{queue}/scheduler"))
        .and_then(|text| chosen(&text));
    device.read_ahead_bytes = kernel
        .number(&format!("{queue}/read_ahead_kb"))
        .map(|kib| kib * 1024);
}

/// True for a device whose requests go to other block devices below it.
pub(crate) fn is_stacked(kernel: &Kernel, (major, minor): Number) -> bool {
    let directory = format!("sys/dev/block/{major}:{minor}/slaves");
    !kernel.names(&directory).is_empty()
}
