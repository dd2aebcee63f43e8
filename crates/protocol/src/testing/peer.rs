//! The server's side of one connection, packet by packet.

use std::io;

use mysql_common::{
    constants::CapabilityFlags, io::ParseBuf, packets::HandshakeResponse, proto::MyDeserialize,
};
use reactor::Stream;

use crate::{
    packets::{self, PacketReader},
    testing::answer::{Answer, Part},
};

/// No test sends more.
const PACKET_BYTES_MAX: usize = 64 << 20;

/// What a fake server says of itself.
#[derive(Debug, Clone)]
pub struct Hello {
    /// Its version.
    pub version: String,
    /// Its number for the connection.
    pub connection_id: u32,
    /// Whether it can leave EOF packets out.
    pub deprecate_eof: bool,
    /// The login method that it would like.
    pub plugin: String,
    /// What a proof is mixed with.
    pub nonce: [u8; 20],
}

impl Default for Hello {
    fn default() -> Self {
        Self {
            version: "8.0.0-fake".into(),
            connection_id: 1,
            deprecate_eof: true,
            plugin: "mysql_native_password".into(),
            nonce: *b"0123456789abcdefghij",
        }
    }
}

impl Hello {
    /// The greeting's payload.
    pub fn payload(&self) -> Vec<u8> {
        let mut capabilities = CapabilityFlags::CLIENT_PROTOCOL_41
            | CapabilityFlags::CLIENT_SECURE_CONNECTION
            | CapabilityFlags::CLIENT_MULTI_RESULTS
            | CapabilityFlags::CLIENT_PLUGIN_AUTH
            | CapabilityFlags::CLIENT_PLUGIN_AUTH_LENENC_CLIENT_DATA;
        capabilities.set(CapabilityFlags::CLIENT_DEPRECATE_EOF, self.deprecate_eof);
        let [low0, low1, high0, high1] = capabilities.bits().to_le_bytes();
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
}

/// A client, as a server sees it.
pub struct Peer {
    stream: Stream,
    packets: PacketReader,
    deprecate_eof: bool,
}

impl Peer {
    /// The client at the other end of an accepted stream.
    pub fn new(stream: Stream) -> Self {
        Self {
            stream,
            packets: PacketReader::new(),
            deprecate_eof: false,
        }
    }

    /// Sends a payload as the next packet.
    pub async fn send(&mut self, payload: &[u8]) -> io::Result<()> {
        let mut out = Vec::new();
        self.frame(payload, &mut out);
        self.send_raw(&out).await
    }

    /// Sends bytes as they are.
    pub async fn send_raw(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes).await
    }

    /// Sends a whole answer in one write.
    pub async fn answer(&mut self, answer: &Answer) -> io::Result<()> {
        let mut out = Vec::new();
        for part in &answer.parts {
            if let Part::Raw(bytes) = part {
                out.extend_from_slice(bytes);
            }
            if let Some(payload) = part.payload(self.deprecate_eof) {
                self.frame(&payload, &mut out);
            }
        }
        self.send_raw(&out).await
    }

    /// Receives the next packet of an exchange; `None` when the client closed.
    pub async fn receive(&mut self) -> io::Result<Option<Vec<u8>>> {
        let malformed = |error| io::Error::new(io::ErrorKind::InvalidData, error);
        loop {
            if self.packets.peek().map_err(malformed)?.is_some()
                && let Some(range) = self.packets.take(PACKET_BYTES_MAX).map_err(malformed)?
            {
                return Ok(Some(self.packets.payload(range).to_vec()));
            }
            match self.stream.read(self.packets.room()).await? {
                0 => return Ok(None),
                count => self.packets.received(count),
            }
        }
    }

    /// Receives the packet that begins an exchange.
    pub async fn receive_command(&mut self) -> io::Result<Option<Vec<u8>>> {
        self.packets.set_sequence(0);
        self.receive().await
    }

    /// Greets, and returns what the client sends as its proof.
    pub async fn greet(&mut self, hello: &Hello) -> io::Result<Vec<u8>> {
        self.packets.set_sequence(0);
        self.send(&hello.payload()).await?;
        let response = self.receive().await?.ok_or(io::ErrorKind::UnexpectedEof)?;
        let response = HandshakeResponse::deserialize((), &mut ParseBuf(&response))?;
        self.deprecate_eof = response
            .capabilities()
            .contains(CapabilityFlags::CLIENT_DEPRECATE_EOF);
        Ok(response.scramble_buf().to_vec())
    }

    fn frame(&mut self, payload: &[u8], out: &mut Vec<u8>) {
        let mut packet = Vec::new();
        packets::begin(&mut packet);
        packet.extend_from_slice(payload);
        let next = packets::finish(&mut packet, self.packets.sequence());
        self.packets.set_sequence(next);
        out.extend_from_slice(&packet);
    }
}
