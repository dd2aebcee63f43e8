//! The current state of a server for a live view; a record keeps only its counters.

use crate::server_activity::{ServerStatus, ServerTotals};

/// The activity of a server in one interval, and its connections at the end.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ServerMoment {
    /// Counters and values, as in a record.
    pub status: ServerStatus,
    /// Totals of the interval, by statement and by wait; empty if the server does not count them.
    pub totals: Vec<ServerTotals>,
    /// Statement counts by response time, the fastest first; empty if the server does not report them.
    pub statement_times: Vec<TimesUpTo>,
    /// The other connections to the server.
    pub connections: Vec<ClientConnection>,
    /// Number of statements used for this reading.
    pub asked: u64,
    pub not_observed: Vec<String>,
}

/// Number of statements up to a response time, excluding those of the previous entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimesUpTo {
    /// Upper limit of the response time, nanoseconds.
    pub up_to_ns: u64,
    /// Number of statements.
    pub count: u64,
}

/// One row of the server's process list.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ClientConnection {
    pub id: u64,
    pub user: String,
    pub host: String,
    /// Current database; empty without one.
    pub database: String,
    /// Command, for example `Query` or `Sleep`.
    pub command: String,
    /// Time in the current command, seconds.
    pub time_s: f64,
    /// State of the thread, for example `Sending data`; empty if the server does not report it.
    pub state: String,
    /// The beginning of its statement; empty without one.
    pub statement: String,
}

impl ClientConnection {
    /// True if it waits for a request of its client.
    pub fn is_idle(&self) -> bool {
        self.command == "Sleep"
    }
}
