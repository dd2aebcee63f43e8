//! The server: what all its connections share, and the task that accepts them.

use std::{
    cell::RefCell,
    io::{self, Write},
    rc::Rc,
    time::Duration,
};

use reactor::{Instant, Listener, sleep, spawn};

use super::{
    behaviour::{Behaviour, Conduct, Fate},
    log::{Entry, Log},
    result::{Canned, Format, InventedRows, Packets},
    session,
    variables::{Counters, Identity},
};
use crate::{
    error::ServerError,
    hello::{Dialect, Hello},
    payloads::AUTOCOMMIT,
};

/// Statements that may be prepared at the same time, over all connections: the most that servers allow.
const PREPARED_MAX: usize = 1 << 20;
/// How long the server waits when it can't accept a connection (out of memory or files).
const ACCEPT_AGAIN: Duration = Duration::from_millis(10);

/// What a null server is to do.
pub struct Settings {
    /// Whose dialect it speaks.
    pub dialect: Dialect,
    /// Offer to leave EOF packets out, as servers do since MySQL 5.7.5 and MariaDB 10.2.
    pub deprecate_eof: bool,
    /// What it answers to questions about tables.
    pub rows: InventedRows,
    /// What it does to statements beyond answering them.
    pub behaviour: Behaviour,
    /// The error of the statements that fail.
    pub error: ServerError,
    /// Connections beyond this number are refused with error 1040.
    pub max_connections: u32,
    /// System variables in place of its own, or beside them.
    pub variables: Vec<(String, String)>,
    /// Connections of one user beyond this number are refused at login with error 1226; all users are one.
    pub user_connections: Option<u32>,
    /// Where each statement is logged.
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

/// A server that answers everything and does nothing, on the running reactor.
pub struct NullServer {
    shared: Rc<RefCell<Shared>>,
}

impl NullServer {
    /// A server that does not listen yet.
    pub fn new(settings: Settings) -> Self {
        let identity = Identity {
            dialect: settings.dialect,
            socket: String::new(),
            port: 0,
            max_connections: settings.max_connections,
            max_prepared_stmt_count: PREPARED_MAX,
            set: settings.variables,
        };
        let shared = Shared {
            hello: Hello {
                version: identity.greeted_version(),
                connection_id: 0,
                dialect: settings.dialect,
                deprecate_eof: settings.deprecate_eof,
                plugin: "mysql_native_password".to_owned(),
                nonce: *b"null-server-no-nonce",
            },
            identity,
            canned: Canned::new(settings.rows),
            read_delay: settings.behaviour.read_delay,
            conduct: Conduct::new(settings.behaviour),
            error: settings.error,
            user_connections: settings.user_connections,
            log: settings.log.map(Log::new),
            counters: Counters::default(),
            last_connection_id: 0,
            prepared: 0,
        };
        Self {
            shared: Rc::new(RefCell::new(shared)),
        }
    }

    /// Accepts connections from this listener for as long as the reactor runs; `socket` is its path, if it has one.
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
                match Guest::enter(&shared) {
                    Some(guest) => spawn(session::serve(stream, guest)),
                    None => spawn(session::refuse(stream)),
                }
            }
        });
    }

    /// What happened so far.
    pub fn counters(&self) -> Counters {
        self.shared.borrow().counters
    }

    /// Whether the log could not be written, which ends its use.
    pub fn has_failed(&self) -> bool {
        self.shared
            .borrow()
            .log
            .as_ref()
            .is_some_and(Log::has_failed)
    }

    /// Writes what the log still has in memory; fails with its first failure of all.
    pub fn finish(&self) -> io::Result<()> {
        match &mut self.shared.borrow_mut().log {
            Some(log) => log.finish(),
            None => Ok(()),
        }
    }
}

/// The error that servers give this number, in their words where they are known here.
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

/// What all connections share.
pub(super) struct Shared {
    identity: Identity,
    hello: Hello,
    canned: Canned,
    read_delay: Duration,
    conduct: Conduct,
    error: ServerError,
    user_connections: Option<u32>,
    log: Option<Log>,
    counters: Counters,
    last_connection_id: u32,
    prepared: usize,
}

impl Shared {
    pub(super) fn identity(&self) -> &Identity {
        &self.identity
    }

    pub(super) fn counters(&self) -> Counters {
        self.counters
    }

    pub(super) fn counters_mut(&mut self) -> &mut Counters {
        &mut self.counters
    }

    pub(super) fn hello(&self) -> &Hello {
        &self.hello
    }

    pub(super) fn read_delay(&self) -> Duration {
        self.read_delay
    }

    pub(super) fn error(&self) -> &ServerError {
        &self.error
    }

    /// Why a client that has logged in is refused all the same: its user has too many connections.
    pub(super) fn refusal(&mut self, user: &[u8]) -> Option<ServerError> {
        let limit = self.user_connections?;
        if self.counters.connected <= u64::from(limit) {
            return None;
        }
        self.counters.refused += 1;
        let user = String::from_utf8_lossy(user);
        Some(ServerError {
            number: 1226,
            sqlstate: "42000".to_owned(),
            message: format!(
                "User '{user}' has exceeded the 'max_user_connections' resource (current value: {limit})"
            ),
        })
    }

    /// Whether statements have a fate or are logged, so that their times matter.
    pub(super) fn is_watched(&self) -> bool {
        self.log.is_some() || !self.conduct.is_plain()
    }

    /// When a statement received at this moment is answered, and how.
    pub(super) fn decide(&mut self, received: Instant) -> (Instant, Fate) {
        let (at, fate) = self.conduct.decide(received);
        match fate {
            Fate::Answer => {}
            Fate::Error => self.counters.errors += 1,
            Fate::Drop => self.counters.drops += 1,
        }
        (at, fate)
    }

    pub(super) fn log(&mut self, entry: &Entry) {
        if let Some(log) = &mut self.log {
            log.append(entry);
        }
    }

    /// Most bytes of a value, in characters of four.
    pub(super) fn column_length(&self) -> u32 {
        self.canned.rows().row_bytes.saturating_mul(4)
    }

    /// Appends invented rows; false if they would be too long.
    pub(super) fn push_rows(
        &mut self,
        columns: u16,
        format: Format,
        status: u16,
        packets: &mut Packets<'_>,
    ) -> bool {
        let rows = self.canned.rows();
        if !rows.fit(columns) {
            return false;
        }
        let is_usual = packets.sequence == 1 && status == AUTOCOMMIT;
        match self.canned.result(columns, format, packets.deprecate_eof) {
            Some(result) if is_usual => packets.out.extend_from_slice(result),
            _ => rows.push(columns, format, status, packets),
        }
        true
    }

    /// Counts a statement that is to be prepared; false if there are too many.
    pub(super) fn prepared_one(&mut self) -> bool {
        let may = self.prepared < PREPARED_MAX;
        if may {
            self.prepared += 1;
            self.counters.prepares += 1;
        }
        may
    }

    /// So many statements are not prepared any more.
    pub(super) fn closed_statements(&mut self, count: usize) {
        self.prepared -= count;
    }
}

/// A client that was let in, counted for as long as this lives.
pub(super) struct Guest {
    pub(super) shared: Rc<RefCell<Shared>>,
    pub(super) connection_id: u32,
}

impl Guest {
    fn enter(shared: &Rc<RefCell<Shared>>) -> Option<Self> {
        let mut all = shared.borrow_mut();
        if all.counters.connected >= u64::from(all.identity.max_connections) {
            all.counters.refused += 1;
            return None;
        }
        all.counters.connections += 1;
        all.counters.connected += 1;
        all.counters.most_connected = all.counters.most_connected.max(all.counters.connected);
        all.last_connection_id = all.last_connection_id.wrapping_add(1);
        Some(Self {
            shared: Rc::clone(shared),
            connection_id: all.last_connection_id,
        })
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        self.shared.borrow_mut().counters.connected -= 1;
    }
}
