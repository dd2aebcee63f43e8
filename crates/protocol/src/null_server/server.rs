//! The null server: its settings, and the task that accepts connections.

use std::{
    cell::RefCell,
    io::{self, Write},
    rc::Rc,
    time::Duration,
};

use reactor::{Listener, sleep, spawn};

use super::{
    behaviour::{Behaviour, BehaviourState},
    log::Log,
    result::{CachedResults, InventedRows},
    session,
    shared_state::{ClientSlot, PREPARED_MAX, SharedState},
    variables::{Counters, Identity},
};
use crate::{
    error::ServerError,
    outgoing_greeting::{Dialect, OutgoingGreeting},
};

/// Delay before the next attempt if a connection cannot be accepted (out of memory or files).
const ACCEPT_AGAIN: Duration = Duration::from_millis(10);

pub struct Settings {
    /// Protocol dialect: MySQL's or MariaDB's.
    pub dialect: Dialect,
    /// Whether it offers answers without EOF packets, as servers do since MySQL 5.7.5 and MariaDB 10.2.
    pub deprecate_eof: bool,
    /// The rows returned by queries on tables.
    pub rows: InventedRows,
    /// Delays, limited resources, stalls and failures of statements.
    pub behaviour: Behaviour,
    /// The error of statements that fail.
    pub error: ServerError,
    /// Number of connections above which further ones are refused with error 1040.
    pub max_connections: u32,
    /// System variables that replace or extend its own.
    pub variables: Vec<(String, String)>,
    /// Number of connections above which a login is refused with error 1226; all users count as one.
    pub user_connections: Option<u32>,
    pub log: Option<Box<dyn Write>>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            dialect: Dialect::MariaDb,
            deprecate_eof: true,
            rows: InventedRows {
                rows: 1,
                row_bytes: 119,
            },
            behaviour: Behaviour::default(),
            error: usual_error(1213),
            max_connections: 100_000,
            variables: Vec::new(),
            user_connections: None,
            log: None,
        }
    }
}

/// The null server on the running reactor.
pub struct NullServer {
    shared: Rc<RefCell<SharedState>>,
}

impl NullServer {
    /// A server that is not listening yet.
    pub fn new(settings: Settings) -> Self {
        let identity = Identity {
            dialect: settings.dialect,
            socket: String::new(),
            port: 0,
            max_connections: settings.max_connections,
            max_prepared_stmt_count: PREPARED_MAX,
            set: settings.variables,
        };
        let read_delay = settings.behaviour.read_delay;
        let conduct = BehaviourState::new(settings.behaviour);
        let counters = Counters {
            page_reads: conduct.page_reads(),
            ..Counters::default()
        };
        let shared = SharedState {
            hello: OutgoingGreeting {
                version: identity.greeted_version(),
                connection_id: 0,
                dialect: settings.dialect,
                deprecate_eof: settings.deprecate_eof,
                plugin: "mysql_native_password".to_owned(),
                nonce: *b"null-server-no-nonce",
            },
            identity,
            canned: CachedResults::new(settings.rows),
            read_delay,
            conduct,
            error: settings.error,
            user_connections: settings.user_connections,
            log: settings.log.map(Log::new),
            counters,
            last_connection_id: 0,
            prepared: 0,
        };
        Self {
            shared: Rc::new(RefCell::new(shared)),
        }
    }

    /// Accepts connections from this listener while the reactor runs; `socket` is its path, if it has one.
    pub fn serve(&self, listener: Listener, socket: Option<&str>) {
        {
            let identity = &mut self.shared.borrow_mut().identity;
            match (socket, listener.tcp_address()) {
                (Some(path), _) => path.clone_into(&mut identity.socket),
                (None, Some(address)) => identity.port = address.port(),
                (None, None) => {}
            }
        }
        let shared = Rc::clone(&self.shared);
        spawn(async move {
            loop {
                let Ok(stream) = listener.accept().await else {
                    sleep(ACCEPT_AGAIN).await;
                    continue;
                };
                match ClientSlot::enter(&shared) {
                    Some(guest) => spawn(session::serve(stream, guest)),
                    None => spawn(session::refuse(stream)),
                }
            }
        });
    }

    pub fn counters(&self) -> Counters {
        self.shared.borrow().counters
    }

    /// Whether the log could not be written; the caller should then stop the server.
    pub fn has_failed(&self) -> bool {
        self.shared
            .borrow()
            .log
            .as_ref()
            .is_some_and(Log::has_failed)
    }

    /// Writes the buffered lines of the log; returns its first failure.
    pub fn finish(&self) -> io::Result<()> {
        match &mut self.shared.borrow_mut().log {
            Some(log) => log.finish(),
            None => Ok(()),
        }
    }
}

/// The error with this number, with the servers' usual message if it is known here.
pub fn usual_error(number: u16) -> ServerError {
    let (sqlstate, message) = match number {
        1020 => (
            "HY000",
            "Record has changed since last read in table 'sbtest1'",
        ),
        1040 => ("08004", "Too many connections"),
        1062 => ("23000", "Duplicate entry '1' for key 'PRIMARY'"),
        1158 => ("08S01", "Got an error reading communication packets"),
        1205 => (
            "HY000",
            "Lock wait timeout exceeded; try restarting transaction",
        ),
        1213 => (
            "40001",
            "Deadlock found when trying to get lock; try restarting transaction",
        ),
        1317 => ("70100", "Query execution was interrupted"),
        2006 | 2013 => ("HY000", "Lost connection to server during query"),
        _ => ("HY000", "an error on purpose"),
    };
    ServerError {
        number,
        sqlstate: sqlstate.to_owned(),
        message: message.to_owned(),
    }
}
