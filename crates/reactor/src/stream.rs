//! A connected byte stream, over TCP or a unix socket.

use std::{
    io::{self, Read, Write},
    net::{Shutdown, SocketAddr},
    path::{Path, PathBuf},
    time::Duration,
};

use mio::{Interest, event};

use crate::{
    source::{PolledSocket, Source},
    timer::sleep,
};

/// A non-blocking connection, TCP (without Nagle's delay) or unix; closed when dropped.
///
/// It works only in the reactor that was running when it was opened.
pub struct Stream {
    source: Source<Socket>,
}

pub(crate) enum Socket {
    Tcp(mio::net::TcpStream),
    Unix(mio::net::UnixStream),
}

/// A connection that was accepted and belongs to no reactor yet: another thread may take it over.
pub struct Accepted(pub(crate) Socket);

/// The address of one end of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EndAddress {
    Tcp(SocketAddr),
    /// The path of a unix socket; empty for an end without a name.
    Unix(PathBuf),
}

impl Stream {
    pub async fn connect_tcp(address: SocketAddr) -> io::Result<Self> {
        let stream = mio::net::TcpStream::connect(address)?;
        let mut source =
            Source::register(Socket::Tcp(stream), Interest::READABLE | Interest::WRITABLE)?;
        loop {
            source.writable().await?;
            let Socket::Tcp(stream) = &source.io else {
                unreachable!("made above")
            };
            if let Some(error) = stream.take_error()? {
                return Err(error);
            }
            match stream.peer_addr() {
                Ok(_) => break,
                // Woken before the handshake was complete.
                Err(error) if error.kind() == io::ErrorKind::NotConnected => source.write_blocked(),
                Err(error) => return Err(error),
            }
        }
        source.io.set_nodelay()?;
        source.set_interest(Interest::READABLE)?;
        Ok(Self { source })
    }

    /// Connects to a unix socket; waits while the server's queue of connections is full.
    pub async fn connect_unix(path: &Path) -> io::Result<Self> {
        loop {
            match mio::net::UnixStream::connect(path) {
                Ok(stream) => return Self::accepted(Socket::Unix(stream)),
                // No event reports free space in the queue.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    sleep(Duration::from_millis(1)).await;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// A stream over a connected socket.
    pub(crate) fn accepted(socket: Socket) -> io::Result<Self> {
        socket.set_nodelay()?;
        Ok(Self {
            source: Source::register(socket, Interest::READABLE)?,
        })
    }

    /// An accepted connection, in the running reactor.
    pub fn take(accepted: Accepted) -> io::Result<Self> {
        Self::accepted(accepted.0)
    }

    pub fn local_address(&self) -> io::Result<EndAddress> {
        match &self.source.io {
            Socket::Tcp(stream) => stream.local_addr().map(EndAddress::Tcp),
            Socket::Unix(stream) => Ok(unix_end(stream.local_addr()?.as_pathname())),
        }
    }

    pub fn peer_address(&self) -> io::Result<EndAddress> {
        match &self.source.io {
            Socket::Tcp(stream) => stream.peer_addr().map(EndAddress::Tcp),
            Socket::Unix(stream) => Ok(unix_end(stream.peer_addr()?.as_pathname())),
        }
    }

    /// Waits until the peer has closed the connection or its sending side; data before that may be unread.
    pub async fn closed(&self) -> io::Result<()> {
        self.source.closed().await
    }

    /// Waits until [`Stream::try_read`] may return data.
    pub async fn readable(&self) -> io::Result<()> {
        self.source.readable().await
    }

    /// Reads available data; `None` if there is none, 0 if the peer closed or `buf` is empty.
    pub fn try_read(&mut self, buf: &mut [u8]) -> io::Result<Option<usize>> {
        loop {
            match self.source.io.read(buf) {
                Ok(count) => {
                    // epoll(7): a short read from a stream means that the socket is empty, so another read that would
                    // only confirm it is saved. 0 is the end of the stream, which stays readable.
                    if 0 < count && count < buf.len() {
                        self.source.drained();
                    }
                    return Ok(Some(count));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.source.read_blocked();
                    return Ok(None);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Reads available data, at least one byte; 0 if the peer closed or `buf` is empty.
    ///
    /// Safe to cancel.
    pub async fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        loop {
            self.source.readable().await?;
            if let Some(count) = self.try_read(buf)? {
                return Ok(count);
            }
        }
    }

    /// Writes as much as the socket accepts at once; 0 if it is full.
    pub fn try_write(&mut self, buf: &[u8]) -> io::Result<usize> {
        loop {
            match self.source.io.write(buf) {
                Ok(0) if !buf.is_empty() => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => return Ok(count),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.source.write_blocked();
                    return Ok(0);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Tells the peer that nothing else will be written; reading stays possible.
    pub fn finish_writing(&self) -> io::Result<()> {
        match &self.source.io {
            Socket::Tcp(stream) => stream.shutdown(Shutdown::Write),
            Socket::Unix(stream) => stream.shutdown(Shutdown::Write),
        }
    }

    /// Writes everything; tries at once, and uses the poller only if the socket is full.
    ///
    /// When cancelled, some of the bytes may have been written.
    pub async fn write_all(&mut self, mut buf: &[u8]) -> io::Result<()> {
        let mut asked = false;
        while !buf.is_empty() {
            let count = self.try_write(buf)?;
            buf = &buf[count..];
            if count == 0 {
                if !asked {
                    self.source
                        .set_interest(Interest::READABLE | Interest::WRITABLE)?;
                    asked = true;
                }
                self.source.writable().await?;
            }
        }
        if asked {
            // Otherwise a unix socket would report free space after each read of the peer.
            self.source.set_interest(Interest::READABLE)?;
        }
        Ok(())
    }
}

fn unix_end(path: Option<&Path>) -> EndAddress {
    EndAddress::Unix(path.unwrap_or(Path::new("")).to_owned())
}

impl Socket {
    fn set_nodelay(&self) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => stream.set_nodelay(true),
            Self::Unix(_) => Ok(()),
        }
    }
}

impl Read for Socket {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.read(buf),
            Self::Unix(stream) => stream.read(buf),
        }
    }
}

impl Write for Socket {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.write(buf),
            Self::Unix(stream) => stream.write(buf),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl PolledSocket for Socket {
    fn source(&mut self) -> &mut dyn event::Source {
        match self {
            Self::Tcp(stream) => stream,
            Self::Unix(stream) => stream,
        }
    }
}
