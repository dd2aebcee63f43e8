//! The storage of the directories that a server writes to.

use std::{
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use procfs_core::process::MountInfo;
use samples::{Host, Storage, StorageDirectory};

use crate::{
    block_device::{Number, describe_stack, number_of},
    error::{NotObserved, note},
    kernel::Kernel,
};

/// A directory that a server writes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Directory {
    /// Its content, such as `redo log`.
    pub holds: String,
    /// Absolute path.
    pub path: PathBuf,
}

/// What stands behind a directory of this machine, named by what it holds; what cannot be observed is said in it.
pub fn storage_behind(directory: Directory) -> Storage {
    storage(&Kernel::running(), Host::Both, &[directory])
}

/// A raw device of this machine, which is measured without a file system, and what it is made of.
pub fn storage_of_device(path: &Path) -> Storage {
    let mut storage = Storage {
        host: Host::Both,
        ..Storage::default()
    };
    let number = std::fs::metadata(path).map(|it| it.rdev());
    let number = number.map(|it| (rustix::fs::major(it), rustix::fs::minor(it)));
    let name = number
        .ok()
        .and_then(|it| describe_stack(&Kernel::running(), it, &mut storage.devices));
    if name.is_none() {
        storage
            .not_observed
            .push(format!("the device {}", path.display()));
    }
    let size_bytes = storage.devices.first().map_or(0, |it| it.size_bytes);
    let text = path.display().to_string();
    storage
        .places
        .push(StorageDirectory::raw_device(&text, name, size_bytes));
    storage
}

/// What stands behind `directories`.
pub(crate) fn storage(kernel: &Kernel, host: Host, directories: &[Directory]) -> Storage {
    let mut storage = Storage {
        host,
        ..Storage::default()
    };
    let mut missing = Vec::new();
    for directory in directories {
        let unreadable = |source| NotObserved::Directory {
            holds: directory.holds.clone(),
            path: directory.path.clone(),
            source,
        };
        let found = directory.path.canonicalize().and_then(|path| {
            let number = number_of(&path)?;
            Ok((path, number, rustix::fs::statvfs(&directory.path)?))
        });
        let Some((path, number, space)) = note(found.map_err(unreadable), &mut missing) else {
            continue;
        };
        let known = storage.places.iter_mut();
        let text = path.display().to_string();
        if let Some(place) = known.into_iter().find(|place| place.path == text) {
            place.holds.push(directory.holds.clone());
            continue;
        }
        let mut place = placed(kernel, &path, number, &mut storage.devices);
        place.holds.push(directory.holds.clone());
        place.size_bytes = space.f_blocks * space.f_frsize;
        place.free_bytes = space.f_bavail * space.f_frsize;
        storage.places.push(place);
    }
    storage.not_observed = missing.iter().map(NotObserved::to_string).collect();
    storage
}

/// The file system and the devices at a path, without content and free space.
pub(crate) fn placed(
    kernel: &Kernel,
    path: &Path,
    number: Number,
    devices: &mut Vec<samples::BlockDevice>,
) -> StorageDirectory {
    let mount = kernel.mount_of(path);
    let device = describe_stack(kernel, number, devices).or_else(|| {
        // btrfs has a device number of its own; its mount names the device.
        let source = mount.as_ref()?.mount_source.as_deref();
        // The source of ZFS is a dataset, which may have the name of a volume or a disk.
        let source = source.filter(|it| it.starts_with("/dev/"))?;
        let name = Path::new(source).file_name()?.to_str()?;
        let number = kernel.line(&format!("sys/class/block/{name}/dev"));
        let number = number.or_else(|| number_of_volume(kernel, name))?;
        let (major, minor) = number.split_once(':')?;
        describe_stack(kernel, (major.parse().ok()?, minor.parse().ok()?), devices)
    });
    StorageDirectory {
        path: path.display().to_string(),
        filesystem: mount
            .as_ref()
            .map(|it| it.fs_type.clone())
            .unwrap_or_default(),
        mount_point: mount
            .as_ref()
            .map(|it| it.mount_point.display().to_string())
            .unwrap_or_default(),
        mount_options: mount.as_ref().map(options).unwrap_or_default(),
        device,
        ..StorageDirectory::default()
    }
}

/// `253:2`: the number of the volume that is mounted by this name below /dev/mapper.
fn number_of_volume(kernel: &Kernel, name: &str) -> Option<String> {
    let mut numbers = kernel.names("sys/dev/block").into_iter();
    numbers.find(|number| {
        let of_number = kernel.line(&format!("sys/dev/block/{number}/dm/name"));
        of_number.as_deref() == Some(name)
    })
}

/// The options of the mount and of the file system, sorted.
fn options(mount: &MountInfo) -> String {
    let all = mount.mount_options.iter().chain(&mount.super_options);
    let mut words: Vec<_> = all
        .map(|(name, value)| match value {
            Some(value) => format!("{name}={value}"),
            None => name.clone(),
        })
        .collect();
    words.sort();
    words.dedup();
    words.join(",")
}
