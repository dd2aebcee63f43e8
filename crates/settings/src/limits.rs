//! Limits of a disk, and of a group of processes: what can be limited, and the one parser of it.

use crate::quantity;

pub const DISK_KEYS: &[&str] = &["read_iops", "write_iops", "read_mb", "write_mb"];

/// All keys: those of a disk, CPUs and memory.
pub const KEYS: &[&str] = &[
    "read_iops",
    "write_iops",
    "read_mb",
    "write_mb",
    "cpus",
    "memory",
];

/// The value that sets no limit: a factor of an experiment has a level without one.
pub const NONE: &str = "none";

/// The kernel keeps numbers of requests in 32 bits.
const IOPS_AT_MOST: u64 = u32::MAX as u64;
/// More is no limit of a disk, MiB/s.
const MIB_AT_MOST: u64 = 1 << 20;
/// The kernel divides time into periods of 100 ms; with less the server waits for seconds.
const CPUS: [f64; 2] = [0.05, 4096.0];
/// No server of this family starts with less, bytes.
const MEMORY_AT_LEAST: u64 = 64 << 20;

/// Limits of one disk; `None` is no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DiskLimits {
    pub read_iops: Option<u64>,
    pub write_iops: Option<u64>,
    pub read_bytes_per_s: Option<u64>,
    pub write_bytes_per_s: Option<u64>,
}

/// Limits of a group of processes; `None` is no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct GroupLimits {
    /// Those of the disk with its data.
    pub disk: DiskLimits,
    /// CPU seconds per second.
    pub cpus: Option<f64>,
    /// Memory with the page cache that belongs to it, bytes.
    pub memory_bytes: Option<u64>,
}

impl DiskLimits {
    /// The values of an option: `read_iops=1000,write_mb=50`.
    pub fn parse(text: &str) -> Result<Self, String> {
        Ok(parse(text, DISK_KEYS)?.disk)
    }

    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    pub fn limits_writes(&self) -> bool {
        self.write_iops.or(self.write_bytes_per_s).is_some()
    }
}

impl GroupLimits {
    /// The values of an option: `read_iops=1000,cpus=2`.
    pub fn parse(text: &str) -> Result<Self, String> {
        parse(text, KEYS)
    }

    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Limits of every kind that either of them has; the values are of no use.
    pub fn kinds_of(self, other: Self) -> Self {
        Self {
            disk: if self.disk.is_empty() {
                other.disk
            } else {
                self.disk
            },
            cpus: self.cpus.or(other.cpus),
            memory_bytes: self.memory_bytes.or(other.memory_bytes),
        }
    }

    /// Sets the limit of one of [`KEYS`]; `None` for a value that is not valid, and for any other key.
    pub fn set(&mut self, key: &str, value: &str) -> Option<()> {
        let is_none = value == NONE;
        let whole = |unit: u64, most: u64| match quantity::count(value) {
            _ if is_none => Some(None),
            Some(number) if number <= most => Some(Some(number * unit)),
            _ => None,
        };
        match key {
            "read_iops" => self.disk.read_iops = whole(1, IOPS_AT_MOST)?,
            "write_iops" => self.disk.write_iops = whole(1, IOPS_AT_MOST)?,
            "read_mb" => self.disk.read_bytes_per_s = whole(1 << 20, MIB_AT_MOST)?,
            "write_mb" => self.disk.write_bytes_per_s = whole(1 << 20, MIB_AT_MOST)?,
            "cpus" if is_none => self.cpus = None,
            "cpus" => {
                let cpus = quantity::plain_number(value);
                self.cpus = Some(cpus.filter(|it| (CPUS[0]..=CPUS[1]).contains(it))?);
            }
            "memory" if is_none => self.memory_bytes = None,
            "memory" => {
                let bytes = quantity::bytes(value);
                // The kernel counts in 63 bits.
                let taken = MEMORY_AT_LEAST..=i64::MAX as u64;
                self.memory_bytes = Some(bytes.filter(|it| taken.contains(it))?);
            }
            _ => return None,
        }
        Some(())
    }
}

/// What a key takes, for messages.
pub fn expected(key: &str) -> String {
    match key {
        "cpus" => format!("a number from {} to {}, or {NONE:?}", CPUS[0], CPUS[1]),
        "memory" => format!("bytes such as \"4G\", at least \"64M\", or {NONE:?}"),
        "read_mb" | "write_mb" => {
            format!("a whole number from 1 to {MIB_AT_MOST} (MiB per second), or {NONE:?}")
        }
        _ => format!("a whole number from 1 to {IOPS_AT_MOST}, or {NONE:?}"),
    }
}

fn parse(text: &str, keys: &[&str]) -> Result<GroupLimits, String> {
    let mut limits = GroupLimits::default();
    let mut seen = Vec::new();
    for part in text.split(',') {
        let (key, value) = part
            .split_once('=')
            .ok_or_else(|| format!("{part:?} is not KEY=N, for example read_iops=1000"))?;
        if !keys.contains(&key) {
            let known = keys.join(", ");
            return Err(if KEYS.contains(&key) {
                format!("{key} is not a limit of a disk: {known}")
            } else {
                format!("no limit {key:?}: {known}")
            });
        }
        if seen.contains(&key) {
            return Err(format!("{key} is given twice"));
        }
        seen.push(key);
        let set = limits.set(key, value);
        set.ok_or_else(|| format!("{key} must be {}", expected(key)))?;
    }
    Ok(limits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_of_a_disk_are_read() {
        let limits = DiskLimits::parse("read_iops=1000,write_mb=50").unwrap();
        assert_eq!(limits.read_iops, Some(1000));
        assert_eq!(limits.write_bytes_per_s, Some(50 << 20));
        assert_eq!((limits.write_iops, limits.read_bytes_per_s), (None, None));
        assert!(limits.limits_writes());
        let cases = [
            ("", "is not KEY=N"),
            ("read_iops", "is not KEY=N"),
            ("cpus=2", "cpus is not a limit of a disk"),
            ("iops=5", "no limit \"iops\""),
            ("read_iops=0", "a whole number from 1 to 4294967295"),
            ("read_mb=2000000", "a whole number from 1 to 1048576"),
            ("read_iops=1,read_iops=2", "read_iops is given twice"),
            ("read_iops=none,read_iops=2", "read_iops is given twice"),
        ];
        for (text, expected) in cases {
            let error = DiskLimits::parse(text).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }

    #[test]
    fn limits_of_a_group_are_read() {
        let limits = GroupLimits::parse("write_iops=10k,cpus=0.5,memory=2G").unwrap();
        assert_eq!(limits.disk.write_iops, Some(10_000));
        assert_eq!(limits.cpus, Some(0.5));
        assert_eq!(limits.memory_bytes, Some(2 << 30));
        for (text, expected) in [
            ("cpus=0", "cpus must be a number from 0.05 to 4096"),
            ("cpus=-1", "cpus must be"),
            ("memory=1M", "at least \"64M\""),
            ("memory=16777215T", "memory must be bytes"),
            ("swap=1", "no limit \"swap\""),
        ] {
            let error = GroupLimits::parse(text).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }

    #[test]
    fn none_is_no_limit() {
        for key in KEYS {
            let mut limits = GroupLimits::parse("cpus=1,memory=1G,read_iops=5").unwrap();
            assert_eq!(limits.set(key, NONE), Some(()), "{key}");
            let only = GroupLimits::parse(&format!("{key}={NONE}")).unwrap();
            assert!(only.is_empty(), "{key}");
        }
    }
}
