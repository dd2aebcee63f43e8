//! A limit of a system's machine, as a file with its load states it.

/// A limit that was observed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ObservedLimit {
    /// In the unit of its resource.
    pub(crate) value: f64,
    pub(crate) source: LimitSource,
}

/// What has an observed limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LimitSource {
    MachineCpus,
    /// The control group or the configured limit of the server.
    ServerCpus,
    MachineMemory,
    /// The configured limit of the server on its disk.
    ServerDisk,
    /// The only network interface with a known speed.
    Interface,
}

impl LimitSource {
    /// In words, for people.
    pub fn in_words(self) -> &'static str {
        match self {
            Self::MachineCpus => "CPUs of the machine",
            Self::ServerCpus => "CPU limit of the server",
            Self::MachineMemory => "memory of the machine",
            Self::ServerDisk => "disk limit of the server",
            Self::Interface => "speed of the network interface",
        }
    }
}
