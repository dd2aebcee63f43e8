//! The byte stream below the packets: a plain stream, or one with TLS, compression or both.

use std::io;

use reactor::Stream;

use crate::layers::Layers;

/// A connection's byte stream.
pub(crate) enum Transport {
    Plain(Stream),
    // Boxed because it is large and rare.
    Layered(Box<Layered>),
}

/// A stream and what lies above it.
pub(crate) struct Layered {
    stream: Stream,
    layers: Layers,
}

impl Transport {
    pub(crate) fn layered(stream: Stream, layers: Layers) -> Self {
        Self::Layered(Box::new(Layered { stream, layers }))
    }

    /// The stream and its layers, if it has any.
    pub(crate) fn into_parts(self) -> (Stream, Option<Layers>) {
        match self {
            Self::Plain(stream) => (stream, None),
            Self::Layered(layered) => (layered.stream, Some(layered.layers)),
        }
    }

    /// Waits until [`Transport::try_read`] may return data.
    pub(crate) async fn readable(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(stream) => stream.readable().await,
            Self::Layered(layered) if layered.layers.has_more() => Ok(()),
            Self::Layered(layered) => layered.stream.readable().await,
        }
    }

    /// Reads available data; `None` if there is none, 0 if the server closed.
    pub(crate) fn try_read(&mut self, buf: &mut [u8]) -> io::Result<Option<usize>> {
        match self {
            Self::Plain(stream) => stream.try_read(buf),
            Self::Layered(layered) => layered.layers.try_read(&mut layered.stream, buf),
        }
    }

    /// Sends as much as the socket accepts at once; [`Transport::send`] sends the rest.
    pub(crate) fn try_send(&mut self, buf: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.try_write(buf),
            Self::Layered(_) => Ok(0),
        }
    }

    pub(crate) async fn send(&mut self, buf: &[u8]) -> io::Result<()> {
        match self {
            Self::Plain(stream) => stream.write_all(buf).await,
            Self::Layered(layered) => {
                let packed = layered.layers.pack(buf)?;
                layered.stream.write_all(packed).await
            }
        }
    }

    pub(crate) fn compressed(self) -> Self {
        let (stream, layers) = self.into_parts();
        let mut layers = layers.unwrap_or_default();
        layers.compress();
        Self::layered(stream, layers)
    }

    /// Begins a new exchange, in which the client speaks first.
    pub(crate) fn begin_exchange(&mut self) {
        if let Self::Layered(layered) = self {
            layered.layers.begin_exchange();
        }
    }

    /// Whether bytes taken from the socket are unread, as far as known without asking TLS.
    pub(crate) fn has_unread(&self) -> bool {
        matches!(self, Self::Layered(layered) if layered.layers.has_unread())
    }

    pub(crate) fn is_tls(&self) -> bool {
        matches!(self, Self::Layered(layered) if layered.layers.is_tls())
    }

    pub(crate) fn is_compressed(&self) -> bool {
        matches!(self, Self::Layered(layered) if layered.layers.is_compressed())
    }
}
