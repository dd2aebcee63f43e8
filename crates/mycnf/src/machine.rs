//! What is known about the machine of a server, as plain values: whoever calls the rules reads them.

/// The machine that the server runs on, or is meant for; `None` is unknown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Machine {
    /// Memory that the server may use, bytes.
    pub memory_bytes: Option<u64>,
    /// CPUs that the server may use.
    pub cpus: Option<usize>,
    /// Size of the file system of the data directory, bytes.
    pub disk_bytes: Option<u64>,
    /// Type of that file system, as the kernel names it: `ext4`.
    pub file_system: Option<String>,
}
