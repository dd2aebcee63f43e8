//! The controllers of the kernel that hold limits, and what each of their files takes.

use std::{fs, path::Path};

use settings::{DiskLimits, GroupLimits};

use super::{
    obstacle::{Obstacle, refused},
    version::CgroupVersion,
};

/// The time in which a share of the CPUs is granted, microseconds: the kernel's default.
const PERIOD_US: u32 = 100_000;
/// The kernel rounds memory down to pages.
const PAGE_BYTES: u64 = 4096;

/// A part of the kernel that limits one kind of resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Controller {
    Disk,
    Cpu,
    Memory,
}

/// A file of a group and its new content.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Setting {
    pub(super) file: &'static str,
    pub(super) line: String,
    /// True where reading it back has to show the values.
    pub(super) is_kept: bool,
}

impl Controller {
    pub(super) const ALL: [Self; 3] = [Self::Disk, Self::Cpu, Self::Memory];

    /// The controllers that limits of these kinds need.
    pub(super) fn wanted(kinds: &GroupLimits) -> Vec<Self> {
        let wanted = [
            (Self::Disk, !kinds.disk.is_empty()),
            (Self::Cpu, kinds.cpus.is_some()),
            (Self::Memory, kinds.memory_bytes.is_some()),
        ];
        let wanted = wanted.into_iter().filter(|(_, is_wanted)| *is_wanted);
        wanted.map(|(controller, _)| controller).collect()
    }

    /// Its name in the kernel.
    pub(super) fn name(self, version: CgroupVersion) -> &'static str {
        match (self, version) {
            (Self::Disk, CgroupVersion::V1) => "blkio",
            (Self::Disk, CgroupVersion::V2) => "io",
            (Self::Cpu, _) => "cpu",
            (Self::Memory, _) => "memory",
        }
    }
}

impl Setting {
    fn new(file: &'static str, line: String, is_kept: bool) -> Self {
        Self {
            file,
            line,
            is_kept,
        }
    }

    /// Writes it to the group, and reads it back.
    pub(super) fn write(&self, group: &Path) -> Result<(), Obstacle> {
        let (file, line) = (group.join(self.file), &self.line);
        fs::write(&file, line).map_err(|error| refused("write", &file, &error))?;
        let kept = fs::read_to_string(&file).unwrap_or_default();
        if self.is_kept && !line.split(' ').all(|word| kept.contains(word)) {
            return Err(Obstacle {
                why: format!("{} does not accept {line:?}", file.display()),
                hint: "choose another limit, or measure without one",
            });
        }
        Ok(())
    }
}

/// The limits of a disk. All of them are written, so that a former one does not stay.
pub(super) fn of_disk(version: CgroupVersion, device: &str, limits: DiskLimits) -> Vec<Setting> {
    let all = [
        ("blkio.throttle.read_iops_device", "riops", limits.read_iops),
        (
            "blkio.throttle.write_iops_device",
            "wiops",
            limits.write_iops,
        ),
        (
            "blkio.throttle.read_bps_device",
            "rbps",
            limits.read_bytes_per_s,
        ),
        (
            "blkio.throttle.write_bps_device",
            "wbps",
            limits.write_bytes_per_s,
        ),
    ];
    match version {
        CgroupVersion::V1 => all
            .into_iter()
            .map(|(file, _, value)| {
                // A limit of 0 is none.
                let line = format!("{device} {}", value.unwrap_or(0));
                Setting::new(file, line, value.is_some())
            })
            .collect(),
        CgroupVersion::V2 => {
            let keys = all.map(|(_, key, value)| format!("{key}={}", number_or_max(value)));
            let line = format!("{device} {}", keys.join(" "));
            vec![Setting::new("io.max", line, !limits.is_empty())]
        }
    }
}

/// The limit of CPU seconds per second.
pub(super) fn of_cpus(version: CgroupVersion, cpus: Option<f64>) -> Vec<Setting> {
    let quota_us = cpus.map(|cpus| (cpus * f64::from(PERIOD_US)).round() as u64);
    match version {
        CgroupVersion::V1 => {
            let quota = quota_us.map_or("-1".to_owned(), |it| it.to_string());
            vec![
                Setting::new("cpu.cfs_period_us", PERIOD_US.to_string(), true),
                Setting::new("cpu.cfs_quota_us", quota, true),
            ]
        }
        CgroupVersion::V2 => {
            let line = format!("{} {PERIOD_US}", number_or_max(quota_us));
            vec![Setting::new("cpu.max", line, true)]
        }
    }
}

/// The limit of memory, page cache included.
pub(super) fn of_memory(version: CgroupVersion, bytes: Option<u64>) -> Vec<Setting> {
    let bytes = bytes.map(|bytes| bytes / PAGE_BYTES * PAGE_BYTES);
    match version {
        CgroupVersion::V1 => {
            let line = bytes.map_or("-1".to_owned(), |it| it.to_string());
            let setting = Setting::new("memory.limit_in_bytes", line, bytes.is_some());
            vec![setting]
        }
        CgroupVersion::V2 => vec![Setting::new("memory.max", number_or_max(bytes), true)],
    }
}

fn number_or_max(number: Option<u64>) -> String {
    number.map_or("max".to_owned(), |it| it.to_string())
}
