//! A raw device, whose content a measurement destroys: refused where anything uses it, and claimed while it is measured.

use std::{
    fs::{self, File, OpenOptions},
    io,
    os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
    time::Duration,
};

use reactor::Interrupt;
use rustix::fs::OFlags;

use crate::{error::Error, test_file::write_whole};

/// A device that nothing else uses.
#[derive(Debug)]
pub struct RawDevice {
    path: PathBuf,
    size_bytes: u64,
    /// Opened exclusively: nothing can be mounted on it or made of it meanwhile.
    _claim: File,
}

/// Numbers of a device, major and minor.
type Number = (u32, u32);

impl RawDevice {
    /// Claims a block device. It is refused where it or a partition of it is mounted, is swap or a part of another device, where
    /// it is read-only, and where another process has claimed it.
    pub fn claim(path: &Path) -> Result<Self, Error> {
        let path = fs::canonicalize(path).map_err(Error::io("measure", path))?;
        let refused = |why: String, hint: &str| Error::Refused {
            path: path.clone(),
            why,
            hint: Some(hint.to_owned()),
        };
        let metadata = fs::metadata(&path).map_err(Error::io("measure", &path))?;
        if !metadata.file_type().is_block_device() {
            let hint = "--destroy is for raw devices; a directory is measured without it";
            return Err(refused("is not a block device".to_owned(), hint));
        }
        let number = (
            rustix::fs::major(metadata.rdev()),
            rustix::fs::minor(metadata.rdev()),
        );
        let root = Path::new("/");
        if let Some(user) = user_of(root, number) {
            let hint = "name a device that is not in use: its contents will be destroyed";
            return Err(refused(user, hint));
        }
        if line(&node(root, number).join("ro")).is_some_and(|it| it == "1") {
            let hint = "name a device that can be written";
            return Err(refused("is read-only".to_owned(), hint));
        }
        let claim = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(OFlags::EXCL.bits().cast_signed())
            .open(&path);
        let claim = claim.map_err(|error| match error.kind() {
            io::ErrorKind::ResourceBusy => {
                let why = "another process or the kernel has claimed it (O_EXCL)";
                refused(why.to_owned(), "end what uses it")
            }
            _ => Error::io("open", &path)(error),
        })?;
        let sectors = line(&node(root, number).join("size"));
        let sectors: Option<u64> = sectors.and_then(|it| it.parse().ok());
        Ok(Self {
            // The kernel counts in units of 512 bytes, whatever the device has.
            size_bytes: sectors.unwrap_or(0) * 512,
            path,
            _claim: claim,
        })
    }

    /// Its path without symbolic links.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its size, bytes.
    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// Writes the first `bytes`, so that no pattern meets blocks that were never written. `progress` is given the bytes so far.
    pub fn fill(
        &self,
        bytes: u64,
        limit: Option<Duration>,
        interrupt: &Interrupt,
        progress: impl FnMut(u64),
    ) -> Result<u64, Error> {
        let file = OpenOptions::new()
            .write(true)
            .custom_flags(OFlags::DIRECT.bits().cast_signed())
            .open(&self.path)
            .map_err(Error::io("write", &self.path))?;
        write_whole(&self.path, file, bytes, limit, interrupt, progress)
    }
}

/// Its directory in /sys.
fn node(root: &Path, (major, minor): Number) -> PathBuf {
    root.join(format!("sys/dev/block/{major}:{minor}"))
}

fn line(path: &Path) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    Some(text.trim().to_owned())
}

/// What uses a device or one of its partitions, as in "vda1 is mounted on /"; `root` is that of /sys and /proc.
fn user_of(root: &Path, number: Number) -> Option<String> {
    let node = node(root, number);
    let whole = fs::canonicalize(&node).unwrap_or(node);
    let children = fs::read_dir(&whole).into_iter().flatten().flatten();
    let children = children.map(|it| it.path());
    let partitions = children.filter(|it| it.join("partition").exists());
    let all: Vec<PathBuf> = std::iter::once(whole.clone()).chain(partitions).collect();
    let mounts = fs::read_to_string(root.join("proc/self/mountinfo")).unwrap_or_default();
    let swaps = fs::read_to_string(root.join("proc/swaps")).unwrap_or_default();
    all.iter().find_map(|node| {
        let name = node.file_name()?.to_str()?;
        let device = line(&node.join("dev")).unwrap_or_default();
        mounted_on(&mounts, &device)
            .map(|place| format!("{name} is mounted on {place}"))
            .or_else(|| is_swap(&swaps, name).then(|| format!("{name} is swap")))
            .or_else(|| Some(format!("{name} is a part of {}", holder(node)?)))
    })
}

/// `36 35 98:0 / /mnt rw,noatime - ext4 /dev/root rw`: the fifth field of the line with these numbers.
fn mounted_on<'a>(mounts: &'a str, device: &str) -> Option<&'a str> {
    let mut lines = mounts.lines().map(|line| line.split(' '));
    lines.find_map(|mut fields| {
        let is_it = fields.nth(2) == Some(device);
        fields.nth(1).filter(|_| is_it)
    })
}

/// `/dev/vda2  partition  1048572  0  -2`.
fn is_swap(swaps: &str, name: &str) -> bool {
    let paths = swaps
        .lines()
        .skip(1)
        .filter_map(|it| it.split_whitespace().next());
    let mut names = paths.map(|path| {
        let path = fs::canonicalize(path).unwrap_or_else(|_| PathBuf::from(path));
        path.file_name().map(|it| it.to_owned())
    });
    names.any(|it| it.is_some_and(|it| it == name))
}

/// The volume or array that is made of it.
fn holder(node: &Path) -> Option<String> {
    let mut holders = fs::read_dir(node.join("holders")).ok()?.flatten();
    Some(holders.next()?.file_name().to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `sda` with the partition `sda1`, as /sys and /proc show them.
    fn root(mounts: &str, swaps: &str, holder: Option<&str>) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        let at = |path: &str| root.path().join(path);
        let whole = "sys/devices/sda";
        for directory in [
            "sys/dev/block",
            "proc/self",
            "sys/devices/sda/holders",
            "sys/devices/sda/sda1/holders",
            "sys/devices/sda/queue",
        ] {
            fs::create_dir_all(at(directory)).unwrap();
        }
        fs::write(at(whole).join("dev"), "8:0\n").unwrap();
        fs::write(at(whole).join("sda1/dev"), "8:1\n").unwrap();
        fs::write(at(whole).join("sda1/partition"), "1\n").unwrap();
        std::os::unix::fs::symlink(at(whole), at("sys/dev/block/8:0")).unwrap();
        fs::write(at("proc/self/mountinfo"), mounts).unwrap();
        fs::write(at("proc/swaps"), format!("Filename Type Size\n{swaps}")).unwrap();
        if let Some(holder) = holder {
            fs::create_dir(at(whole).join("sda1/holders").join(holder)).unwrap();
        }
        root
    }

    #[test]
    fn what_uses_a_device_or_its_partitions_is_found() {
        let used = |mounts: &str, swaps: &str, holder: Option<&str>| {
            user_of(root(mounts, swaps, holder).path(), (8, 0))
        };
        let other = "30 1 8:16 / /other rw - ext4 /dev/sdb rw\n";
        assert_eq!(used(other, "", None), None);
        let whole = "30 1 8:0 / /data rw,noatime shared:1 - xfs /dev/sda rw\n";
        assert_eq!(used(whole, "", None).unwrap(), "sda is mounted on /data");
        let partition = format!("{other}31 1 8:1 / / rw - ext4 /dev/sda1 rw\n");
        assert_eq!(used(&partition, "", None).unwrap(), "sda1 is mounted on /");
        let swap = "/dev/sda1 partition 1048572 0 -2\n";
        assert_eq!(used(other, swap, None).unwrap(), "sda1 is swap");
        assert_eq!(
            used(other, "", Some("md0")).unwrap(),
            "sda1 is a part of md0"
        );
    }

    #[test]
    fn only_a_block_device_is_claimed() {
        let directory = tempfile::tempdir().unwrap();
        for path in [directory.path(), Path::new("/dev/null")] {
            let error = RawDevice::claim(path).unwrap_err();
            assert!(
                error.to_string().contains("is not a block device"),
                "{error}"
            );
        }
        assert!(RawDevice::claim(&directory.path().join("none")).is_err());
    }
}
