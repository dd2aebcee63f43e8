//! A client's session as hooks see it.

use std::{cell::RefCell, collections::VecDeque, rc::Rc, sync::Arc, time::Duration};

use crate::{Address, RuleCounter};

/// One end of a session: the client, or the server that it talks to.
#[derive(Debug, Clone)]
pub struct Peer {
    /// The end that opened the connection.
    pub src: Address,
    /// The end that accepted it.
    pub dst: Address,
    /// The default database; empty without one.
    pub default_db: Vec<u8>,
    pub username: Vec<u8>,
    /// The client's answer to the server's challenge.
    pub scrambled_password: Vec<u8>,
    pub auth_plugin_name: Vec<u8>,
    /// The server's version as a number: 50506 for 5.5.6; 0 while it is unknown.
    pub mysqld_version: u32,
    /// The server's number of the connection.
    pub thread_id: u32,
    /// The server's challenge.
    pub scramble_buffer: Vec<u8>,
}

impl Peer {
    /// An end of which only the addresses are known.
    pub fn new(src: Address, dst: Address) -> Self {
        Self {
            src,
            dst,
            default_db: Vec::new(),
            username: Vec::new(),
            scrambled_password: Vec::new(),
            auth_plugin_name: Vec::new(),
            mysqld_version: 0,
            thread_id: 0,
            scramble_buffer: Vec::new(),
        }
    }
}

/// A command that a hook sends to the server in the client's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Injection {
    /// The hook's own number of it.
    pub id: i64,
    /// The command's byte and its text.
    pub packet: Vec<u8>,
    /// Whether the whole result is kept for `read_query_result`; otherwise it passes on as it arrives.
    pub needs_result: bool,
}

/// Another backend for one command.
#[derive(Debug, Clone)]
pub struct Route {
    /// Its place among the backends, from 0.
    pub backend: usize,
    /// The rule that wants it, which counts when no connection can be had.
    pub rule: Arc<RuleCounter>,
}

/// Status flags of the server.
const IN_TRANSACTION: u16 = 0x0001;
const AUTOCOMMIT: u16 = 0x0002;

/// A client's session as hooks see and change it.
#[derive(Debug)]
pub struct Session {
    /// Its number, from 1.
    pub number: u64,
    pub client: Peer,
    /// The server that the client talks to; `None` before there is one, and while its connection is parked.
    pub server: Option<Peer>,
    /// The server's place among the backends, from 0. A hook may change it: `None` parks the server's connection in the
    /// pool, another place asks for a connection of that backend.
    pub backend: Option<usize>,
    /// Commands that wait to be sent; empty before each `read_query`.
    pub queries: VecDeque<Injection>,
    /// The client reads results that leave out the EOF packet between columns and rows and end with an OK packet; a
    /// hook's own result is written like that. The relay sets it after the login.
    pub client_deprecates_eof: bool,
    /// A transaction is open, as the server said last.
    pub in_transaction: bool,
    /// Autocommit is on, as the server said last.
    pub auto_commit: bool,
    /// Set by a hook in `read_query`: the command waits for this time.
    pub delay: Duration,
    /// Set by a hook in `read_query`: the command goes to another backend, if a connection to it can be had, and the session
    /// stays where it is.
    pub route: Option<Route>,
    /// Set by a hook: the client's connection is closed after the answer.
    pub close: bool,
    /// Capabilities that the client was promised; `None` until its password was checked.
    pub(crate) form: Option<u64>,
    /// Where the session is while a hook has chosen another backend and the relay has not followed yet.
    pub(crate) left: Option<Place>,
}

/// A backend, and its end of the session's connection.
#[derive(Debug)]
pub(crate) struct Place {
    backend: Option<usize>,
    server: Option<Peer>,
}

impl Session {
    /// A new session, of which only the client's end is known.
    pub fn new(number: u64, client: Peer) -> Self {
        Self {
            number,
            client,
            server: None,
            backend: None,
            queries: VecDeque::new(),
            client_deprecates_eof: false,
            in_transaction: false,
            auto_commit: true,
            delay: Duration::ZERO,
            route: None,
            close: false,
            form: None,
            left: None,
        }
    }

    /// A hook chooses a backend; it sees the end of the connection that the session will have there.
    pub(crate) fn choose(&mut self, backend: Option<usize>, preview: Option<Peer>) {
        let left = match self.left.take() {
            Some(left) => left,
            None => Place {
                backend: self.backend,
                server: self.server.take(),
            },
        };
        self.server = match backend {
            same if same == left.backend => left.server.clone(),
            Some(_) => preview,
            None => None,
        };
        self.backend = backend;
        self.left = Some(left);
    }

    pub(crate) fn stay(&mut self) {
        if let Some(left) = self.left.take() {
            self.server = left.server;
        }
    }

    /// Forgets what hooks wished for the command before.
    pub(crate) fn begin_command(&mut self) {
        self.queries.clear();
        self.delay = Duration::ZERO;
        self.route = None;
    }

    /// Notes the status that the server sent with an answer.
    pub(crate) fn know_status(&mut self, status: u16) {
        self.in_transaction = status & IN_TRANSACTION != 0;
        self.auto_commit = status & AUTOCOMMIT != 0;
    }

    /// Whether nothing of a transaction is in the way of another connection.
    pub(crate) fn is_between_transactions(&self) -> bool {
        self.auto_commit && !self.in_transaction
    }
}

/// A session shared by the relay and the hooks of one event thread. Neither keeps it borrowed while the other runs.
pub type SharedSession = Rc<RefCell<Session>>;
