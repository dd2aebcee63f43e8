//! The disk below a directory, as control groups name it.

use std::{fs, os::unix::fs::MetadataExt, path::Path};

use rustix::fs::{major, minor};

use super::obstacle::{Obstacle, refused};

const HINT: &str = "name a directory on a file system of one disk, such as ext4 or xfs";

/// The whole disk of a directory, `254:0`: the kernel limits no single partition.
pub(super) fn device_of(directory: &Path, devices: &Path) -> Result<String, Obstacle> {
    let metadata =
        fs::metadata(directory).map_err(|error| refused("look at", directory, &error))?;
    let device = metadata.dev();
    whole_disk(&format!("{}:{}", major(device), minor(device)), devices)
}

fn whole_disk(numbers: &str, devices: &Path) -> Result<String, Obstacle> {
    let device = devices.join(numbers);
    let Ok(device) = fs::canonicalize(&device) else {
        return Err(Obstacle {
            why: format!("its file system (device {numbers}) has no disk of its own"),
            hint: HINT,
        });
    };
    if !device.join("partition").exists() {
        return Ok(numbers.to_owned());
    }
    // A partition's directory is below that of its disk.
    let disk = device.parent().unwrap_or(&device).join("dev");
    let numbers = fs::read_to_string(&disk).map_err(|error| refused("read", &disk, &error))?;
    Ok(numbers.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_partition_stands_for_its_disk() {
        let root = tempfile::tempdir().unwrap();
        let (disk, devices) = (root.path().join("sda"), root.path().join("block"));
        fs::create_dir_all(disk.join("sda1")).unwrap();
        fs::create_dir(&devices).unwrap();
        fs::write(disk.join("dev"), "8:0\n").unwrap();
        fs::write(disk.join("sda1/partition"), "1\n").unwrap();
        symlink(&disk, devices.join("8:0")).unwrap();
        symlink(disk.join("sda1"), devices.join("8:1")).unwrap();
        let found = |numbers: &str| whole_disk(numbers, &devices).ok();
        assert_eq!(found("8:1").as_deref(), Some("8:0"));
        assert_eq!(found("8:0").as_deref(), Some("8:0"));
        assert_eq!(found("0:42"), None);
    }
}
