//! The result of loading a table.

use serde::{Deserialize, Serialize};

/// The result of loading a table, if that was measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Loaded {
    pub table: String,
    pub rows: u64,
    /// Their size as text as it was sent, bytes.
    pub bytes: u64,
    /// Duration from start to end, including the indexes and foreign keys that loading creates, seconds.
    pub took_s: f64,
    pub rows_per_s: f64,
    /// Megabytes (10^6 bytes) of text divided by the duration.
    pub mb_per_s: f64,
    /// Bytes of the table and its indexes afterwards, by the server's page counts; `None` if it does not report them.
    #[serde(default)]
    pub disk_bytes: Option<u64>,
}

impl Loaded {
    /// The result for these rows, bytes of text and duration, without the size on disk.
    pub fn new(table: &str, rows: u64, bytes: u64, took_s: f64) -> Self {
        let per_s = |amount: f64| if took_s > 0.0 { amount / took_s } else { 0.0 };
        Self {
            table: table.to_owned(),
            rows,
            bytes,
            took_s,
            rows_per_s: per_s(rows as f64),
            mb_per_s: per_s(bytes as f64 / 1e6),
            disk_bytes: None,
        }
    }
}
