//! A disk of its own for a test: a file of the target directory as a loop device, with a file system or without.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use rustix::fs::{Mode, OFlags, open};
use tempfile::TempDir;

use super::disk;
use crate::scene::wait_until;

/// The device with its mount, which go away with this value.
pub(crate) struct LoopDisk {
    _place: TempDir,
    mount: PathBuf,
    device: PathBuf,
    is_mounted: bool,
}

impl LoopDisk {
    /// ext4 on an image of this size, MiB; `None`, with the reason said, where root or a loop device is missing.
    pub(crate) fn ext4(mib: u64) -> Option<Self> {
        let mut disk = Self::raw(mib)?;
        disk.command("mkfs.ext4", |it| it.arg("-q").arg(&disk.device));
        disk.mount(&[]);
        Some(disk)
    }

    /// Without a file system.
    pub(crate) fn raw(mib: u64) -> Option<Self> {
        if !rustix::process::geteuid().is_root() {
            eprintln!("skipped: a loop device takes root");
            return None;
        }
        let place = disk();
        let image = place.path().join("image");
        let file = std::fs::File::create(&image).unwrap();
        file.set_len(mib << 20).unwrap();
        let mount = place.path().join("mount");
        std::fs::create_dir(&mount).unwrap();
        let output = Command::new("losetup")
            .args(["--find", "--show"])
            .arg(&image)
            .output();
        let Some(output) = output.ok().filter(|it| it.status.success()) else {
            eprintln!("skipped: no loop device");
            return None;
        };
        let device = String::from_utf8(output.stdout).unwrap();
        Some(Self {
            _place: place,
            mount,
            device: PathBuf::from(device.trim()),
            is_mounted: false,
        })
    }

    /// Mounts it with these options of mount(8).
    pub(crate) fn mount(&mut self, options: &[&str]) {
        let mount = self.mount.clone();
        self.command("mount", |it| it.args(options).arg(&self.device).arg(&mount));
        self.is_mounted = true;
    }

    /// Unmounts it, and waits until nothing holds the device any more: whoever looks at the mounts of the machine in this
    /// moment keeps it for a while.
    pub(crate) fn unmount(&mut self) {
        self.command("umount", |it| it.arg(self.path()));
        self.is_mounted = false;
        wait_until("the device is free", || {
            open(&self.device, OFlags::RDONLY | OFlags::EXCL, Mode::empty()).is_ok()
        });
    }

    /// Where it is mounted.
    pub(crate) fn path(&self) -> &Path {
        &self.mount
    }

    pub(crate) fn device(&self) -> &Path {
        &self.device
    }

    fn command(&self, name: &str, with: impl FnOnce(&mut Command) -> &mut Command) {
        let status = with(&mut Command::new(name)).status().unwrap();
        assert!(status.success(), "{name} {}", self.device.display());
    }
}

impl Drop for LoopDisk {
    fn drop(&mut self) {
        if self.is_mounted {
            let _ = Command::new("umount").arg(self.path()).status();
        }
        let _ = Command::new("losetup").arg("-d").arg(&self.device).status();
    }
}
