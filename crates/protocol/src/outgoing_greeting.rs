//! The opening of a connection by a server: its greeting, and the client's login packet.

use std::io;

use mysql_common::{
    constants::CapabilityFlags, io::ParseBuf, packets::HandshakeResponse, proto::MyDeserialize,
};

/// The protocol dialect of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// MariaDB's: it omits the first capability, and uses the greeting's reserved bytes for its own (here none).
    MariaDb,
    /// MySQL's: it sets the first capability.
    MySql,
}

/// The contents of a server's greeting.
#[derive(Debug, Clone)]
pub struct OutgoingGreeting {
    pub version: String,
    pub connection_id: u32,
    pub dialect: Dialect,
    /// Whether it supports answers without EOF packets.
    pub deprecate_eof: bool,
    /// The login method that it proposes.
    pub plugin: String,
    /// Random bytes for the proof of the password.
    pub nonce: [u8; 20],
}

impl Default for OutgoingGreeting {
    fn default() -> Self {
        Self {
            version: "8.0.0-fake".into(),
            connection_id: 1,
            dialect: Dialect::MariaDb,
            deprecate_eof: true,
            plugin: "mysql_native_password".into(),
            nonce: *b"0123456789abcdefghij",
        }
    }
}

impl OutgoingGreeting {
    pub fn payload(&self) -> Vec<u8> {
        let [low0, low1, high0, high1] = self.capabilities().bits().to_le_bytes();
        let mut payload = vec![10];
        payload.extend_from_slice(self.version.as_bytes());
        payload.push(0);
        payload.extend_from_slice(&self.connection_id.to_le_bytes());
        payload.extend_from_slice(&self.nonce[..8]);
        // Character set 45, autocommit, 21 bytes of nonce with its zero.
        payload.extend_from_slice(&[0, low0, low1, 45, 2, 0, high0, high1, 21]);
        payload.extend_from_slice(&[0; 10]);
        payload.extend_from_slice(&self.nonce[8..]);
        payload.push(0);
        payload.extend_from_slice(self.plugin.as_bytes());
        payload.push(0);
        payload
    }

    fn capabilities(&self) -> CapabilityFlags {
        let mut capabilities = CapabilityFlags::CLIENT_PROTOCOL_41
            | CapabilityFlags::CLIENT_FOUND_ROWS
            | CapabilityFlags::CLIENT_LONG_FLAG
            | CapabilityFlags::CLIENT_CONNECT_WITH_DB
            | CapabilityFlags::CLIENT_LOCAL_FILES
            | CapabilityFlags::CLIENT_TRANSACTIONS
            | CapabilityFlags::CLIENT_SECURE_CONNECTION
            | CapabilityFlags::CLIENT_MULTI_STATEMENTS
            | CapabilityFlags::CLIENT_MULTI_RESULTS
            | CapabilityFlags::CLIENT_PS_MULTI_RESULTS
            | CapabilityFlags::CLIENT_PLUGIN_AUTH
            | CapabilityFlags::CLIENT_CONNECT_ATTRS
            | CapabilityFlags::CLIENT_PLUGIN_AUTH_LENENC_CLIENT_DATA;
        let (mysql, no_eof) = (self.dialect == Dialect::MySql, self.deprecate_eof);
        capabilities.set(CapabilityFlags::CLIENT_LONG_PASSWORD, mysql);
        capabilities.set(CapabilityFlags::CLIENT_DEPRECATE_EOF, no_eof);
        capabilities
    }
}

/// The contents of a client's login packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Login {
    pub user: Vec<u8>,
    /// Initial database; `None` without one.
    pub database: Option<Vec<u8>>,
    /// Proof of the password; empty without a password.
    pub proof: Vec<u8>,
    /// The login method of the proof; empty if not sent.
    pub plugin: Vec<u8>,
    /// Whether it expects answers without EOF packets.
    pub deprecate_eof: bool,
    /// Whether one COM_QUERY may hold several statements.
    pub multi_statements: bool,
}

impl Login {
    pub fn parse(payload: &[u8]) -> io::Result<Self> {
        let response = HandshakeResponse::deserialize((), &mut ParseBuf(payload))?;
        let has = |flag| response.capabilities().contains(flag);
        let plugin = response.auth_plugin().map(|plugin| plugin.as_bytes());
        Ok(Self {
            user: response.user().to_vec(),
            database: response.db_name().map(<[u8]>::to_vec),
            proof: response.scramble_buf().to_vec(),
            plugin: plugin.unwrap_or_default().to_vec(),
            deprecate_eof: has(CapabilityFlags::CLIENT_DEPRECATE_EOF),
            multi_statements: has(CapabilityFlags::CLIENT_MULTI_STATEMENTS),
        })
    }
}
