//! What may watch and change a session on its way.

use crate::{QueryResult, SharedSession};

/// What a hook wants to happen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// What would happen without the hook: the packet is passed on.
    PassOn,
    /// The commands in the session's queue are sent instead of the client's. In `read_auth` the head of the queue
    /// replaces the client's login.
    SendQueue,
    /// The client is answered with these packets (without headers), and the server is not asked.
    Answer(Vec<Vec<u8>>),
    /// The server's answer is dropped. In `connect_server`, a connection of the pool is used.
    Ignore,
}

/// The hooks of one client's session, in the order in which they are called. An error in a hook is logged by the hook's
/// side; the session continues as if the hook had decided nothing.
pub trait Hooks {
    /// Before a server is connected.
    fn connect_server(&mut self, session: &SharedSession) -> Decision;

    /// After the server's greeting.
    fn read_handshake(&mut self, session: &SharedSession) -> Decision;

    /// After the client's login; the session knows its user and database.
    fn read_auth(&mut self, session: &SharedSession) -> Decision;

    /// After the server's answer to the login, a packet without header.
    fn read_auth_result(&mut self, session: &SharedSession, packet: &[u8]) -> Decision;

    /// Whether [`Hooks::read_query`] does anything: a session without it need not keep its commands together.
    fn reads_queries(&self) -> bool;

    /// After a command of the client: its byte and its text, however long.
    fn read_query(&mut self, session: &SharedSession, packet: &[u8]) -> Decision;

    /// After the answer to an injected command.
    fn read_query_result(&mut self, session: &SharedSession, result: QueryResult) -> Decision;

    /// Whether the answer to an injected command may go on to be kept, of which this many bytes of memory are taken by
    /// now; else why not, and the client gets it as it comes.
    fn may_keep(&mut self, bytes: usize) -> Result<(), String> {
        let _ = bytes;
        Ok(())
    }

    /// After the client has left.
    fn disconnect_client(&mut self, session: &SharedSession);
}

/// Makes the hooks of the sessions of one event thread, on that thread.
pub trait HookMaker {
    /// The hooks of a new session, of which only the client's addresses are known. A script that cannot be loaded makes
    /// hooks whose `connect_server` answers with the error.
    fn hooks(&self, session: &SharedSession) -> Box<dyn Hooks>;
}

/// A session that nothing watches.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoHooks;

impl Hooks for NoHooks {
    fn connect_server(&mut self, _: &SharedSession) -> Decision {
        Decision::PassOn
    }

    fn read_handshake(&mut self, _: &SharedSession) -> Decision {
        Decision::PassOn
    }

    fn read_auth(&mut self, _: &SharedSession) -> Decision {
        Decision::PassOn
    }

    fn read_auth_result(&mut self, _: &SharedSession, _: &[u8]) -> Decision {
        Decision::PassOn
    }

    fn reads_queries(&self) -> bool {
        false
    }

    fn read_query(&mut self, _: &SharedSession, _: &[u8]) -> Decision {
        Decision::PassOn
    }

    fn read_query_result(&mut self, _: &SharedSession, _: QueryResult) -> Decision {
        Decision::PassOn
    }

    fn disconnect_client(&mut self, _: &SharedSession) {}
}
