//! The lines of a run record that contain the server's own counters and statistics.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{edge::Edge, innodb_status::InnodbStatus};

/// The server's own counters in one interval.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ServerStatus {
    /// Start, seconds since the start of the load; negative if the previous reading is older.
    pub t_s: f64,
    pub length_s: f64,
    /// Time from the first query to the last answer of this reading, seconds.
    pub asked_s: f64,
    /// Growth of each counter that grew: variables of SHOW GLOBAL STATUS by name, counters of INNODB_METRICS by name
    /// with the prefix `innodb_metrics.`. The first reading also contains variables that did not grow, as 0, so that
    /// they can be distinguished from variables that the server does not have.
    pub counters: BTreeMap<String, f64>,
    /// Values other than counters that changed since the previous reading, by the same names; in the first reading all
    /// that are not 0.
    pub values: BTreeMap<String, f64>,
    /// SHOW ENGINE INNODB STATUS at the end of the interval; `None` if it was not read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub innodb: Option<InnodbStatus>,
    /// Number of connections by activity, for example `Query: Sending data`; empty if not read.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub processes: BTreeMap<String, u32>,
}

/// Totals of the server over the whole run, by statement, wait, user or table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ServerTotals {
    /// The server's table that was read at the start and at the end.
    pub source: String,
    /// The rows that grew, the most expensive first.
    pub rows: Vec<TotalsRow>,
    /// Number of rows that grew and were omitted.
    pub left_out: u64,
}

/// Growth of the columns of one row during the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TotalsRow {
    /// Subject of the row: a statement's digest text, an event, a user, a table.
    pub name: String,
    /// Growth by column, without columns that did not grow; times are seconds and end in `_s`.
    pub counters: BTreeMap<String, f64>,
}

/// The sizes of all tables, as the server estimates them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TableSizes {
    pub at: Edge,
    /// The largest tables, in descending order of size.
    pub tables: Vec<TableSize>,
    /// Number of omitted tables.
    pub left_out: u64,
    /// Data and indexes of all tables, bytes.
    pub all_bytes: u64,
}

/// The size of a table, as the server estimates it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableSize {
    /// Name of the database.
    pub schema: String,
    pub table: String,
    /// Storage engine; empty if the server does not report it.
    pub engine: String,
    /// Estimated number of rows.
    pub rows: u64,
    /// Mean length of a row, bytes.
    pub row_bytes: u64,
    /// The clustered index or the data file, bytes.
    pub data_bytes: u64,
    /// The secondary indexes, bytes.
    pub index_bytes: u64,
    /// Allocated but unused, bytes.
    pub free_bytes: u64,
}

impl TableSize {
    /// Data and indexes, bytes.
    pub fn all_bytes(&self) -> u64 {
        self.data_bytes.saturating_add(self.index_bytes)
    }
}

/// The part of the slow query log that the run wrote, by fingerprint.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SlowLog {
    /// Number of statements in it.
    pub statements: u64,
    /// The most expensive fingerprints by total time, in descending order.
    pub classes: Vec<SlowClass>,
    /// Number of omitted fingerprints.
    pub left_out: u64,
}

/// The statements of one fingerprint in a slow query log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SlowClass {
    /// The statement with every value replaced by `?`.
    pub fingerprint: String,
    /// Number of statements.
    pub count: u64,
    /// Sum of their times, seconds.
    pub total_s: f64,
    /// Time spent waiting for table locks, seconds.
    pub lock_s: f64,
    /// Median of their times, seconds.
    pub p50_s: f64,
    /// 95th percentile (nearest rank), seconds.
    pub p95_s: f64,
    pub max_s: f64,
    pub rows_examined: u64,
    /// Rows returned.
    pub rows_sent: u64,
}

/// The cost and the gaps of observing the server.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ServerObservation {
    /// Number of statements used for observing.
    pub statements: u64,
    /// The longest time of the statements that each reading executes, seconds.
    pub statement_max_s: f64,
    pub not_observed: Vec<String>,
}
