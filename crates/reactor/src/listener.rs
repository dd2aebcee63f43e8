//! A socket that accepts connections.

use std::{io, net::SocketAddr, os::fd::AsFd, path::Path};

use mio::{Interest, event};

use crate::{
    source::{PolledSocket, Source},
    stream::{Accepted, Socket, Stream},
};

/// Number of connections that may wait to be accepted: Linux's limit with the default `net.core.somaxconn`.
///
/// Thousands of clients connect at once. Beyond this number TCP drops the last packet of the handshake, and a client
/// that waits for the server's greeting hangs. The poller and the standard library would use 128.
const BACKLOG: i32 = 4096;

/// A listening socket, TCP or unix; closed when dropped.
pub struct Listener {
    source: Source<Listening>,
}

enum Listening {
    Tcp(mio::net::TcpListener),
    Unix(mio::net::UnixListener),
}

impl Listener {
    /// Listens on a TCP address; port 0 selects a free one.
    pub fn bind_tcp(address: SocketAddr) -> io::Result<Self> {
        let listener = mio::net::TcpListener::bind(address)?;
        widen_backlog(&listener)?;
        Ok(Self {
            source: Source::register(Listening::Tcp(listener), Interest::READABLE)?,
        })
    }

    /// Takes a TCP socket that listens already.
    pub fn of_tcp(listener: std::net::TcpListener) -> io::Result<Self> {
        listener.set_nonblocking(true)?;
        let listener = mio::net::TcpListener::from_std(listener);
        Ok(Self {
            source: Source::register(Listening::Tcp(listener), Interest::READABLE)?,
        })
    }

    /// Listens on a unix socket, which must not exist yet and is not removed afterwards.
    pub fn bind_unix(path: &Path) -> io::Result<Self> {
        let listener = mio::net::UnixListener::bind(path)?;
        widen_backlog(&listener)?;
        Ok(Self {
            source: Source::register(Listening::Unix(listener), Interest::READABLE)?,
        })
    }

    /// The TCP address that it listens on; `None` for a unix socket.
    pub fn tcp_address(&self) -> Option<SocketAddr> {
        match &self.source.io {
            Listening::Tcp(listener) => listener.local_addr().ok(),
            Listening::Unix(_) => None,
        }
    }

    pub async fn accept(&self) -> io::Result<Stream> {
        Stream::take(self.accept_for_any().await?)
    }

    /// Waits for the next connection, for the reactor of any thread.
    pub async fn accept_for_any(&self) -> io::Result<Accepted> {
        loop {
            self.source.readable().await?;
            match self.source.io.accept() {
                Ok(socket) => return Ok(Accepted(socket)),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.source.read_blocked();
                }
                Err(error)
                    if matches!(
                        error.kind(),
                        // The client gave up while it was in the queue.
                        io::ErrorKind::Interrupted | io::ErrorKind::ConnectionAborted
                    ) => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// Calls listen again: Linux then applies the new queue length.
fn widen_backlog(listener: impl AsFd) -> io::Result<()> {
    Ok(rustix::net::listen(listener, BACKLOG)?)
}

impl Listening {
    fn accept(&self) -> io::Result<Socket> {
        match self {
            Self::Tcp(listener) => listener.accept().map(|(stream, _)| Socket::Tcp(stream)),
            Self::Unix(listener) => listener.accept().map(|(stream, _)| Socket::Unix(stream)),
        }
    }
}

impl PolledSocket for Listening {
    fn source(&mut self) -> &mut dyn event::Source {
        match self {
            Self::Tcp(listener) => listener,
            Self::Unix(listener) => listener,
        }
    }
}
