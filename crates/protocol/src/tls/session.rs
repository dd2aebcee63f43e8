//! One side of a TLS connection: between the socket's bytes and the data.

use std::{
    cell::RefCell,
    io::{self, Read, Write},
};

use reactor::Stream;
use rustls::{ClientConnection, Connection, ServerConnection};

/// Largest size of a TLS record with its header.
const RECORD_MAX: usize = 17 << 10;

thread_local! {
    // An idle connection needs no memory for it.
    static RECEIVED: RefCell<Vec<u8>> = RefCell::new(vec![0; RECORD_MAX]);
}

/// One side of a TLS connection.
pub(crate) struct Session {
    inner: Connection,
    /// Encrypted bytes that were received and not processed yet.
    rest: Vec<u8>,
    /// The peer has closed its side.
    is_closed: bool,
    /// Another read may return data without the socket being readable.
    has_more: bool,
}

impl Session {
    pub(crate) fn of_client(connection: ClientConnection) -> Self {
        Self::new(connection.into(), Vec::new())
    }

    /// The server's side, after it has received these bytes.
    pub(crate) fn of_server(connection: ServerConnection, received: Vec<u8>) -> Self {
        Self::new(connection.into(), received)
    }

    fn new(inner: Connection, rest: Vec<u8>) -> Self {
        Self {
            inner,
            rest,
            is_closed: false,
            has_more: true,
        }
    }

    /// The handshake.
    pub(crate) async fn agree(&mut self, stream: &mut Stream) -> io::Result<()> {
        let mut out = Vec::new();
        loop {
            out.clear();
            self.take_output(&mut out)?;
            stream.write_all(&out).await?;
            if !self.inner.is_handshaking() {
                return Ok(());
            }
            while !self.pull(stream)? {
                stream.readable().await?;
            }
            if self.is_closed {
                let peer = match self.inner {
                    Connection::Client(_) => "closed by the server",
                    Connection::Server(_) => "closed by the client",
                };
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, peer));
            }
        }
    }

    /// Whether [`Session::try_read`] may return data without the socket being readable.
    pub(crate) fn has_more(&self) -> bool {
        self.has_more
    }

    /// Reads available data; `None` if there is none, 0 if the peer closed.
    pub(crate) fn try_read(
        &mut self,
        stream: &mut Stream,
        buf: &mut [u8],
    ) -> io::Result<Option<usize>> {
        let read = self.read(stream, buf);
        self.has_more = match &read {
            Ok(Some(count)) => *count == buf.len() || !self.rest.is_empty() || self.is_closed,
            Ok(None) => false,
            Err(_) => true,
        };
        read
    }

    fn read(&mut self, stream: &mut Stream, buf: &mut [u8]) -> io::Result<Option<usize>> {
        loop {
            match self.inner.reader().read(buf) {
                Ok(count) => return Ok(Some(count)),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                // Many clients close the socket without closing TLS first.
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(Some(0)),
                Err(error) => return Err(error),
            }
            if self.is_closed {
                return Ok(Some(0));
            }
            if !self.pull(stream)? {
                return Ok(None);
            }
        }
    }

    pub(crate) fn encrypt(&mut self, mut data: &[u8], out: &mut Vec<u8>) -> io::Result<()> {
        while !data.is_empty() {
            let count = self.inner.writer().write(data)?;
            data = &data[count..];
            self.take_output(out)?;
        }
        Ok(())
    }

    fn take_output(&mut self, out: &mut Vec<u8>) -> io::Result<()> {
        while self.inner.wants_write() {
            self.inner.write_tls(out)?;
        }
        Ok(())
    }

    /// Processes encrypted bytes, received now if there are no others; false if there are none.
    fn pull(&mut self, stream: &mut Stream) -> io::Result<bool> {
        if !self.rest.is_empty() {
            let rest = std::mem::take(&mut self.rest);
            return self.process(stream, &rest).map(|()| true);
        }
        RECEIVED.with_borrow_mut(|received| match stream.try_read(received)? {
            None => Ok(false),
            Some(0) => {
                self.is_closed = true;
                Ok(true)
            }
            Some(count) => self.process(stream, &received[..count]).map(|()| true),
        })
    }

    /// Processes encrypted bytes until they make data, of which only so much is kept.
    fn process(&mut self, stream: &mut Stream, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            self.inner.read_tls(&mut bytes)?;
            match self.inner.process_new_packets() {
                Ok(state) if state.plaintext_bytes_to_read() > 0 || state.peer_has_closed() => {
                    break;
                }
                Ok(_) => {}
                Err(error) => {
                    let mut alert = Vec::new();
                    // Tells the peer the cause; a failure to send it does not matter.
                    let _ = self.take_output(&mut alert);
                    let _ = stream.try_write(&alert);
                    return Err(io::Error::new(io::ErrorKind::InvalidData, error));
                }
            }
        }
        self.rest = bytes.to_vec();
        Ok(())
    }
}
