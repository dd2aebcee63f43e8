//! A client's session as hooks see it.

use std::{cell::RefCell, collections::VecDeque, rc::Rc};

use crate::Address;

/// One end of a session: the client, or the server that it talks to.
#[derive(Debug, Clone)]
pub struct Peer {
    /// The end that opened the connection.
    pub src: Address,
    /// The end that accepted it.
    pub dst: Address,
    /// The default database; empty without one.
    pub default_db: Vec<u8>,
    /// The user's name.
    pub username: Vec<u8>,
    /// The client's answer to the server's challenge.
    pub scrambled_password: Vec<u8>,
    /// The authentication plugin by which the user logged in.
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

/// A client's session as hooks see and change it.
#[derive(Debug)]
pub struct Session {
    /// The client.
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
    /// Set by a hook: the client's connection is closed after the answer.
    pub close: bool,
}

/// A session shared by the relay and the hooks of one event thread. Neither keeps it borrowed while the other runs.
pub type SharedSession = Rc<RefCell<Session>>;
