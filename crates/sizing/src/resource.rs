//! The resources whose use is added up over systems.

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
}

/// The use of each resource, in the order of [`Resource::ALL`]; `None` where it was not measured.
pub(crate) type Demand = [Option<f64>; Resource::ALL.len()];

impl Resource {
    pub const ALL: [Self; 6] = [
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
        }
    }

    /// Its unit in formats for programs.
    pub(crate) fn unit(self) -> &'static str {
        match self {
            Self::Cpus => "cpus",
            Self::Memory => "bytes",
            Self::Reads | Self::Writes => "1/s",
            Self::ReadBytes | Self::WrittenBytes => "bytes/s",
        }
    }

    /// The resource with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.name() == name)
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
        }
    }

    /// The number alone: `3.10k`, `1.50 GiB`.
    pub(crate) fn number(self, value: f64) -> String {
        match self {
            Self::Cpus | Self::Reads | Self::Writes => units::si(value),
            Self::Memory => units::mean_bytes(value),
            Self::ReadBytes | Self::WrittenBytes => units::bytes_per_s(value),
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
            assert_eq!(Resource::named(resource.name()), Some(resource));
            assert_eq!(resource.index(), at);
        }
        assert_eq!(Resource::named("iops"), None);
        assert_eq!(Resource::Writes.amount(3100.0), "3.10k writes/s");
        assert_eq!(Resource::Memory.number(1.5 * 1024.0), "1.50 KiB");
    }
}
