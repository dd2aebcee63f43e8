//! The greeting of a server, as it passes by.

use super::capability;
use crate::{error::Error, greeting::Greeting};

/// What a server's greeting says, and the greeting itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerGreeting {
    /// The payload, for a client.
    pub payload: Vec<u8>,
    /// The version as a number: 50506 for 5.5.6; 0 if it is none.
    pub version: u32,
    pub connection_id: u32,
    /// The capabilities that it offers.
    pub capabilities: u64,
    /// Its challenge, without the zero at the end.
    pub nonce: Vec<u8>,
    /// The login method that it proposes.
    pub plugin: Vec<u8>,
}

impl ServerGreeting {
    pub fn parse(payload: Vec<u8>) -> Result<Self, Error> {
        let greeting = Greeting::parse(&payload)?;
        let mut nonce = greeting.nonce;
        nonce.truncate(20);
        Ok(Self {
            version: server_version_number(greeting.version.as_bytes()),
            connection_id: greeting.connection_id,
            capabilities: u64::from(greeting.capabilities.bits())
                | u64::from(greeting.mariadb.bits()) << 32,
            nonce,
            plugin: greeting.plugin,
            payload,
        })
    }

    /// Makes these the capabilities that it offers.
    pub fn offer(&mut self, kept: u64) {
        // Behind the version: the connection's number, the challenge's first part and a zero.
        let zero = self.payload.iter().skip(1).position(|byte| *byte == 0);
        let Some(low) = zero.map(|zero| 1 + zero + 1 + 4 + 8 + 1) else {
            return;
        };
        let bytes = kept.to_le_bytes();
        let mut put = |at: usize, byte: u8| {
            if let Some(place) = self.payload.get_mut(at) {
                *place = byte;
            }
        };
        put(low, bytes[0]);
        put(low + 1, bytes[1]);
        // The character set and the status lie between.
        put(low + 5, bytes[2]);
        put(low + 6, bytes[3]);
        if kept >> 32 != self.capabilities >> 32 {
            // The challenge's length and six unused bytes lie between.
            for index in 0..4 {
                put(low + 14 + index, bytes[4 + index]);
            }
        }
        self.capabilities = kept;
    }

    /// Replaces the challenge and the method that it proposes.
    pub fn challenge(&mut self, nonce: [u8; 20], plugin: &str) {
        let zero = self.payload.iter().skip(1).position(|byte| *byte == 0);
        let Some(low) = zero.map(|zero| 1 + zero + 1 + 4 + 8 + 1) else {
            return;
        };
        let first = low.saturating_sub(9);
        if self.payload.len() < low + 18 || self.capabilities & capability::SECURE_CONNECTION == 0 {
            return;
        }
        self.payload[first..first + 8].copy_from_slice(&nonce[..8]);
        // The length of the challenge with its zero.
        self.payload[low + 7] = 21;
        self.payload.truncate(low + 18);
        self.payload.extend_from_slice(&nonce[8..]);
        self.payload.push(0);
        if self.capabilities & capability::PLUGIN_AUTH != 0 {
            self.payload.extend_from_slice(plugin.as_bytes());
            self.payload.push(0);
        }
        self.nonce = nonce.to_vec();
        self.plugin = plugin.as_bytes().to_vec();
    }
}

/// A server's version as a number: 50506 for 5.5.6; 0 if it is none.
pub fn server_version_number(version: &[u8]) -> u32 {
    let text = String::from_utf8_lossy(version);
    let mut parts = text.splitn(3, '.').map(|part| {
        let digits = part.find(|c: char| !c.is_ascii_digit());
        part[..digits.unwrap_or(part.len())].parse::<u32>().ok()
    });
    let mut next = || parts.next().flatten().filter(|part| *part < 1000);
    match (next(), next(), next()) {
        (Some(major), Some(minor), patch) => major * 10_000 + minor * 100 + patch.unwrap_or(0),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outgoing_greeting::OutgoingGreeting;

    #[test]
    fn capabilities_are_removed_and_the_rest_stays() {
        let mut payload = OutgoingGreeting::default().payload();
        let low = 1 + "8.0.0-fake".len() + 1 + 4 + 8 + 1;
        payload[low + 14] = 0b11110;
        let mut greeting = ServerGreeting::parse(payload.clone()).unwrap();
        assert_eq!(greeting.version, 80000);
        assert_eq!(greeting.nonce, b"0123456789abcdefghij");
        let before = greeting.capabilities;
        greeting.offer(before & !(1 << 24 | 1 << 36 | 1 << 9));
        assert_eq!(
            greeting.capabilities,
            before & !(1 << 24 | 1 << 36 | 1 << 9)
        );
        let again = ServerGreeting::parse(greeting.payload.clone()).unwrap();
        assert_eq!(again, greeting);
        let changed = payload.iter().zip(&greeting.payload);
        assert_eq!(changed.filter(|(before, after)| before != after).count(), 3);
    }

    #[test]
    fn another_challenge_and_method() {
        let mut greeting = ServerGreeting::parse(OutgoingGreeting::default().payload()).unwrap();
        greeting.challenge(*b"ABCDEFGHIJKLMNOPQRST", "caching_sha2_password");
        let again = ServerGreeting::parse(greeting.payload.clone()).unwrap();
        assert_eq!(again, greeting);
        assert_eq!(again.nonce, b"ABCDEFGHIJKLMNOPQRST");
        assert_eq!(again.plugin, b"caching_sha2_password");
    }

    #[test]
    fn versions_as_numbers() {
        let cases: [(&str, u32); 6] = [
            ("5.5.6", 50506),
            ("10.11.14-MariaDB-0+deb12u2", 101_114),
            ("8.0.0-fake", 80000),
            ("26.7.0", 260_700),
            ("5.7-x", 50700),
            ("unknown", 0),
        ];
        for (text, expected) in cases {
            assert_eq!(server_version_number(text.as_bytes()), expected, "{text}");
        }
    }
}
