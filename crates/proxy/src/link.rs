//! A connection to a backend.

use protocol::relay::{AnswerFormat, ServerGreeting, capability, server_version_number};

use crate::{
    Peer,
    backends::Use,
    unreset_state::{Fresh, Kind},
    wire::Wire,
};

/// Capabilities that have to be those of the first login when a connection of the pool is used: they decide on the form
/// of packets. Two connections whose other capabilities differ are alike to the client.
pub(crate) const FORM: u64 = capability::PROTOCOL_41
    | capability::SESSION_TRACK
    | capability::DEPRECATE_EOF
    | capability::QUERY_ATTRIBUTES
    | capability::MARIADB_CACHE_METADATA
    | capability::MARIADB_EXTENDED_METADATA
    | SAME_MEANING;
/// Capabilities that decide on what statements do: found rows, LOAD DATA LOCAL, spaces before brackets, interactive
/// timeouts, several statements and results, and those for prepared statements.
const SAME_MEANING: u64 =
    1 << 1 | 1 << 7 | 1 << 8 | 1 << 10 | 1 << 16 | 1 << 17 | 1 << 18 | 1 << 34 | 1 << 37;

/// What MariaDB writes before its version, for programs that take 10 for a mistake.
const BEFORE_VERSION: &[u8] = b"5.5.5-";

/// A connection to a backend.
pub(crate) struct Link {
    pub(crate) wire: Wire,
    /// Counts the session among the backend's clients; `None` while the connection is in the pool.
    pub(crate) used: Option<Use>,
    pub(crate) place: usize,
    /// The greeting without the capabilities that are not relayed.
    pub(crate) greeting: ServerGreeting,
    /// `None` once a user is logged in.
    pub(crate) offer: Option<Offer>,
    /// Capabilities that the server and the client of the login had in common.
    pub(crate) capabilities: u64,
    /// The end's facts while no session has the connection.
    pub(crate) peer: Peer,
    /// The session that used it last.
    pub(crate) session: u64,
    pub(crate) kind: Kind,
    /// Which sessions may have it.
    pub(crate) fresh: Fresh,
    /// A command has changed what no reset restores and no question finds: it is for its own session only.
    pub(crate) is_spoiled: bool,
    /// A statement was prepared that may choose another database.
    pub(crate) has_prepared_use: bool,
}

/// What a server's greeting offers to a login.
#[derive(Default)]
pub(crate) struct Offer {
    /// The greeting as it came, for a login of the proxy's own.
    pub(crate) greeting: Vec<u8>,
    /// TLS and compression, as far as the server has them.
    pub(crate) capabilities: u64,
}

impl Kind {
    pub(crate) fn of(greeting: &ServerGreeting) -> Self {
        let text = greeting.payload.get(1..).unwrap_or_default();
        let end = text.iter().position(|byte| *byte == 0);
        let text = &text[..end.unwrap_or(text.len())];
        let is_mariadb = text
            .windows(7)
            .any(|part| part.eq_ignore_ascii_case(b"mariadb"));
        Self {
            is_mariadb,
            version: server_version_number(text.strip_prefix(BEFORE_VERSION).unwrap_or(text)),
        }
    }
}

impl Link {
    /// Whether its answers have the form that a client with these capabilities was promised.
    pub(crate) fn has_form(&self, promised: u64) -> bool {
        (promised ^ self.capabilities) & FORM == 0
    }

    /// The form of the server's answers.
    pub(crate) fn wording(&self) -> AnswerFormat {
        let has = |flag| self.capabilities & flag != 0;
        AnswerFormat {
            deprecate_eof: has(capability::DEPRECATE_EOF),
            cache_metadata: has(capability::MARIADB_CACHE_METADATA),
        }
    }
}
