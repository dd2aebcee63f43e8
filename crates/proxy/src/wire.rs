//! One connection of a session, to the client or to a server: received bytes, and sending.

use std::io;

use protocol::{ClientTls, ServerTls, relay::Layers};
use reactor::Stream;

use crate::buffer::Buffer;

/// Length of a packet's header.
pub(crate) const HEADER: usize = 4;
/// The longest payload of one packet; a payload of this length continues in the next packet.
pub(crate) const PAYLOAD_MAX: usize = 0xff_ffff;

/// A connection with the bytes that were received and not passed on yet.
pub(crate) struct Wire {
    pub(crate) stream: Stream,
    /// TLS and compression; boxed because it is large and rare.
    layers: Option<Box<Layers>>,
    buffer: Option<Buffer>,
    start: usize,
    end: usize,
}

/// A complete packet at the beginning of the unread bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CompletePacket {
    /// Bytes with all headers.
    pub(crate) used: usize,
    /// Number of the last part.
    pub(crate) number: u8,
    /// Parts; a packet of one part lies in the bytes as it is.
    pub(crate) parts: usize,
}

impl Wire {
    pub(crate) fn new(stream: Stream) -> Self {
        Self {
            stream,
            layers: None,
            buffer: None,
            start: 0,
            end: 0,
        }
    }

    pub(crate) fn layered(stream: Stream, layers: Option<Layers>) -> Self {
        Self {
            layers: layers.map(Box::new),
            ..Self::new(stream)
        }
    }

    /// The socket of a connection without layers and without unread bytes.
    pub(crate) fn into_stream(self) -> Stream {
        self.stream
    }

    /// Begins TLS, whose first bytes may have been received already.
    pub(crate) async fn encrypt_to_client(&mut self, tls: &ServerTls) -> io::Result<()> {
        let received = self.unread().to_vec();
        self.consume(received.len());
        let layers = Layers::to_client(&mut self.stream, tls, received).await?;
        self.layers = Some(Box::new(layers));
        Ok(())
    }

    /// Begins TLS; an error if the server has sent anything before it.
    pub(crate) async fn encrypt_to_server(
        &mut self,
        tls: &ClientTls,
        address: &protocol::Address,
    ) -> Result<(), protocol::Error> {
        if self.has_unread() {
            // Another program could have added them.
            return Err(protocol::Error::Malformed {
                what: "bytes before TLS begins",
            });
        }
        let layers = Layers::to_server(&mut self.stream, tls, address).await?;
        self.layers = Some(Box::new(layers));
        Ok(())
    }

    /// Compresses what is sent to a client, and received from it, from now on.
    pub(crate) fn compress_to_client(&mut self) {
        self.layers.get_or_insert_default().compress_to_client();
    }

    /// Compresses what is sent to a server, and received from it, from now on.
    pub(crate) fn compress_to_server(&mut self) {
        self.layers.get_or_insert_default().compress_to_server();
    }

    /// Begins a new command to a server.
    pub(crate) fn begin_exchange(&mut self) {
        if let Some(layers) = &mut self.layers {
            layers.begin_exchange();
        }
    }

    pub(crate) fn is_tls(&self) -> bool {
        self.layers.as_ref().is_some_and(|layers| layers.is_tls())
    }

    /// Waits until [`Wire::try_receive`] may receive something.
    pub(crate) async fn readable(&self) -> io::Result<()> {
        match &self.layers {
            Some(layers) if layers.has_more() => Ok(()),
            _ => self.stream.readable().await,
        }
    }

    /// The socket, and what it gets for these bytes.
    pub(crate) fn outgoing<'a>(
        &'a mut self,
        bytes: &'a [u8],
    ) -> io::Result<(&'a mut Stream, &'a [u8])> {
        match &mut self.layers {
            None => Ok((&mut self.stream, bytes)),
            Some(layers) => Ok((&mut self.stream, layers.pack(bytes)?)),
        }
    }

    /// Bytes that were received and not consumed.
    pub(crate) fn unread(&self) -> &[u8] {
        match &self.buffer {
            Some(buffer) => &buffer[self.start..self.end],
            None => &[],
        }
    }

    pub(crate) fn unread_mut(&mut self) -> &mut [u8] {
        match &mut self.buffer {
            Some(buffer) => &mut buffer[self.start..self.end],
            None => &mut [],
        }
    }

    pub(crate) fn has_unread(&self) -> bool {
        self.start < self.end
    }

    /// Forgets the first `count` unread bytes.
    pub(crate) fn consume(&mut self, count: usize) {
        self.start += count.min(self.end - self.start);
        self.rest();
    }

    /// Gives the buffer back if nothing is unread.
    fn rest(&mut self) {
        if self.start == self.end {
            self.buffer = None;
            self.start = 0;
            self.end = 0;
        }
    }

    /// Receives what is there, as long as fewer than `limit` bytes are unread; false if there is nothing.
    ///
    /// The end of the stream is an error of the kind `UnexpectedEof`.
    pub(crate) fn try_receive(&mut self, limit: usize) -> io::Result<bool> {
        let buffer = self.buffer.get_or_insert_with(Buffer::take);
        if self.end == buffer.len() {
            if self.start > 0 {
                buffer.copy_within(self.start..self.end, 0);
                self.end -= self.start;
                self.start = 0;
            } else if buffer.len() >= limit {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidData,
                    format!("a packet is longer than {limit} bytes"),
                ));
            } else {
                let doubled = (buffer.len() * 2).min(limit.max(buffer.len() + 1));
                buffer.resize(doubled, 0);
            }
        }
        let room = &mut buffer[self.end..];
        let received = match &mut self.layers {
            None => self.stream.try_read(room),
            Some(layers) => layers.try_read(&mut self.stream, room),
        };
        match received {
            Ok(Some(0)) => Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(Some(count)) => {
                self.end += count;
                Ok(true)
            }
            Ok(None) => {
                self.rest();
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }

    /// The complete packet at the beginning of the unread bytes; `None` as long as a part is missing.
    pub(crate) fn whole(&self) -> Option<CompletePacket> {
        let unread = self.unread();
        let (mut at, mut parts) = (0, 0);
        loop {
            let &[a, b, c, number] = unread.get(at..)?.first_chunk()?;
            let length = usize::from(a) | usize::from(b) << 8 | usize::from(c) << 16;
            at += HEADER + length;
            parts += 1;
            if length < PAYLOAD_MAX {
                return (at <= unread.len()).then_some(CompletePacket {
                    used: at,
                    number,
                    parts,
                });
            }
        }
    }

    /// Takes the complete packet at the beginning of the unread bytes: its payload, joined, and its number.
    pub(crate) fn packet(&mut self) -> Option<(Vec<u8>, u8)> {
        let whole = self.whole()?;
        let payload = self.payload(whole);
        self.consume(whole.used);
        Some((payload, whole.number))
    }

    /// The payload of a packet that [`Wire::whole`] found, joined.
    pub(crate) fn payload(&self, whole: CompletePacket) -> Vec<u8> {
        let mut payload = Vec::with_capacity(whole.used.saturating_sub(whole.parts * HEADER));
        let mut rest = &self.unread()[..whole.used];
        while let Some((_, after)) = rest.split_first_chunk::<HEADER>() {
            let part = after.len().min(PAYLOAD_MAX);
            payload.extend_from_slice(&after[..part]);
            rest = &after[part..];
        }
        payload
    }
}
