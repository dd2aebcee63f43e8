//! The lines of a run record that say what the server counted meanwhile.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What the server's own counters say of one interval.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ServerStatus {
    /// Start, seconds since the start of the load; negative where the reading before it is older.
    pub t_s: f64,
    /// Length in seconds.
    pub length_s: f64,
    /// Time from the first question to the last answer of this reading, seconds.
    pub asked_s: f64,
    /// By how much each counter grew that did: the variables of SHOW GLOBAL STATUS by their names, the counters of
    /// INNODB_METRICS as `innodb_metrics.` and their names. In the first reading the variables that did not grow stand
    /// with 0, so that they can be told from those that the server does not have.
    pub counters: BTreeMap<String, f64>,
    /// The values that are no counters and changed since the reading before, by the same names; in the first reading
    /// all that are not 0.
    pub values: BTreeMap<String, f64>,
    /// What SHOW ENGINE INNODB STATUS says at the end of the interval; `None` where it was not asked or not answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub innodb: Option<InnodbStatus>,
    /// Connections by what they do, as `Query: Sending data`; empty where it was not asked.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub processes: BTreeMap<String, u32>,
}

/// What SHOW ENGINE INNODB STATUS says; what a version does not say is `None`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InnodbStatus {
    /// Length of the history list: undo logs that purge has not worked off.
    pub history_list_length: Option<u64>,
    /// Log sequence number: bytes of redo log ever written.
    pub lsn: Option<u64>,
    /// Log sequence number up to which the log is on disk.
    pub flushed_lsn: Option<u64>,
    /// Log sequence number of the last checkpoint.
    pub checkpoint_lsn: Option<u64>,
    /// Pages of the buffer pool.
    pub pool_pages: Option<u64>,
    /// Of them, free ones.
    pub free_pages: Option<u64>,
    /// Of them, modified ones.
    pub dirty_pages: Option<u64>,
    /// Reads of pages that wait.
    pub pending_reads: Option<u64>,
    /// Writes of pages that wait, over all lists.
    pub pending_writes: Option<u64>,
    /// Flushes of the log and of data files that wait.
    pub pending_fsyncs: Option<u64>,
    /// Threads inside InnoDB, where it limits them.
    pub queries_inside: Option<u64>,
    /// Threads that wait to get in.
    pub queries_queued: Option<u64>,
    /// Open read views.
    pub read_views: Option<u64>,
    /// Active transactions that the status lists.
    pub active_transactions: Option<u64>,
    /// Of them, those that wait for a lock.
    pub lock_waits: Option<u64>,
    /// Age of the oldest of them, seconds.
    pub longest_transaction_s: Option<u64>,
}

impl InnodbStatus {
    /// Redo log between the last checkpoint and now, bytes.
    pub fn checkpoint_age_bytes(&self) -> Option<u64> {
        self.lsn?.checked_sub(self.checkpoint_lsn?)
    }
}

/// What the server added up over the whole run, by statement, wait, user or table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ServerTotals {
    /// The table of the server that it was read from, at the start and at the end.
    pub source: String,
    /// What grew, the most expensive first.
    pub rows: Vec<TotalsRow>,
    /// Rows that grew and do not stand here.
    pub left_out: u64,
}

/// By how much the columns of one row grew in the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TotalsRow {
    /// What the row is of: a statement's digest text, an event, a user, a table.
    pub name: String,
    /// Column to growth, of those that grew; times are seconds and end in `_s`.
    pub counters: BTreeMap<String, f64>,
}

/// The sizes of all tables, as the server estimates them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TableSizes {
    /// `start` or `end` of the run.
    pub at: String,
    /// The largest tables, largest first.
    pub tables: Vec<TableSize>,
    /// Tables that do not stand here.
    pub left_out: u64,
    /// Data and indexes of all of them, bytes.
    pub all_bytes: u64,
}

/// The size of a table, as the server estimates it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableSize {
    /// Database.
    pub schema: String,
    /// Table.
    pub table: String,
    /// Storage engine; empty where the server does not say.
    pub engine: String,
    /// Rows.
    pub rows: u64,
    /// Mean length of a row, bytes.
    pub row_bytes: u64,
    /// The clustered index, or the data file.
    pub data_bytes: u64,
    /// The secondary indexes.
    pub index_bytes: u64,
    /// Allocated and not used.
    pub free_bytes: u64,
}

impl TableSize {
    /// Data and indexes.
    pub fn all_bytes(&self) -> u64 {
        self.data_bytes.saturating_add(self.index_bytes)
    }
}

/// The part of the slow query log that the run wrote, by fingerprint.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SlowLog {
    /// Statements in it.
    pub statements: u64,
    /// The most expensive ones by total time, first.
    pub classes: Vec<SlowClass>,
    /// Fingerprints that do not stand here.
    pub left_out: u64,
}

/// The statements of one fingerprint in a slow query log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SlowClass {
    /// The statement with `?` for every value.
    pub fingerprint: String,
    /// Statements.
    pub count: u64,
    /// Their time, seconds.
    pub total_s: f64,
    /// Time that they waited for table locks, seconds.
    pub lock_s: f64,
    /// Median of their times, seconds.
    pub p50_s: f64,
    /// 95th percentile (nearest rank), seconds.
    pub p95_s: f64,
    /// The longest, seconds.
    pub max_s: f64,
    /// Rows that they looked at.
    pub rows_examined: u64,
    /// Rows that they returned.
    pub rows_sent: u64,
}

/// How the server was observed, and what could not be.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ServerObservation {
    /// Statements that all of it took.
    pub statements: u64,
    /// The longest of the statements that are asked in every reading, seconds.
    pub statement_max_s: f64,
    /// What could not be observed, in words.
    pub not_observed: Vec<String>,
}
