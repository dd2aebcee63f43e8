//! The resources that a system uses over time.

/// A resource that systems on one machine share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Resource {
    /// CPUs in use.
    Cpus,
    /// Memory in use, without what the kernel can free at once, bytes.
    Memory,
    /// Reads per second.
    Reads,
    /// Writes per second.
    Writes,
    /// Bytes read per second.
    ReadBytes,
    /// Bytes written per second.
    WrittenBytes,
    /// Flushes of the log per second.
    LogFlushes,
    /// Bytes over the network per second, in the direction with more of them.
    Network,
}

/// Largest share of a capacity that leaves a reserve. In a single queue with Poisson arrivals and exponential service
/// times, an operation then takes five times as long as without waiting, and soon much longer.
///
/// Source: R. Jain, "The Art of Computer Systems Performance Analysis", 1991, chapter 31: R = S / (1 - U).
pub(crate) const SHARE_WITH_RESERVE: f64 = 0.8;

/// The use of each resource, in the order of [`Resource::ALL`]; `None` where it was not measured.
pub(crate) type Demand = [Option<f64>; Resource::ALL.len()];

impl Resource {
    pub const ALL: [Self; 8] = [
        Self::Cpus,
        Self::Memory,
        Self::Reads,
        Self::Writes,
        Self::ReadBytes,
        Self::WrittenBytes,
        Self::LogFlushes,
        Self::Network,
    ];

    /// Those that are added up over systems. Files of other tools do not have the other ones.
    pub const ADDED_UP: [Self; 6] = [
        Self::Cpus,
        Self::Memory,
        Self::Reads,
        Self::Writes,
        Self::ReadBytes,
        Self::WrittenBytes,
    ];

    /// Its name in options and in formats for programs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cpus => "cpus",
            Self::Memory => "memory",
            Self::Reads => "read_iops",
            Self::Writes => "write_iops",
            Self::ReadBytes => "read_bytes",
            Self::WrittenBytes => "write_bytes",
            Self::LogFlushes => "fsync",
            Self::Network => "net",
        }
    }

    /// Its unit in formats for programs.
    pub(crate) fn unit(self) -> &'static str {
        match self {
            Self::Cpus => "cpus",
            Self::Memory => "bytes",
            Self::Reads | Self::Writes | Self::LogFlushes => "1/s",
            Self::ReadBytes | Self::WrittenBytes | Self::Network => "bytes/s",
        }
    }

    /// The resource with this name, of those that are added up.
    pub fn named(name: &str) -> Option<Self> {
        Self::ADDED_UP.into_iter().find(|it| it.name() == name)
    }

    /// A use of it for people: `3.10k writes/s`.
    pub fn amount(self, value: f64) -> String {
        match self {
            Self::Cpus => format!("{} CPUs", units::si(value)),
            Self::Memory => format!("{} of memory", units::mean_bytes(value)),
            Self::Reads => format!("{} reads/s", units::si(value)),
            Self::Writes => format!("{} writes/s", units::si(value)),
            Self::ReadBytes => format!("{} read", units::bytes_per_s(value)),
            Self::WrittenBytes => format!("{} written", units::bytes_per_s(value)),
            Self::LogFlushes => format!("{} flushes/s", units::si(value)),
            Self::Network => units::bits_per_s(value),
        }
    }

    /// The number alone: `3.10k`, `1.50 GiB`.
    pub(crate) fn number(self, value: f64) -> String {
        match self {
            Self::Cpus | Self::Reads | Self::Writes | Self::LogFlushes => units::si(value),
            Self::Memory => units::mean_bytes(value),
            Self::ReadBytes | Self::WrittenBytes => units::bytes_per_s(value),
            Self::Network => units::bits_per_s(value),
        }
    }

    /// Its place in a [`Demand`].
    pub(crate) fn index(self) -> usize {
        self as usize
    }

    /// Whether it is a level, of which a step has a highest value; the others are rates, of which it has a mean.
    pub(crate) fn is_level(self) -> bool {
        self == Self::Memory
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_its_name_and_place() {
        for (at, resource) in Resource::ALL.into_iter().enumerate() {
            assert_eq!(resource.index(), at);
        }
        for (at, resource) in Resource::ADDED_UP.into_iter().enumerate() {
            assert_eq!(Resource::named(resource.name()), Some(resource));
            assert_eq!(resource.index(), at);
        }
        assert_eq!(Resource::named("iops"), None);
        assert_eq!(Resource::named("fsync"), None);
        assert_eq!(Resource::Network.amount(125e6), "1.00 Gbit/s");
        assert_eq!(Resource::Writes.amount(3100.0), "3.10k writes/s");
        assert_eq!(Resource::Memory.number(1.5 * 1024.0), "1.50 KiB");
    }
}
