//! The login packet of a client, as it passes by.

use super::capability::{
    CONNECT_ATTRS, CONNECT_WITH_DB, MYSQL, PLUGIN_AUTH, PLUGIN_AUTH_LENENC, PROTOCOL_41,
    SECURE_CONNECTION, SSL,
};
use crate::lenenc::{Fields, put_lenenc};

/// Length of the part before the user's name: capabilities, packet size, character set, and 23 bytes.
const FIXED: usize = 32;

/// What a client's login packet says, and the packet itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientLogin {
    /// The payload, for a server.
    pub payload: Vec<u8>,
    /// The capabilities that the client wants.
    pub capabilities: u64,
    pub charset: u16,
    pub user: Vec<u8>,
    pub proof: Vec<u8>,
    /// The default database; empty without one.
    pub database: Vec<u8>,
    /// The login method of the proof; empty if it is not named.
    pub plugin: Vec<u8>,
    /// Attributes of the connection, with their length.
    pub attributes: Vec<u8>,
}

impl ClientLogin {
    /// Reads a login; `None` if it is not of the protocol since 4.1, or cut short.
    pub fn parse(payload: Vec<u8>) -> Option<Self> {
        let mut fields = Fields(&payload);
        let mut capabilities = u64::from(fields.u32()?);
        if capabilities & PROTOCOL_41 == 0 {
            return None;
        }
        fields.u32()?;
        let charset = fields.u8()?;
        fields.bytes(19)?;
        let mariadb = fields.u32()?;
        if capabilities & MYSQL == 0 {
            capabilities |= u64::from(mariadb) << 32;
        }
        let has = |flag| capabilities & flag != 0;
        if fields.0.is_empty() && has(SSL) {
            return Some(Self::without_user(payload, capabilities, charset));
        }
        let user = fields.until_nul()?.to_vec();
        let proof = if has(PLUGIN_AUTH_LENENC) {
            fields.lenenc_bytes()?
        } else if has(SECURE_CONNECTION) {
            let length = fields.u8()?;
            fields.bytes(usize::from(length))?
        } else {
            fields.until_nul()?
        }
        .to_vec();
        let mut database = Vec::new();
        // Some clients set the flag and end here, or leave out the zero at the end.
        if has(CONNECT_WITH_DB) && !fields.0.is_empty() {
            database = text(&mut fields);
        }
        let mut plugin = Vec::new();
        if has(PLUGIN_AUTH) && !fields.0.is_empty() {
            plugin = text(&mut fields);
        }
        let mut attributes = Vec::new();
        if has(CONNECT_ATTRS) {
            let all = fields.0;
            if fields.lenenc_bytes().is_some() {
                attributes = all[..all.len() - fields.0.len()].to_vec();
            }
        }
        Some(Self {
            capabilities,
            charset: u16::from(charset),
            user,
            proof,
            database,
            plugin,
            attributes,
            payload,
        })
    }

    fn without_user(payload: Vec<u8>, capabilities: u64, charset: u8) -> Self {
        Self {
            payload,
            capabilities,
            charset: u16::from(charset),
            user: Vec::new(),
            proof: Vec::new(),
            database: Vec::new(),
            plugin: Vec::new(),
            attributes: Vec::new(),
        }
    }

    /// Whether it asks for TLS: the packet is complete as the request, or repeats it.
    pub fn asks_for_tls(&self) -> bool {
        self.capabilities & SSL != 0
    }

    /// Makes these the capabilities that the client wants; none that differs may change a field of this packet.
    pub fn want(&mut self, kept: u64) {
        let bytes = kept.to_le_bytes();
        if let Some(place) = self.payload.get_mut(..4) {
            place.copy_from_slice(&bytes[..4]);
        }
        if kept >> 32 != self.capabilities >> 32
            && let Some(place) = self.payload.get_mut(FIXED - 4..FIXED)
        {
            place.copy_from_slice(&bytes[4..]);
        }
        self.capabilities = kept;
    }

    /// The packet with another proof by another method; `None` if the capabilities have no room for it.
    pub fn with_proof(&self, proof: &[u8], plugin: &[u8]) -> Option<Self> {
        let has = |flag| self.capabilities & flag != 0;
        let mut payload = self.payload.get(..FIXED)?.to_vec();
        payload.extend_from_slice(&self.user);
        payload.push(0);
        if has(PLUGIN_AUTH_LENENC) {
            put_lenenc(proof.len() as u64, &mut payload);
        } else if has(SECURE_CONNECTION) {
            payload.push(u8::try_from(proof.len()).ok()?);
        } else {
            return None;
        }
        payload.extend_from_slice(proof);
        if has(CONNECT_WITH_DB) {
            payload.extend_from_slice(&self.database);
            payload.push(0);
        }
        if has(PLUGIN_AUTH) {
            payload.extend_from_slice(plugin);
            payload.push(0);
        }
        payload.extend_from_slice(&self.attributes);
        Self::parse(payload)
    }

    /// The request for TLS that comes before this packet: its beginning.
    pub fn tls_request(&self) -> Option<&[u8]> {
        self.payload.get(..FIXED)
    }
}

fn text(fields: &mut Fields<'_>) -> Vec<u8> {
    match fields.until_nul() {
        Some(text) => text.to_vec(),
        None => std::mem::take(&mut fields.0).to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(capabilities: u64, rest: &[u8]) -> Vec<u8> {
        let [low, high] = [capabilities as u32, (capabilities >> 32) as u32];
        let mut payload = low.to_le_bytes().to_vec();
        payload.extend_from_slice(&[0, 0, 0, 1, 45]);
        payload.extend_from_slice(&[0; 19]);
        payload.extend_from_slice(&high.to_le_bytes());
        payload.extend_from_slice(rest);
        payload
    }

    #[test]
    fn a_login_of_today() {
        let flags = PROTOCOL_41
            | SECURE_CONNECTION
            | CONNECT_WITH_DB
            | PLUGIN_AUTH
            | PLUGIN_AUTH_LENENC
            | CONNECT_ATTRS
            | 1 << 36;
        let rest = b"ann\0\x03abcshop\0caching_sha2_password\0\x04\x01a\x01b";
        let payload = packet(flags, rest);
        let mut login = ClientLogin::parse(payload.clone()).unwrap();
        assert_eq!(login.user, b"ann");
        assert_eq!(login.proof, b"abc");
        assert_eq!(login.database, b"shop");
        assert_eq!(login.plugin, b"caching_sha2_password");
        assert_eq!(login.attributes, b"\x04\x01a\x01b");
        assert_eq!((login.capabilities, login.charset), (flags, 45));
        login.want(flags & !(1 << 36));
        let again = ClientLogin::parse(login.payload.clone()).unwrap();
        assert_eq!(again.capabilities, flags & !(1 << 36));
        assert_eq!(again, login);
        let other = login.with_proof(&[7; 300], b"sha256_password").unwrap();
        assert_eq!(other.proof, [7; 300]);
        let back = other.with_proof(b"abc", b"caching_sha2_password");
        assert_eq!(back, Some(login.clone()));
        for cut in 0..FIXED + 7 {
            assert_eq!(ClientLogin::parse(payload[..cut].to_vec()), None, "{cut}");
        }
    }

    #[test]
    fn logins_of_old_clients() {
        let login = ClientLogin::parse(packet(PROTOCOL_41, b"ann\0\x41\x42\0")).unwrap();
        assert_eq!(
            (&login.user[..], &login.proof[..]),
            (&b"ann"[..], &b"AB"[..])
        );
        assert_eq!(ClientLogin::parse(b"\x85\x24\0\0\0ann\0".to_vec()), None);
        let ssl = ClientLogin::parse(packet(PROTOCOL_41 | SSL, b"")).unwrap();
        assert!(ssl.asks_for_tls());
    }
}
