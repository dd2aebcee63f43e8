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
    /// Waits until [`Transport::try_read`] may find something.
    pub(crate) async fn readable(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(stream) => stream.readable().await,
            // Boxed, as below, so that plain connections need no room for it.
            Self::Tls(stream) => Box::pin(stream.readable()).await,
        }
    }

    /// Reads what is there; `None` where nothing is, 0 means that the server closed.
    pub(crate) fn try_read(&mut self, buf: &mut [u8]) -> io::Result<Option<usize>> {
        match self {
            Self::Plain(stream) => stream.try_read(buf),
            Self::Tls(stream) => stream.try_read(buf),
        }
    }

    /// Sends what the socket takes at once; what is left is for [`Transport::send`].
    pub(crate) fn try_send(&mut self, buf: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.try_write(buf),
            Self::Tls(_) => Ok(0),
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
