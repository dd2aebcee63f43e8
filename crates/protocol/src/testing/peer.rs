//! The server's side of one connection, packet by packet.

use std::io;

use reactor::Stream;

use crate::{
    outgoing_greeting::{Login, OutgoingGreeting},
    packets::{self, PacketReader},
    testing::answer::{Answer, Fragment},
};

/// Size limit of received packets, above that of any test.
const PACKET_BYTES_MAX: usize = 64 << 20;

/// A client as seen by the server.
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

    /// Sends bytes without framing.
    pub async fn send_raw(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes).await
    }

    /// Sends a complete answer in one write.
    pub async fn answer(&mut self, answer: &Answer) -> io::Result<()> {
        let mut out = Vec::new();
        for part in &answer.parts {
            if let Fragment::Raw(bytes) = part {
                out.extend_from_slice(bytes);
            }
            if let Some(payload) = part.payload(self.deprecate_eof) {
                self.frame(&payload, &mut out);
            }
        }
        self.send_raw(&out).await
    }

    /// Receives the next packet of an exchange; `None` if the client closed.
    pub async fn receive(&mut self) -> io::Result<Option<Vec<u8>>> {
        let malformed = |error| io::Error::new(io::ErrorKind::InvalidData, error);
        loop {
            if self.packets.peek().map_err(malformed)?.is_some()
                && let Some(range) = self.packets.take(PACKET_BYTES_MAX).map_err(malformed)?
            {
                return Ok(Some(self.packets.payload(range).to_vec()));
            }
            self.packets.rest();
            self.stream.readable().await?;
            match self.stream.try_read(self.packets.room())? {
                Some(0) => return Ok(None),
                Some(count) => self.packets.received(count),
                None => {}
            }
        }
    }

    /// Receives the first packet of an exchange.
    pub async fn receive_command(&mut self) -> io::Result<Option<Vec<u8>>> {
        self.packets.set_sequence(0);
        self.receive().await
    }

    /// Sends the greeting, and returns the client's login packet.
    pub async fn greet(&mut self, hello: &OutgoingGreeting) -> io::Result<Vec<u8>> {
        self.packets.set_sequence(0);
        self.send(&hello.payload()).await?;
        let response = self.receive().await?.ok_or(io::ErrorKind::UnexpectedEof)?;
        let login = Login::parse(&response)?;
        self.deprecate_eof = login.deprecate_eof;
        Ok(login.proof)
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
