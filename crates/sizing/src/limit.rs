//! The limits of a machine that bound the throughput of a server.

/// A limit of a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Limit {
    /// The server's CPUs.
    Cpus,
    /// Reads of the disk per second.
    Reads,
    /// Writes of the disk per second.
    Writes,
    /// Flushes of the log one after the other.
    Fsyncs,
    /// The network, in the direction with more bytes.
    Network,
}

impl Limit {
    pub const ALL: [Self; 5] = [
        Self::Cpus,
        Self::Reads,
        Self::Writes,
        Self::Fsyncs,
        Self::Network,
    ];

    /// Its name in `--target` and in formats for programs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cpus => "cpus",
            Self::Reads => "read_iops",
            Self::Writes => "write_iops",
            Self::Fsyncs => "fsync",
            Self::Network => "net",
        }
    }

    /// Its unit in formats for programs.
    pub fn unit(self) -> &'static str {
        match self {
            Self::Cpus => "cpus",
            Self::Reads | Self::Writes => "1/s",
            Self::Fsyncs => "seconds",
            Self::Network => "bytes/s",
        }
    }

    /// As the subject of a sentence.
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Cpus => "the CPUs",
            Self::Reads => "the reads of the disk",
            Self::Writes => "the writes of the disk",
            Self::Fsyncs => "the flushes of the log",
            Self::Network => "the network",
        }
    }

    /// The value of a target with its unit: `3.00k reads/s`.
    pub fn amount(self, value: f64) -> String {
        match self {
            Self::Cpus => units::counted_amount(value, "CPU"),
            Self::Reads => format!("{} reads/s", units::count(value)),
            Self::Writes => format!("{} writes/s", units::count(value)),
            Self::Fsyncs => format!("{} per flush", units::seconds(value)),
            Self::Network => units::bits_per_s(value),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_have_their_unit() {
        for (limit, value, text) in [
            (Limit::Cpus, 1.0, "1 CPU"),
            (Limit::Cpus, 0.5, "0.500 CPUs"),
            (Limit::Cpus, 8.0, "8 CPUs"),
            (Limit::Reads, 3000.0, "3.00k reads/s"),
            (Limit::Fsyncs, 0.0012, "1.20 ms per flush"),
            (Limit::Network, 125e6, "1.00 Gbit/s"),
        ] {
            assert_eq!(limit.amount(value), text);
        }
    }
}
