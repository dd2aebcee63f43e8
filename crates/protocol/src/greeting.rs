//! The greeting, which is the server's first packet.

use mysql_common::constants::{CapabilityFlags, MariadbCapabilities};

use crate::{error::Error, lenenc::Fields, replies::server_error};

/// The server's description of itself before the login.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Greeting {
    /// Such as `10.11.14-MariaDB-0+deb12u2`.
    pub(crate) version: String,
    pub(crate) connection_id: u32,
    pub(crate) capabilities: CapabilityFlags,
    /// MariaDB's own capabilities; empty for other servers.
    pub(crate) mariadb: MariadbCapabilities,
    /// Random bytes for the password's proof, 20 in all; a zero follows.
    pub(crate) nonce: Vec<u8>,
    /// The login method that the server proposes.
    pub(crate) plugin: Vec<u8>,
}

impl Greeting {
    /// Parses the greeting, or the error that a server sends instead.
    ///
    /// `mysql_common` has a parser too, but it uses the length of the nonce unchecked.
    pub(crate) fn parse(payload: &[u8]) -> Result<Self, Error> {
        match payload.first() {
            Some(0xff) => Err(server_error(payload)),
            Some(10) => {
                Self::fields(Fields(&payload[1..])).ok_or(Error::Malformed { what: "greeting" })
            }
            _ => Err(Error::Malformed {
                what: "greeting is not from a MySQL server",
            }),
        }
    }

    fn fields(mut fields: Fields<'_>) -> Option<Self> {
        let version = fields.until_nul()?;
        // MariaDB up to 10.11 reports a late MySQL 5.5 version, for compatibility with old replicas.
        let version = version.strip_prefix(b"5.5.5-").unwrap_or(version);
        let connection_id = fields.u32()?;
        let mut nonce = fields.bytes(8)?.to_vec();
        fields.bytes(1)?;
        let low = fields.u16()?;
        let (mut high, mut nonce_length, mut mariadb) = (0, 0, 0);
        // The greeting of a server before 4.1 ends here.
        if !fields.0.is_empty() {
            fields.bytes(3)?;
            high = fields.u16()?;
            nonce_length = usize::from(fields.u8()?);
            fields.bytes(6)?;
            mariadb = fields.u32()?;
        }
        let capabilities = u32::from(high) << 16 | u32::from(low);
        let capabilities = CapabilityFlags::from_bits_retain(capabilities);
        // MySQL sets this flag and does not use the bytes of MariaDB's own flags.
        if capabilities.contains(CapabilityFlags::CLIENT_LONG_PASSWORD) {
            mariadb = 0;
        }
        if capabilities.contains(CapabilityFlags::CLIENT_SECURE_CONNECTION) {
            nonce.extend_from_slice(fields.bytes(nonce_length.saturating_sub(8).max(13))?);
        }
        let mut plugin = b"mysql_native_password".to_vec();
        if capabilities.contains(CapabilityFlags::CLIENT_PLUGIN_AUTH) {
            // Early 5.5 versions omit the zero at the end.
            plugin = fields.until_nul().unwrap_or(fields.0).to_vec();
        }
        let version = String::from_utf8_lossy(version).into_owned();
        Some(Self {
            version,
            connection_id,
            capabilities,
            mariadb: MariadbCapabilities::from_bits_retain(mariadb),
            nonce,
            plugin,
        })
    }
}
