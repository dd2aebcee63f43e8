//! A client's connection to a server.

use std::{
    io,
    net::{SocketAddr, ToSocketAddrs},
    ops::Range,
};

use mysql_common::constants::CapabilityFlags;
use reactor::Stream;

use crate::{
    endpoint::{Address, Endpoint},
    error::Error,
    greeting::Greeting,
    login,
    packets::{self, PacketReader},
    skim::{CONTROL_BYTES_MAX, Outcome, Skim, Step},
    transport::Transport,
};

const COM_QUIT: u8 = 0x01;
const COM_QUERY: u8 = 0x03;
const COM_PING: u8 = 0x0e;

/// Packets over a transport: what a connection is before and after its login.
pub(crate) struct Channel {
    transport: Transport,
    pub(crate) packets: PacketReader,
    /// The packet being sent; kept for its memory.
    pub(crate) out: Vec<u8>,
}

impl Channel {
    /// Sends the packet in `out` as the next of the exchange.
    pub(crate) async fn send(&mut self, during: &'static str) -> Result<(), Error> {
        let next = packets::finish(&mut self.out, self.packets.sequence());
        self.packets.set_sequence(next);
        self.transport
            .send(&self.out)
            .await
            .map_err(|source| Error::Lost { during, source })
    }

    /// Receives at least one byte.
    pub(crate) async fn receive(&mut self, during: &'static str) -> Result<(), Error> {
        match self.transport.receive(self.packets.room()).await {
            Ok(0) => {
                let source = io::Error::new(io::ErrorKind::UnexpectedEof, "closed by the server");
                Err(Error::Lost { during, source })
            }
            Ok(count) => {
                self.packets.received(count);
                Ok(())
            }
            Err(source) => Err(Error::Lost { during, source }),
        }
    }

    /// Receives one whole packet.
    pub(crate) async fn packet(
        &mut self,
        limit: usize,
        during: &'static str,
    ) -> Result<Range<usize>, Error> {
        loop {
            if self.packets.peek()?.is_some()
                && let Some(range) = self.packets.take(limit)?
            {
                return Ok(range);
            }
            self.receive(during).await?;
        }
    }
}

/// A connection that is logged in.
pub struct Connection {
    channel: Channel,
    server_version: String,
    connection_id: u32,
    deprecate_eof: bool,
    /// The last OK packet's text, or the name of a requested file.
    info: Vec<u8>,
}

impl Connection {
    /// Connects and logs in.
    pub async fn open(endpoint: &Endpoint) -> Result<Self, Error> {
        let after = endpoint.connect_timeout;
        match reactor::timeout(after, Self::log_in(endpoint)).await {
            Ok(result) => result,
            Err(reactor::Elapsed) => Err(Error::Timeout {
                address: endpoint.address.to_string(),
                after,
            }),
        }
    }

    async fn log_in(endpoint: &Endpoint) -> Result<Self, Error> {
        let stream = connect(&endpoint.address)
            .await
            .map_err(|source| Error::Connect {
                address: endpoint.address.to_string(),
                source,
            })?;
        let mut channel = Channel {
            transport: Transport::Plain(stream),
            packets: PacketReader::new(),
            out: Vec::new(),
        };
        let range = channel
            .packet(CONTROL_BYTES_MAX, "waiting for the greeting")
            .await?;
        let greeting = Greeting::parse(channel.packets.payload(range))?;
        let capabilities = login::log_in(&mut channel, endpoint, &greeting).await?;
        Ok(Self {
            channel,
            server_version: greeting.version,
            connection_id: greeting.connection_id,
            deprecate_eof: capabilities.contains(CapabilityFlags::CLIENT_DEPRECATE_EOF),
            info: Vec::new(),
        })
    }

    /// The server's own words, such as `10.11.14-MariaDB-0+deb12u2`.
    pub fn server_version(&self) -> &str {
        &self.server_version
    }

    /// The server's number for this connection, as in `KILL 42`.
    pub fn connection_id(&self) -> u32 {
        self.connection_id
    }

    /// Whether the connection is encrypted.
    pub fn tls(&self) -> bool {
        self.channel.transport.is_tls()
    }

    /// Runs a statement and reads all its results, counting their rows but keeping none.
    pub async fn query(&mut self, sql: &[u8]) -> Result<Outcome, Error> {
        self.command(COM_QUERY, sql).await?;
        self.skim().await
    }

    /// Asks whether the server is still there.
    pub async fn ping(&mut self) -> Result<(), Error> {
        self.command(COM_PING, b"").await?;
        self.skim().await.map(drop)
    }

    /// Takes leave of the server and closes.
    pub async fn close(mut self) -> Result<(), Error> {
        self.command(COM_QUIT, b"").await
    }

    async fn command(&mut self, command: u8, argument: &[u8]) -> Result<(), Error> {
        self.channel.packets.set_sequence(0);
        packets::begin(&mut self.channel.out);
        self.channel.out.push(command);
        self.channel.out.extend_from_slice(argument);
        self.channel.send("sending a statement").await
    }

    async fn skim(&mut self) -> Result<Outcome, Error> {
        let mut skim = Skim::new(self.deprecate_eof);
        loop {
            self.channel.receive("waiting for the answer").await?;
            match skim.step(&mut self.channel.packets, &mut self.info)? {
                Step::More => {}
                Step::Done(outcome) => return Ok(outcome),
                Step::FileRequest => {
                    return Err(Error::Malformed {
                        what: "file request",
                    });
                }
            }
        }
    }
}

async fn connect(address: &Address) -> io::Result<Stream> {
    match address {
        Address::Unix(path) => Stream::connect_unix(path).await,
        Address::Tcp { host, port } => {
            let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
            for address in resolve(host, *port)? {
                match Stream::connect_tcp(address).await {
                    Ok(stream) => return Ok(stream),
                    Err(error) => last = error,
                }
            }
            Err(last)
        }
    }
}

fn resolve(host: &str, port: u16) -> io::Result<impl Iterator<Item = SocketAddr>> {
    (host, port).to_socket_addrs()
}
