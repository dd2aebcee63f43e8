//! Costs of one operation: CPU, disk, flushes, rows, locks.
//!
//! A cost is a rate over the measured phase, divided by the throughput of that phase. It varies less from execution to
//! execution than throughput and response times do, and it explains their changes. A cost that was not observed is
//! `None`, never zero.

mod usage;

use figures::RunFigures;
use samples::Record;

use units::{duration, mean_bytes, si};
use usage::Usage;

/// A cost of one operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cost {
    /// CPU time of the server's process.
    ServerCpu,
    /// CPU time of dbdyno.
    ClientCpu,
    /// CPU time of the proxy between clients and server.
    ProxyCpu,
    /// Time for which the server's control group was throttled by its CPU limit, summed over its CPUs.
    Throttled,
    /// Context switches of the server's threads.
    ContextSwitches,
    /// Rows returned by the storage engine.
    RowsRead,
    /// Page requests to the buffer pool.
    PageRequests,
    /// Pages that were not in the buffer pool.
    Misses,
    RowLockWaits,
    RowLockTime,
    /// Flushes that InnoDB requested from the file system, log and data.
    Fsyncs,
    /// Flushes of the redo log only.
    LogFsyncs,
    /// Flushes of the data directory's disk, by any program.
    DiskFlushes,
    /// Reads of the data directory's disk.
    DiskReads,
    /// Writes of the data directory's disk.
    DiskWrites,
    DiskReadBytes,
    DiskWrittenBytes,
    /// Time in which tasks of the server's control group or machine were stalled waiting for a disk.
    DiskStall,
    /// Reads that InnoDB requested from the file system.
    InnodbReads,
    /// Writes that InnoDB requested from the file system.
    InnodbWrites,
    /// Bytes that the server's process wrote towards storage, including logs of all kinds.
    WrittenBytes,
    RedoBytes,
    BinlogBytes,
    /// Bytes that the server sent to its clients.
    BytesSent,
    /// Bytes that the server received.
    BytesReceived,
    /// Results that were stored in or returned by the query cache.
    QueryCache,
    TmpTables,
    TmpDiskTables,
}

/// The name, unit and calculation of a cost.
pub(crate) struct Spec {
    pub(crate) cost: Cost,
    pub(crate) name: &'static str,
    pub(crate) words: &'static str,
    pub(crate) unit: Unit,
    /// A difference per operation below which it explains nothing, in the cost's unit.
    pub(crate) notable: f64,
    /// The cost of one reading of the server's counters, in the cost's unit.
    pub(crate) per_look: f64,
    /// Half of the smallest amount that can be counted, in the cost's unit: a count of 0 in n operations is less than
    /// this divided by n.
    pub(crate) half_step: f64,
    /// The rate per second; `None` if it was not observed.
    per_s: fn(&Usage<'_>) -> Option<f64>,
}

/// The unit of a cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    Micros,
    Bytes,
    /// A number of events.
    Count,
}

impl Unit {
    /// The text after a number; empty for a count.
    pub fn name(self) -> &'static str {
        match self {
            Self::Micros => "µs",
            Self::Bytes => "B",
            Self::Count => "",
        }
    }

    /// An amount with its unit: `1.23 ms`, `2.41 KiB`, `0.010`.
    pub fn in_words(self, value: f64) -> String {
        match self {
            Self::Micros => duration(value * 1e3),
            Self::Bytes => mean_bytes(value),
            Self::Count => si(value),
        }
    }
}

const fn micros(cost: Cost, name: &'static str, words: &'static str, notable: f64) -> Spec {
    Spec {
        cost,
        name,
        words,
        unit: Unit::Micros,
        notable,
        per_look: 0.0,
        // The kernel counts CPU time in ticks of 10 ms.
        half_step: 5_000.0,
        per_s: |_| None,
    }
}

const fn count(cost: Cost, name: &'static str, words: &'static str, notable: f64) -> Spec {
    Spec {
        unit: Unit::Count,
        half_step: 0.5,
        ..micros(cost, name, words, notable)
    }
}

const fn bytes(cost: Cost, name: &'static str, words: &'static str, notable: f64) -> Spec {
    Spec {
        unit: Unit::Bytes,
        half_step: 0.5,
        ..micros(cost, name, words, notable)
    }
}

/// All costs, in the order of [`Cost`].
const SPECS: [Spec; 28] = [
    Spec {
        per_look: 4_000.0,
        per_s: |it| it.server_cpu_us(),
        ..micros(Cost::ServerCpu, "server_cpu", "server CPU", 1.0)
    },
    Spec {
        per_s: |it| it.client_cpu_us(),
        ..micros(Cost::ClientCpu, "client_cpu", "client CPU", 1.0)
    },
    Spec {
        per_s: |it| it.proxy_cpu_us(),
        ..micros(Cost::ProxyCpu, "proxy_cpu", "proxy CPU", 1.0)
    },
    Spec {
        half_step: 500.0,
        per_s: |it| it.throttled_us(),
        ..micros(
            Cost::Throttled,
            "throttled",
            "time held back by the CPU limit",
            10.0,
        )
    },
    Spec {
        per_look: 20.0,
        per_s: |it| {
            it.of_process(|it| Some((it.voluntary_switches? + it.involuntary_switches?) as f64))
        },
        ..count(
            Cost::ContextSwitches,
            "context_switches",
            "context switches",
            0.2,
        )
    },
    Spec {
        per_s: |it| it.counters.rows_read_per_s(),
        ..count(Cost::RowsRead, "rows_read", "rows read", 0.2)
    },
    Spec {
        per_s: |it| it.counter("Innodb_buffer_pool_read_requests"),
        ..count(
            Cost::PageRequests,
            "page_requests",
            "buffer-pool requests",
            1.0,
        )
    },
    Spec {
        per_s: |it| it.counter("Innodb_buffer_pool_reads"),
        ..count(Cost::Misses, "misses", "buffer-pool misses", 0.01)
    },
    Spec {
        per_s: |it| it.counter("Innodb_row_lock_waits"),
        ..count(Cost::RowLockWaits, "row_lock_waits", "row-lock waits", 0.01)
    },
    Spec {
        half_step: 500.0,
        per_s: |it| Some(it.counter("Innodb_row_lock_time")? * 1e3),
        ..micros(
            Cost::RowLockTime,
            "row_lock_time",
            "row-lock wait time",
            10.0,
        )
    },
    Spec {
        per_s: |it| it.counter("Innodb_data_fsyncs"),
        ..count(Cost::Fsyncs, "fsyncs", "fsyncs of InnoDB", 0.01)
    },
    Spec {
        per_s: |it| it.counter("Innodb_os_log_fsyncs"),
        ..count(
            Cost::LogFsyncs,
            "log_fsyncs",
            "fsyncs of the redo log",
            0.01,
        )
    },
    Spec {
        per_s: |it| it.on_disk(|it| Some(it.requests?.flushes? as f64)),
        ..count(Cost::DiskFlushes, "disk_flushes", "disk flushes", 0.01)
    },
    Spec {
        per_s: |it| it.on_disk(|it| Some(it.reads as f64)),
        ..count(Cost::DiskReads, "disk_reads", "disk reads", 0.01)
    },
    Spec {
        per_s: |it| it.on_disk(|it| Some(it.writes as f64)),
        ..count(Cost::DiskWrites, "disk_writes", "disk writes", 0.01)
    },
    Spec {
        per_s: |it| it.on_disk(|it| Some(it.read_bytes as f64)),
        ..bytes(
            Cost::DiskReadBytes,
            "disk_read_bytes",
            "bytes read from disk",
            64.0,
        )
    },
    Spec {
        per_s: |it| it.on_disk(|it| Some(it.written_bytes as f64)),
        ..bytes(
            Cost::DiskWrittenBytes,
            "disk_written_bytes",
            "bytes written to disk",
            64.0,
        )
    },
    Spec {
        half_step: 500.0,
        per_s: |it| it.disk_stall(),
        ..micros(
            Cost::DiskStall,
            "disk_stall",
            "time stalled for a disk",
            10.0,
        )
    },
    Spec {
        per_s: |it| it.counter("Innodb_data_reads"),
        ..count(Cost::InnodbReads, "innodb_reads", "reads by InnoDB", 0.01)
    },
    Spec {
        per_s: |it| it.counter("Innodb_data_writes"),
        ..count(
            Cost::InnodbWrites,
            "innodb_writes",
            "writes by InnoDB",
            0.01,
        )
    },
    Spec {
        per_s: |it| it.of_process(|it| Some(it.written_bytes? as f64)),
        ..bytes(
            Cost::WrittenBytes,
            "written_bytes",
            "bytes written by the server",
            16.0,
        )
    },
    Spec {
        per_s: |it| it.counter("Innodb_os_log_written"),
        ..bytes(Cost::RedoBytes, "redo_bytes", "bytes of redo log", 16.0)
    },
    Spec {
        per_s: |it| it.counter("Binlog_bytes_written"),
        ..bytes(
            Cost::BinlogBytes,
            "binlog_bytes",
            "bytes of binary log",
            16.0,
        )
    },
    Spec {
        per_look: 60_000.0,
        per_s: |it| it.counter("Bytes_sent"),
        ..bytes(Cost::BytesSent, "bytes_sent", "bytes sent", 16.0)
    },
    Spec {
        per_look: 500.0,
        per_s: |it| it.counter("Bytes_received"),
        ..bytes(
            Cost::BytesReceived,
            "bytes_received",
            "bytes received",
            16.0,
        )
    },
    Spec {
        per_s: |it| Some(it.counter("Qcache_hits")? + it.counter("Qcache_inserts")?),
        ..count(
            Cost::QueryCache,
            "query_cache",
            "results in and out of the query cache",
            0.01,
        )
    },
    Spec {
        per_look: 4.0,
        per_s: |it| it.counter("Created_tmp_tables"),
        ..count(Cost::TmpTables, "tmp_tables", "temporary tables", 0.01)
    },
    Spec {
        per_look: 4.0,
        per_s: |it| it.counter("Created_tmp_disk_tables"),
        ..count(
            Cost::TmpDiskTables,
            "tmp_disk_tables",
            "temporary tables on disk",
            0.01,
        )
    },
];

impl Cost {
    pub fn all() -> impl Iterator<Item = Self> {
        SPECS.iter().map(|spec| spec.cost)
    }

    /// The name in the results database and the experiment file: `fsyncs`.
    pub fn name(self) -> &'static str {
        self.spec().name
    }

    /// The name in words: `fsyncs of InnoDB`.
    pub fn in_words(self) -> &'static str {
        self.spec().words
    }

    pub fn unit(self) -> Unit {
        self.spec().unit
    }

    pub(crate) fn spec(self) -> &'static Spec {
        &SPECS[self as usize]
    }
}

/// The costs of one operation of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Costs {
    /// In the order of [`SPECS`].
    per_operation: Vec<Option<f64>>,
    /// Number of operations that the costs are divided by.
    operations: f64,
    /// Readings of the server's counters per operation.
    looks: f64,
}

impl Costs {
    /// The costs of the measured phase of a run; `None` if nothing was measured.
    pub fn of(record: &Record, figures: &RunFigures) -> Option<Self> {
        let usage = Usage::of(record)?;
        let per_s = figures.throughput_per_s.filter(|per_s| *per_s > 0.0)?;
        let specs = SPECS.iter();
        Some(Self {
            per_operation: specs
                .map(|spec| Some((spec.per_s)(&usage)? / per_s))
                .collect(),
            operations: per_s * figures.measured_s,
            looks: usage.counters.looks_per_s() / per_s,
        })
    }

    /// The cost of one operation, in the cost's unit; `None` if it was not observed.
    pub fn get(&self, cost: Cost) -> Option<f64> {
        self.per_operation[cost as usize]
    }

    /// The smallest cost that can be distinguished from zero: half of the smallest amount that is counted, divided by
    /// all operations.
    pub(crate) fn least(&self, cost: Cost) -> f64 {
        cost.spec().half_step / self.operations
    }

    /// The largest negligible difference per operation: it explains nothing, or may be the cost of the readings alone.
    pub(crate) fn negligible(&self, cost: Cost) -> f64 {
        let spec = cost.spec();
        spec.notable.max(spec.per_look * self.looks)
    }
}

#[cfg(test)]
mod tests;
