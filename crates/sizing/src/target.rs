//! The machine whose capacity is predicted, as `--target` describes it.

use crate::{capacity::named_part, limit::Limit};

/// The names in `--target`.
const NAMES: [&str; 8] = [
    "cpus",
    "memory",
    "buffer_pool",
    "data",
    "read_iops",
    "write_iops",
    "fsync",
    "net",
];

/// What a machine has for the server, and the data that the server has to hold.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Target {
    pub cpus: Option<f64>,
    pub memory_bytes: Option<u64>,
    pub buffer_pool_bytes: Option<u64>,
    /// Size of the data; `None` for that of the records.
    pub data_bytes: Option<u64>,
    pub read_iops: Option<f64>,
    pub write_iops: Option<f64>,
    /// Time of one flush, seconds.
    pub fsync_s: Option<f64>,
    /// Speed of the network in each direction, bytes per second.
    pub net_bytes_per_s: Option<f64>,
}

/// The buffer pool of a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BufferPool {
    pub bytes: u64,
    /// Whether it was computed from the memory.
    pub is_assumed: bool,
}

impl Target {
    /// Whether this is the name of a part of a target.
    pub(crate) fn has_part(name: &str) -> bool {
        NAMES.contains(&name)
    }

    /// `cpus, memory, ... and net`
    pub(crate) fn names_in_words() -> String {
        let [others @ .., last] = &NAMES;
        format!("{} and {last}", others.join(", "))
    }

    /// The target with the parts that another one names instead of its own.
    pub(crate) fn with(&self, other: &Self) -> Self {
        // Memory and buffer pool are two ways to name one part.
        let names_memory = other.buffer_pool().is_some();
        let [memory, buffer_pool] = if names_memory {
            [other.memory_bytes, other.buffer_pool_bytes]
        } else {
            [self.memory_bytes, self.buffer_pool_bytes]
        };
        Self {
            cpus: other.cpus.or(self.cpus),
            memory_bytes: memory,
            buffer_pool_bytes: buffer_pool,
            data_bytes: other.data_bytes.or(self.data_bytes),
            read_iops: other.read_iops.or(self.read_iops),
            write_iops: other.write_iops.or(self.write_iops),
            fsync_s: other.fsync_s.or(self.fsync_s),
            net_bytes_per_s: other.net_bytes_per_s.or(self.net_bytes_per_s),
        }
    }

    /// The buffer pool: the named one, or the one that MySQL configures on a machine with this memory; `None` if the
    /// target names neither.
    ///
    /// Source: MySQL 8.0 Reference Manual, "Enabling Automatic InnoDB Configuration for a Dedicated MySQL Server"
    /// (innodb_dedicated_server): 128 MiB below 1 GiB, half of the memory up to 4 GiB, then three quarters.
    pub fn buffer_pool(&self) -> Option<BufferPool> {
        const GIB: u64 = 1 << 30;
        if let Some(bytes) = self.buffer_pool_bytes {
            return Some(BufferPool {
                bytes,
                is_assumed: false,
            });
        }
        let bytes = match self.memory_bytes? {
            memory if memory < GIB => memory.min(128 << 20),
            memory if memory <= 4 * GIB => memory / 2,
            memory => memory / 4 * 3,
        };
        Some(BufferPool {
            bytes,
            is_assumed: true,
        })
    }

    /// Whether it names a memory or a size of the data, which may differ from those of the records.
    pub(crate) fn names_memory(&self) -> bool {
        self.buffer_pool().is_some() || self.data_bytes.is_some()
    }

    /// The value of a limit, in its unit; `None` if the target does not name it.
    pub fn value(&self, limit: Limit) -> Option<f64> {
        match limit {
            Limit::Cpus => self.cpus,
            Limit::Reads => self.read_iops,
            Limit::Writes => self.write_iops,
            Limit::Fsyncs => self.fsync_s,
            Limit::Network => self.net_bytes_per_s,
        }
    }

    /// The limits that the target names, with their values.
    pub fn limits(&self) -> impl Iterator<Item = (Limit, f64)> {
        let all = Limit::ALL.into_iter();
        all.filter_map(move |limit| Some((limit, self.value(limit)?)))
    }
}

/// A target in the form `cpus=8,memory=32G,read_iops=3000,write_iops=3000,fsync=1.2ms,net=1G`.
///
/// Sizes have a binary unit, the time of a flush a unit of time, and the speed of the network K, M or G bits per
/// second.
pub fn parse_target(text: &str) -> Result<Target, String> {
    let mut target = Target::default();
    let mut known = Vec::new();
    for part in text.split(',') {
        let (name, amount) = named_part(part)?;
        if known.contains(&name) {
            return Err(format!("{name} is given twice"));
        }
        known.push(name);
        match name {
            "cpus" => target.cpus = Some(number(name, amount)?),
            "read_iops" => target.read_iops = Some(number(name, amount)?),
            "write_iops" => target.write_iops = Some(number(name, amount)?),
            "memory" => target.memory_bytes = Some(size(name, amount)?),
            "buffer_pool" => target.buffer_pool_bytes = Some(size(name, amount)?),
            "data" => target.data_bytes = Some(size(name, amount)?),
            "fsync" => target.fsync_s = Some(time_s(name, amount)?),
            "net" => target.net_bytes_per_s = Some(speed(name, amount)?),
            _ => {
                let names = Target::names_in_words();
                return Err(format!("no name {name:?}; the names are {names}"));
            }
        }
    }
    if target.memory_bytes.is_some() && target.buffer_pool_bytes.is_some() {
        return Err("name memory or buffer_pool, not both".to_owned());
    }
    Ok(target)
}

/// A number above 0 without sign and exponent.
pub(crate) fn positive(text: &str) -> Option<f64> {
    let is_plain = text
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.');
    let value: Option<f64> = text.parse().ok().filter(|_| is_plain);
    value.filter(|value| value.is_finite() && *value > 0.0)
}

fn number(name: &str, amount: &str) -> Result<f64, String> {
    positive(amount).ok_or_else(|| format!("{name}: not a number above 0: {amount:?}"))
}

fn size(name: &str, amount: &str) -> Result<u64, String> {
    if positive(amount).is_some() {
        return Err(format!(
            "{name}: {amount} has no unit; for example {name}=32G"
        ));
    }
    let bytes = settings::quantity::bytes(amount).filter(|bytes| *bytes > 0);
    bytes.ok_or_else(|| format!("{name}: not a size such as 32G or 512M: {amount:?}"))
}

/// A number with one of these units, multiplied by the unit's factor.
fn with_unit(amount: &str, units: &[(&str, f64)]) -> Option<f64> {
    units.iter().find_map(|(unit, factor)| {
        let value = positive(amount.strip_suffix(unit)?.trim_end())?;
        Some(value * factor)
    })
}

fn time_s(name: &str, amount: &str) -> Result<f64, String> {
    if positive(amount).is_some() {
        return Err(format!(
            "{name}: {amount} has no unit; for example {name}=1.2ms"
        ));
    }
    let units = [
        ("ns", 1e-9),
        ("us", 1e-6),
        ("µs", 1e-6),
        ("ms", 1e-3),
        ("s", 1.0),
    ];
    with_unit(amount, &units)
        .ok_or_else(|| format!("{name}: not a time such as 1.2ms or 80us: {amount:?}"))
}

/// Bits per second as bytes per second.
fn speed(name: &str, amount: &str) -> Result<f64, String> {
    if positive(amount).is_some() {
        return Err(format!(
            "{name}: {amount} has no unit; for example {name}=1G for 1 Gbit/s"
        ));
    }
    let units = [("K", 1e3), ("M", 1e6), ("G", 1e9)];
    let bits = with_unit(amount, &units)
        .ok_or_else(|| format!("{name}: not a speed such as 1G or 100M: {amount:?}"))?;
    Ok(bits / 8.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_has_units() {
        let text =
            "cpus=7.5,memory=32G,read_iops=3000,write_iops=1500,fsync=1.2ms,net=2.5G,data=100G";
        let target = parse_target(text).unwrap();
        let expected = Target {
            cpus: Some(7.5),
            memory_bytes: Some(32 << 30),
            buffer_pool_bytes: None,
            data_bytes: Some(100 << 30),
            read_iops: Some(3000.0),
            write_iops: Some(1500.0),
            fsync_s: Some(1.2 * 1e-3),
            net_bytes_per_s: Some(312_500_000.0),
        };
        assert_eq!(target, expected);
        let limits: Vec<&str> = target.limits().map(|(limit, _)| limit.name()).collect();
        assert_eq!(limits, ["cpus", "read_iops", "write_iops", "fsync", "net"]);
        let fsync = |text: &str| parse_target(text).unwrap().fsync_s.unwrap();
        for (text, seconds) in [
            ("fsync=80us", 80e-6),
            ("fsync=80µs", 80e-6),
            ("fsync=2s", 2.0),
        ] {
            assert!((fsync(text) - seconds).abs() < 1e-15, "{text}");
        }
        assert_eq!(parse_target("memory=1G").unwrap().limits().count(), 0);
    }

    #[test]
    fn what_is_no_target_is_named() {
        for (text, problem) in [
            ("", "not of the form"),
            ("cpus", "not of the form"),
            (
                "iops=5",
                "no name \"iops\"; the names are cpus, memory, buffer_pool",
            ),
            ("cpus=0", "cpus: not a number above 0"),
            ("cpus=-1", "cpus: not a number above 0"),
            ("cpus=1e9", "cpus: not a number above 0"),
            ("read_iops=nan", "read_iops: not a number above 0"),
            ("cpus=1,cpus=2", "cpus is given twice"),
            (
                "memory=32",
                "memory: 32 has no unit; for example memory=32G",
            ),
            ("memory=32X", "memory: not a size"),
            ("data=0G", "data: not a size"),
            (
                "fsync=1.2",
                "fsync: 1.2 has no unit; for example fsync=1.2ms",
            ),
            ("fsync=1.2h", "fsync: not a time"),
            ("net=1", "net: 1 has no unit; for example net=1G"),
            ("net=1T", "net: not a speed"),
            (
                "memory=1G,buffer_pool=1G",
                "name memory or buffer_pool, not both",
            ),
        ] {
            let refused = parse_target(text).unwrap_err();
            assert!(refused.contains(problem), "{text}: {refused}");
        }
    }

    #[test]
    fn the_buffer_pool_is_a_part_of_the_memory() {
        let pool = |text: &str| parse_target(text).unwrap().buffer_pool();
        let assumed = |bytes: u64| {
            Some(BufferPool {
                bytes,
                is_assumed: true,
            })
        };
        assert_eq!(pool("memory=512M"), assumed(128 << 20));
        assert_eq!(pool("memory=2G"), assumed(1 << 30));
        assert_eq!(pool("memory=4G"), assumed(2 << 30));
        assert_eq!(pool("memory=32G"), assumed(24 << 30));
        let named = BufferPool {
            bytes: 5 << 30,
            is_assumed: false,
        };
        assert_eq!(pool("buffer_pool=5G"), Some(named));
        assert_eq!(pool("cpus=8"), None);
    }
}
