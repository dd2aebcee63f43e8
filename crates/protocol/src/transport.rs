//! The bytes below the packets: a plain stream, or TLS over it.

use std::io;

use reactor::Stream;

use crate::tls::TlsStream;

/// A connection's byte stream.
pub(crate) enum Transport {
    Plain(Stream),
    // Boxed because it is large and rare.
    Tls(Box<TlsStream>),
}

impl Transport {
    /// Receives at least one byte; 0 means that the server closed.
    pub(crate) async fn receive(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.read(buf).await,
            Self::Tls(stream) => stream.read(buf).await,
        }
    }

    pub(crate) async fn send(&mut self, buf: &[u8]) -> io::Result<()> {
        match self {
            Self::Plain(stream) => stream.write_all(buf).await,
            Self::Tls(stream) => stream.write_all(buf).await,
        }
    }

    pub(crate) fn is_tls(&self) -> bool {
        matches!(self, Self::Tls(_))
    }
}
