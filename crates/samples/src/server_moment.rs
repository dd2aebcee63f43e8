//! What a server says of itself to somebody who looks at it now; a record keeps only its counters.

use crate::server_activity::{ServerStatus, ServerTotals};

/// What a server did in one interval, and what its connections do at its end.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ServerMoment {
    /// Its counters and values, as a record has them.
    pub status: ServerStatus,
    /// What grew in the interval, by statement and by wait; empty where the server does not count it.
    pub totals: Vec<ServerTotals>,
    /// How many statements of the interval took how long, the fastest first; empty where the server does not tell.
    pub statement_times: Vec<TimesUpTo>,
    /// The other connections to it.
    pub connections: Vec<ClientConnection>,
    /// Statements that asking took.
    pub asked: u64,
    /// What could not be observed, in words.
    pub not_observed: Vec<String>,
}

/// How many statements took at most so long, and longer than those of the entry before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimesUpTo {
    /// The longest that they can have taken, nanoseconds.
    pub up_to_ns: u64,
    /// How many.
    pub count: u64,
}

/// One row of the server's process list.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ClientConnection {
    /// The server's number of it.
    pub id: u64,
    /// Account.
    pub user: String,
    /// Where it comes from.
    pub host: String,
    /// Its database; empty without one.
    pub database: String,
    /// What it is about to do, as `Query` or `Sleep`.
    pub command: String,
    /// For how long, seconds.
    pub time_s: f64,
    /// What it does there, as `Sending data`; empty where the server does not say.
    pub state: String,
    /// The begin of its statement; empty without one.
    pub statement: String,
}

impl ClientConnection {
    /// True where it waits for its client to say something.
    pub fn is_idle(&self) -> bool {
        self.command == "Sleep"
    }
}
