//! What lies between a socket and the packets: TLS, compression, or both.

use std::io;

use reactor::Stream;

use crate::{
    compression::{Frames, Numbering},
    endpoint::Address,
    error::Error,
    tls::{ClientTls, ServerTls, Session},
};

/// Size to which the memory of what was sent is reduced after a large packet.
const KEPT: usize = 256 << 10;

/// What lies between a socket and the packets.
#[derive(Default)]
pub struct Layers {
    tls: Option<Session>,
    frames: Option<Frames>,
    /// Numbers the packets anew, which compressing servers and clients number as they like.
    numbering: Option<Numbering>,
    /// The peer has closed its side.
    is_closed: bool,
    has_more: bool,
    /// Frames to send, and what the socket gets of them; kept to reuse their memory.
    framed: Vec<u8>,
    packed: Vec<u8>,
}

impl Layers {
    /// Negotiates TLS with a server.
    pub async fn to_server(
        stream: &mut Stream,
        tls: &ClientTls,
        address: &Address,
    ) -> Result<Self, Error> {
        Ok(Self::of(tls.agree(stream, address).await?))
    }

    /// Negotiates TLS with a client of which these bytes have been received.
    pub async fn to_client(
        stream: &mut Stream,
        tls: &ServerTls,
        received: Vec<u8>,
    ) -> io::Result<Self> {
        Ok(Self::of(tls.agree(stream, received).await?))
    }

    fn of(session: Session) -> Self {
        Self {
            tls: Some(session),
            has_more: true,
            ..Self::default()
        }
    }

    /// Compresses everything from now on, as a client.
    pub(crate) fn compress(&mut self) {
        self.frames = Some(Frames::new());
    }

    /// Compresses everything to a server from now on; the packets are numbered as if they were not compressed.
    pub fn compress_to_server(&mut self) {
        self.compress();
        self.numbering = Some(Numbering::default());
    }

    /// Compresses everything to a client from now on; the packets are numbered as if they were not compressed.
    pub fn compress_to_client(&mut self) {
        self.frames = Some(Frames::of_server());
        self.numbering = Some(Numbering::default());
    }

    /// As a client, begins a new exchange.
    pub fn begin_exchange(&mut self) {
        if let Some(frames) = &mut self.frames {
            frames.begin_exchange();
        }
        if let Some(numbering) = &mut self.numbering {
            numbering.begin_exchange();
        }
    }

    pub fn is_tls(&self) -> bool {
        self.tls.is_some()
    }

    pub fn is_compressed(&self) -> bool {
        self.frames.is_some()
    }

    /// Whether [`Layers::try_read`] may return data without the socket being readable.
    pub fn has_more(&self) -> bool {
        self.has_more
    }

    /// Whether bytes taken from the socket are unread, as far as known without asking TLS.
    pub(crate) fn has_unread(&self) -> bool {
        self.frames.as_ref().is_some_and(Frames::has_unread)
    }

    /// Reads available data; `None` if there is none, 0 if the peer closed.
    pub fn try_read(&mut self, stream: &mut Stream, buf: &mut [u8]) -> io::Result<Option<usize>> {
        let read = self.read(stream, buf);
        let below = self.tls.as_ref().is_some_and(Session::has_more);
        self.has_more = match &read {
            Ok(Some(_)) => {
                self.is_closed || below || self.frames.as_ref().is_some_and(Frames::has_frame)
            }
            Ok(None) => false,
            Err(_) => true,
        };
        read
    }

    fn read(&mut self, stream: &mut Stream, buf: &mut [u8]) -> io::Result<Option<usize>> {
        let Some(frames) = &mut self.frames else {
            return below(&mut self.tls, stream, buf);
        };
        loop {
            if frames.has_content()? {
                let count = frames.read(buf);
                if let Some(numbering) = &mut self.numbering {
                    numbering.received(&mut buf[..count], frames.take_beginning());
                }
                return Ok(Some(count));
            }
            if self.is_closed {
                return Ok(Some(0));
            }
            match below(&mut self.tls, stream, frames.room())? {
                None => return Ok(None),
                Some(0) => self.is_closed = true,
                Some(count) => frames.received(count),
            }
        }
    }

    /// What the socket gets for these bytes; a client gets a packet when it is whole.
    pub fn pack(&mut self, bytes: &[u8]) -> io::Result<&[u8]> {
        self.packed.clear();
        self.packed.shrink_to(KEPT);
        let Some(frames) = &mut self.frames else {
            return match &mut self.tls {
                Some(tls) => {
                    tls.encrypt(bytes, &mut self.packed)?;
                    Ok(&self.packed)
                }
                None => {
                    self.packed.extend_from_slice(bytes);
                    Ok(&self.packed)
                }
            };
        };
        let framed = match &self.tls {
            Some(_) => &mut self.framed,
            None => &mut self.packed,
        };
        framed.clear();
        framed.shrink_to(KEPT);
        match &mut self.numbering {
            Some(numbering) => frames.pack(numbering.sent(bytes), framed),
            None => frames.pack(bytes, framed),
        }
        if let Some(tls) = &mut self.tls {
            tls.encrypt(&self.framed, &mut self.packed)?;
        }
        Ok(&self.packed)
    }
}

fn below(
    tls: &mut Option<Session>,
    stream: &mut Stream,
    buf: &mut [u8],
) -> io::Result<Option<usize>> {
    match tls {
        Some(tls) => tls.try_read(stream, buf),
        None => stream.try_read(buf),
    }
}
