//! The byte stream below the packets: a plain stream, TLS over it, or compression over either.

use std::io;

use reactor::Stream;

use crate::{compression::Frames, tls::TlsStream};

/// A connection's byte stream.
pub(crate) enum Transport {
    Plain(Stream),
    // Boxed because it is large and rare.
    Tls(Box<TlsStream>),
    // Boxed because it is large and rare.
    Compressed(Box<CompressedStream>),
}

/// Compression over another transport.
pub(crate) struct CompressedStream {
    below: Transport,
    frames: Frames,
    /// Frames to send; kept to reuse their memory.
    out: Vec<u8>,
    /// The server has closed its side.
    closed: bool,
}

impl Transport {
    /// Waits until [`Transport::try_read`] may return data.
    pub(crate) async fn readable(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(stream) => stream.readable().await,
            // Boxed, as below, so that plain connections need no space for it.
            Self::Tls(stream) => Box::pin(stream.readable()).await,
            Self::Compressed(stream) => Box::pin(stream.readable()).await,
        }
    }

    /// Reads available data; `None` if there is none, 0 if the server closed.
    pub(crate) fn try_read(&mut self, buf: &mut [u8]) -> io::Result<Option<usize>> {
        match self {
            Self::Plain(stream) => stream.try_read(buf),
            Self::Tls(stream) => stream.try_read(buf),
            Self::Compressed(stream) => stream.try_read(buf),
        }
    }

    /// Sends as much as the socket accepts at once; [`Transport::send`] sends the rest.
    pub(crate) fn try_send(&mut self, buf: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.try_write(buf),
            Self::Tls(_) | Self::Compressed(_) => Ok(0),
        }
    }

    pub(crate) async fn send(&mut self, buf: &[u8]) -> io::Result<()> {
        match self {
            Self::Plain(stream) => stream.write_all(buf).await,
            Self::Tls(stream) => stream.write_all(buf).await,
            Self::Compressed(stream) => Box::pin(stream.write_all(buf)).await,
        }
    }

    /// The same transport, compressed from now on.
    pub(crate) fn compressed(self) -> Self {
        Self::Compressed(Box::new(CompressedStream {
            below: self,
            frames: Frames::new(),
            out: Vec::new(),
            closed: false,
        }))
    }

    /// Begins a new exchange, in which the client speaks first.
    pub(crate) fn begin_exchange(&mut self) {
        if let Self::Compressed(stream) = self {
            stream.frames.begin_exchange();
        }
    }

    /// Whether bytes taken from the socket are unread, as far as known without asking TLS.
    pub(crate) fn has_unread(&self) -> bool {
        matches!(self, Self::Compressed(stream) if stream.frames.has_unread())
    }

    pub(crate) fn is_tls(&self) -> bool {
        match self {
            Self::Plain(_) => false,
            Self::Tls(_) => true,
            Self::Compressed(stream) => stream.below.is_tls(),
        }
    }

    pub(crate) fn is_compressed(&self) -> bool {
        matches!(self, Self::Compressed(_))
    }
}

impl CompressedStream {
    async fn readable(&mut self) -> io::Result<()> {
        loop {
            if self.closed || self.frames.has_content()? {
                return Ok(());
            }
            self.below.readable().await?;
            match self.below.try_read(self.frames.room())? {
                Some(0) => self.closed = true,
                Some(count) => self.frames.received(count),
                None => {}
            }
        }
    }

    fn try_read(&mut self, buf: &mut [u8]) -> io::Result<Option<usize>> {
        if self.frames.has_content()? {
            Ok(Some(self.frames.read(buf)))
        } else {
            Ok(self.closed.then_some(0))
        }
    }

    async fn write_all(&mut self, buf: &[u8]) -> io::Result<()> {
        self.out.clear();
        self.frames.pack(buf, &mut self.out);
        self.below.send(&self.out).await
    }
}
