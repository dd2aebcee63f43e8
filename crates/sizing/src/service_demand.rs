//! What one operation demands of a server's resources.

use verdict::{Cost, Costs};

/// A demand of one operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ServiceDemand {
    /// CPU time of the server's process, seconds.
    Cpu,
    /// Pages that InnoDB reads from the file system.
    PageReads,
    /// Writes of the disk with the data directory: pages, redo log, binary log, the file system's journal.
    Writes,
    /// Flushes of the redo log.
    Fsyncs,
    /// Bytes that the server receives.
    ReceivedBytes,
    /// Bytes that the server sends.
    SentBytes,
    /// Waits for a row lock.
    LockWaits,
    /// Time of these waits, seconds.
    LockTime,
}

impl ServiceDemand {
    pub const ALL: [Self; 8] = [
        Self::Cpu,
        Self::PageReads,
        Self::Writes,
        Self::Fsyncs,
        Self::ReceivedBytes,
        Self::SentBytes,
        Self::LockWaits,
        Self::LockTime,
    ];

    /// Its name in formats for programs, with its unit.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cpu => "cpu_s",
            Self::PageReads => "page_reads",
            Self::Writes => "writes",
            Self::Fsyncs => "fsyncs",
            Self::ReceivedBytes => "received_bytes",
            Self::SentBytes => "sent_bytes",
            Self::LockWaits => "row_lock_waits",
            Self::LockTime => "row_lock_s",
        }
    }

    /// In words, for messages.
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Cpu => "server CPU time",
            Self::PageReads => "page reads",
            Self::Writes => "writes",
            Self::Fsyncs => "flushes of the log",
            Self::ReceivedBytes => "bytes received",
            Self::SentBytes => "bytes sent",
            Self::LockWaits => "row-lock waits",
            Self::LockTime => "row-lock time",
        }
    }

    /// The amount of one operation from the costs of a run; `None` if it was not observed.
    ///
    /// Reads are those that InnoDB requested: other programs on the machine do not change them. Writes are those of the
    /// disk, where it was observed, because the log's and the file system's are limited as well. Flushes are those of
    /// the redo log; MariaDB 10.8 and later count only all flushes of InnoDB.
    pub(crate) fn of(self, costs: &Costs) -> Option<f64> {
        let micros = |cost| costs.get(cost).map(|us| us / 1e6);
        let first = |a, b| costs.get(a).or_else(|| costs.get(b));
        match self {
            Self::Cpu => micros(Cost::ServerCpu),
            Self::PageReads => first(Cost::InnodbReads, Cost::Misses),
            Self::Writes => first(Cost::DiskWrites, Cost::InnodbWrites),
            Self::Fsyncs => {
                // The counter exists in some versions that no longer count it.
                let of_log = costs.get(Cost::LogFsyncs).filter(|it| *it > 0.0);
                of_log.or_else(|| costs.get(Cost::Fsyncs))
            }
            Self::ReceivedBytes => costs.get(Cost::BytesReceived),
            Self::SentBytes => costs.get(Cost::BytesSent),
            Self::LockWaits => costs.get(Cost::RowLockWaits),
            Self::LockTime => micros(Cost::RowLockTime),
        }
    }

    /// Its place in [`Demands`].
    fn index(self) -> usize {
        self as usize
    }
}

/// The demands of one operation, each in its unit; `None` where it was not observed.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Demands([Option<f64>; ServiceDemand::ALL.len()]);

impl Demands {
    /// The demands that `of` returns.
    pub fn from_fn(of: impl Fn(ServiceDemand) -> Option<f64>) -> Self {
        Self(ServiceDemand::ALL.map(of))
    }

    pub fn get(&self, demand: ServiceDemand) -> Option<f64> {
        self.0[demand.index()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_demand_has_its_place() {
        for (at, demand) in ServiceDemand::ALL.into_iter().enumerate() {
            assert_eq!(demand.index(), at);
            let only = Demands::from_fn(|it| (it == demand).then_some(1.0));
            assert_eq!(only.get(demand), Some(1.0), "{}", demand.name());
        }
    }
}
