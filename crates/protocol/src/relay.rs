//! What a program between a client and a server has to know of the protocol: where packets and answers end, and what the
//! greeting and the login say. Nothing here stores rows or waits for a socket.

mod answer;
mod command;
mod framer;
mod greeting;
mod login;
mod own_login;
mod packet;
mod secret;

pub use crate::{
    layers::Layers,
    lenenc::{Fields, put_lenenc},
    payloads::{AUTOCOMMIT, put_bytes, put_column, put_end_of_rows, put_text_row},
};
pub use answer::{Answer, AnswerFormat, Begin, Consumed, Step, Summary};
pub use command::{AnswerKind, ChangeUser, com};
pub use framer::{Framer, FramerEvent};
pub use greeting::{ServerGreeting, server_version_number};
pub use login::ClientLogin;
pub use own_login::{LoginForm, OwnLogin, log_in};
pub use packet::{
    error_packet, native_proof, native_proof_fits, ok_packet, ok_packet_with, old_error_packet,
    put_packet, text_result, without_certificate_proof,
};
pub use secret::{OwnKey, certificate_proof, encrypt_for_server, sha2_proof_fits};

/// Capabilities of both sides: the 32 of the protocol, and MariaDB's own in the upper half.
pub mod capability {
    /// The protocol's dialect is MySQL's; MariaDB leaves it out.
    pub const MYSQL: u64 = 1;
    pub const CONNECT_WITH_DB: u64 = 1 << 3;
    /// zlib.
    pub const COMPRESS: u64 = 1 << 5;
    /// The protocol since 4.1.
    pub const PROTOCOL_41: u64 = 1 << 9;
    pub const SSL: u64 = 1 << 11;
    /// The challenge has 20 bytes.
    pub const SECURE_CONNECTION: u64 = 1 << 15;
    /// The login names its method.
    pub const PLUGIN_AUTH: u64 = 1 << 19;
    pub const CONNECT_ATTRS: u64 = 1 << 20;
    /// The login's proof has a length of up to eight bytes.
    pub const PLUGIN_AUTH_LENENC: u64 = 1 << 21;
    /// OK packets tell changes of the session.
    pub const SESSION_TRACK: u64 = 1 << 23;
    /// No EOF packets.
    pub const DEPRECATE_EOF: u64 = 1 << 24;
    /// Results may come without their columns.
    pub const OPTIONAL_METADATA: u64 = 1 << 25;
    pub const ZSTD: u64 = 1 << 26;
    /// Commands begin with attributes of the query.
    pub const QUERY_ATTRIBUTES: u64 = 1 << 27;
    /// MariaDB: several commands in one packet.
    pub const MARIADB_MULTI: u64 = 1 << 33;
    /// MariaDB: column definitions have more fields.
    pub const MARIADB_EXTENDED_METADATA: u64 = 1 << 35;
    /// MariaDB: the columns of a prepared statement come once.
    pub const MARIADB_CACHE_METADATA: u64 = 1 << 36;
}
