//! The values of SHOW ENGINE INNODB STATUS in a run record, and the checkpoint age.

use serde::{Deserialize, Serialize};

/// Values of SHOW ENGINE INNODB STATUS; `None` if the version does not report them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InnodbStatus {
    /// Length of the history list: undo logs that purge has not processed.
    pub history_list_length: Option<u64>,
    /// Log sequence number: bytes of redo log written since the creation of the data directory.
    pub lsn: Option<u64>,
    /// Log sequence number up to which the log is on disk.
    pub flushed_lsn: Option<u64>,
    /// Log sequence number of the last checkpoint.
    pub checkpoint_lsn: Option<u64>,
    pub pool_pages: Option<u64>,
    pub free_pages: Option<u64>,
    /// Modified pages of the buffer pool.
    pub dirty_pages: Option<u64>,
    /// Pending page reads.
    pub pending_reads: Option<u64>,
    /// Pending page writes, over all lists.
    pub pending_writes: Option<u64>,
    /// Pending flushes of the log and of data files.
    pub pending_fsyncs: Option<u64>,
    /// Threads inside InnoDB, if it limits them.
    pub queries_inside: Option<u64>,
    /// Threads waiting to enter InnoDB.
    pub queries_queued: Option<u64>,
    pub read_views: Option<u64>,
    /// Number of active transactions listed in the status.
    pub active_transactions: Option<u64>,
    /// Active transactions that wait for a lock.
    pub lock_waits: Option<u64>,
    /// Age of the oldest active transaction, seconds.
    pub longest_transaction_s: Option<u64>,
}

impl InnodbStatus {
    /// Redo log between the last checkpoint and now, bytes.
    pub fn checkpoint_age_bytes(&self) -> Option<u64> {
        self.lsn?.checked_sub(self.checkpoint_lsn?)
    }
}
