//! The resources that can limit a run.

/// A resource that can limit a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resource {
    /// Memory of the machine or of the server's control group.
    Memory,
    /// The CPU quota of the server's control group.
    CpuQuota,
    /// The limit on disk requests of the server's control group.
    DiskQuota,
    /// dbdyno itself: its event loops, or its machine.
    Client,
    /// CPU time that the hypervisor gave to other guests.
    Steal,
    /// The CPUs of the server's machine.
    Cpu,
    RowLocks,
    /// Locks of whole tables, such as those of MyISAM.
    TableLocks,
    /// Locks of definitions, and locks that stop all writes.
    MetadataLocks,
    /// User locks of GET_LOCK.
    UserLocks,
    /// The single lock of the query cache.
    QueryCache,
    /// The limit on threads inside InnoDB.
    InnodbConcurrency,
    /// Free space in the redo log: modified pages have to be written first.
    Checkpoint,
    /// Flushes of a disk's cache: a log that is synced at every commit.
    DiskFlushes,
    /// A disk of the server's machine.
    Disk,
    Network,
    /// `max_connections`.
    ConnectionLimit,
    /// The load: it requested no more than it received.
    Load,
    /// Too few connections: the CPUs could have done more.
    Connections,
    /// The path between client and server: the network's delay, or a program in between.
    RoundTrips,
}

impl Resource {
    pub fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::CpuQuota => "CPU quota",
            Self::DiskQuota => "disk quota",
            Self::Client => "client",
            Self::Steal => "steal",
            Self::Cpu => "CPU",
            Self::RowLocks => "row locks",
            Self::TableLocks => "table locks",
            Self::MetadataLocks => "metadata locks",
            Self::UserLocks => "user locks",
            Self::QueryCache => "query cache",
            Self::InnodbConcurrency => "InnoDB concurrency",
            Self::Checkpoint => "checkpoint",
            Self::DiskFlushes => "disk flushes",
            Self::Disk => "disk",
            Self::Network => "network",
            Self::ConnectionLimit => "connection limit",
            Self::Load => "load",
            Self::Connections => "connections",
            Self::RoundTrips => "round trips",
        }
    }
}
