//! A connection to a backend.

use protocol::relay::{ServerGreeting, Wording, capability};

use crate::{Peer, backends::Use, wire::Wire};

/// A connection to a backend.
pub(crate) struct Link {
    pub(crate) wire: Wire,
    /// Counts the session among the backend's clients; `None` while the connection is in the pool.
    pub(crate) used: Option<Use>,
    /// The backend's place.
    pub(crate) place: usize,
    /// The greeting without the capabilities that are not relayed.
    pub(crate) greeting: ServerGreeting,
    /// The greeting as it came, for a login of the proxy's own; empty after the login.
    pub(crate) as_received: Vec<u8>,
    /// The server's own offers of TLS and compression.
    pub(crate) offers: u64,
    /// Capabilities that the server and the client of the login had in common.
    pub(crate) capabilities: u64,
    /// Whether a user is logged in.
    pub(crate) is_logged_in: bool,
    /// The end's facts while no session has the connection.
    pub(crate) peer: Peer,
    /// The session that used it last.
    pub(crate) session: u64,
}

impl Link {
    /// The form of the server's answers.
    pub(crate) fn wording(&self) -> Wording {
        let has = |flag| self.capabilities & flag != 0;
        Wording {
            deprecate_eof: has(capability::DEPRECATE_EOF),
            cache_metadata: has(capability::MARIADB_CACHE_METADATA),
        }
    }
}
