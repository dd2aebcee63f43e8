//! The server's answer to an injected command.

use std::rc::Rc;

use crate::Injection;

/// What kind of packet an answer began with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// The command was done; there are no rows.
    Ok {
        affected_rows: u64,
        /// The value of the AUTO_INCREMENT column, 0 without one.
        insert_id: u64,
    },
    Err,
    Rows,
    /// None of these: the answer of a command such as `COM_STATISTICS`.
    Other,
}

/// Flags of the server's state after an answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StatusFlags {
    pub in_trans: bool,
    pub auto_commit: bool,
    pub no_good_index_used: bool,
    pub no_index_used: bool,
}

/// The server's answer to an injected command, as `read_query_result` gets it.
#[derive(Debug, Clone)]
pub struct QueryResult {
    pub injection: Injection,
    /// From the command's sending to the first packet of the answer, microseconds.
    pub query_time_us: u64,
    /// From the command's sending to the last packet of the answer, microseconds.
    pub response_time_us: u64,
    /// How the answer began, or how it ended if an error came among the rows.
    pub status: Status,
    /// Flags of the last packet.
    pub flags: StatusFlags,
    pub warning_count: u16,
    /// Rows, 0 without a result set.
    pub row_count: u64,
    /// Bytes of all packets, with their headers.
    pub bytes: u64,
    /// All packets without their headers; a row above 16 MiB is one. `None` unless the injection needs the result. The
    /// relay keeps them until the hook has decided, so they are shared and not copied.
    pub packets: Option<Rc<Vec<Vec<u8>>>>,
    /// Number of columns; 0 without a result set.
    pub columns: usize,
    /// Rows are in the binary format of prepared statements.
    pub is_binary: bool,
    /// The connection leaves out the EOF packet between columns and rows, and ends with an OK packet.
    pub deprecate_eof: bool,
}
