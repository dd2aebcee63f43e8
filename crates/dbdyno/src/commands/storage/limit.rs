//! `--limit`: the control group under whose limits the disk is measured.

use std::path::Path;

use runs::{Blame, Blamed};
use samples::DiskLimit;
use server::{Cgroup, CgroupVersion, DiskLimits, Entered, LimitError};
use settings::quantity;

/// The kernel keeps numbers of requests in 32 bits.
const IOPS_AT_MOST: u64 = u32::MAX as u64;
/// More is no limit of a disk, MiB/s.
const MIB_AT_MOST: u64 = 1 << 20;

/// The values of `--limit`: `read_iops=1000,write_mb=50`.
pub(super) fn disk_limits(text: &str) -> Result<DiskLimits, String> {
    let mut limits = DiskLimits::default();
    for part in text.split(',') {
        let (key, value) = part
            .split_once('=')
            .ok_or_else(|| format!("{part:?} is no KEY=N, for example read_iops=1000"))?;
        let (place, is_bytes) = match key {
            "read_iops" => (&mut limits.read_iops, false),
            "write_iops" => (&mut limits.write_iops, false),
            "read_mb" => (&mut limits.read_bytes_per_s, true),
            "write_mb" => (&mut limits.write_bytes_per_s, true),
            "cpus" | "memory" => {
                return Err(format!(
                    "{key} is no limit of a disk: read_iops, write_iops, read_mb or write_mb"
                ));
            }
            _ => {
                return Err(format!(
                    "no limit {key:?}: read_iops, write_iops, read_mb or write_mb"
                ));
            }
        };
        let most = if is_bytes { MIB_AT_MOST } else { IOPS_AT_MOST };
        let number = quantity::count(value).filter(|it| *it <= most);
        let number =
            number.ok_or_else(|| format!("{key} takes a whole number from 1 to {most}"))?;
        let value = if is_bytes { number << 20 } else { number };
        if place.replace(value).is_some() {
            return Err(format!("{key} is given twice"));
        }
    }
    Ok(limits)
}

/// The control group of these limits for the disk of a directory.
pub(super) fn group(
    directory: &Path,
    limits: Option<DiskLimits>,
) -> Result<Option<Cgroup>, Blamed> {
    let group = limits.map(|limits| Cgroup::create(directory, limits));
    group.transpose().map_err(blamed)
}

/// Moves dbdyno itself into the group until the returned value is dropped.
pub(super) fn enter(group: &Cgroup) -> Result<Entered, Blamed> {
    group.enter().map_err(blamed)
}

/// The limit as the record keeps it.
pub(super) fn recorded(limits: DiskLimits, group: &Cgroup) -> DiskLimit {
    let limits_writes = limits.write_iops.or(limits.write_bytes_per_s).is_some();
    let mut not_limited = Vec::new();
    if limits_writes && group.version() == CgroupVersion::V1 {
        let why = "What the kernel itself writes is not limited by cgroup v1: write-back from the page cache and the \
                   journal of the file system";
        not_limited.push(why.to_owned());
    }
    DiskLimit {
        read_iops: limits.read_iops,
        write_iops: limits.write_iops,
        read_bytes_per_s: limits.read_bytes_per_s,
        write_bytes_per_s: limits.write_bytes_per_s,
        cgroup_version: match group.version() {
            CgroupVersion::V1 => 1,
            CgroupVersion::V2 => 2,
        },
        device: group.device().to_owned(),
        not_limited,
    }
}

fn blamed(error: LimitError) -> Blamed {
    let hint = error.hint().to_owned();
    Blamed::new(Blame::Input, error).hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read() {
        let limits = disk_limits("read_iops=1000,write_mb=50").unwrap();
        assert_eq!(limits.read_iops, Some(1000));
        assert_eq!(limits.write_bytes_per_s, Some(50 << 20));
        assert_eq!((limits.write_iops, limits.read_bytes_per_s), (None, None));
        let cases = [
            ("", "is no KEY=N"),
            ("read_iops", "is no KEY=N"),
            ("cpus=2", "cpus is no limit of a disk"),
            ("iops=5", "no limit \"iops\""),
            ("read_iops=0", "a whole number from 1 to 4294967295"),
            ("read_mb=2000000", "a whole number from 1 to 1048576"),
            ("read_iops=1,read_iops=2", "read_iops is given twice"),
        ];
        for (text, expected) in cases {
            let error = disk_limits(text).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
