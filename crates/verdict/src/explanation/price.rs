//! Nominal prices, microseconds; they rank causes and are not results.

/// A flush that reaches the disk.
pub(super) const FLUSH_US: f64 = 1_000.0;
/// A page that is read from the disk.
pub(super) const READ_US: f64 = 200.0;
/// A row that is read.
pub(super) const ROW_US: f64 = 0.5;
/// A result into or out of the query cache, with its lock.
pub(super) const CACHED_US: f64 = 20.0;
/// A temporary table in memory, and on disk.
pub(super) const TABLE_US: f64 = 20.0;
pub(super) const TABLE_ON_DISK_US: f64 = 500.0;
/// A byte written, and a byte sent.
pub(super) const WRITTEN_BYTE_US: f64 = 0.005;
pub(super) const SENT_BYTE_US: f64 = 0.01;
/// A byte sent within a machine, which is only copied.
pub(super) const COPIED_BYTE_US: f64 = 0.001;
