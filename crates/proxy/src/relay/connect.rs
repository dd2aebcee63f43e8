//! The beginning of a session: a backend, and its greeting.

use std::sync::Arc;

use protocol::relay::{ServerGreeting, capability, error_packet, old_error_packet, put_packet};
use reactor::Stream;

use super::{CONTROL_MAX, Ended, Relay, address, send};
use crate::{
    Address, BackendState, Decision, Level, Peer,
    backends::Use,
    link::Link,
    survivors::{Fresh, Kind},
    wire::Wire,
};

/// Capabilities that the proxy does not relay: the bytes would not be readable, or ambiguous.
const NOT_RELAYED: u64 = capability::SSL
    | capability::COMPRESS
    | capability::ZSTD
    | capability::OPTIONAL_METADATA
    | capability::MARIADB_MULTI;
/// Capabilities that change the form of what hooks read.
const NOT_FOR_HOOKS: u64 = capability::QUERY_ATTRIBUTES
    | capability::MARIADB_CACHE_METADATA
    | capability::MARIADB_EXTENDED_METADATA;

/// What both sides of the proxy may do on their own.
const OF_EACH_SIDE: u64 = capability::SSL | capability::COMPRESS;

/// The method that the greeting proposes for the proxy's own account: every client knows it or asks for another one, and with it MariaDB's clients
/// check the certificate.
pub(super) const FIRST_METHOD: &str = "mysql_native_password";

/// How a connection to a backend failed.
#[derive(Debug)]
pub(super) enum Failure {
    TimedOut,
    Refused(String),
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::TimedOut => f.write_str("timed out"),
            Self::Refused(why) => f.write_str(why),
        }
    }
}

impl Relay {
    /// Connects a backend and greets the client.
    pub(super) async fn connect(&mut self) -> Result<(), Ended> {
        self.thread.pool.ask_for(&self.session);
        let decision = self.hooks.connect_server(&self.session);
        match decision {
            Decision::Answer(packets) => return self.greet_without_server(&packets).await,
            Decision::Ignore => {
                if self.exchanges_idle() {
                    if self.give_idle_up() {
                        return self.connect_new().await;
                    }
                } else if self.take_idle_for_login().await {
                    return self.greet().await;
                }
                self.log(
                    Level::Critical,
                    "(connect_server) there is no idle connection to the chosen backend; a new one is opened",
                );
            }
            Decision::PassOn => {}
            other @ Decision::SendQueue => self.not_here("connect_server", &other),
        }
        self.connect_new().await
    }

    /// Opens a connection, and greets the client.
    async fn connect_new(&mut self) -> Result<(), Ended> {
        if !self.open_backend().await? {
            return Err(Ended::Closed);
        }
        self.greet().await
    }

    /// The client is greeted by a hook's packets; there is no server.
    async fn greet_without_server(&mut self, packets: &[Vec<u8>]) -> Result<(), Ended> {
        let greeting = packets
            .first()
            .and_then(|first| ServerGreeting::parse(first.clone()).ok());
        let Some(mut greeting) = greeting else {
            self.answer(packets).await?;
            return match packets.last().and_then(|packet| packet.first()) {
                Some(0xff) | None => Err(Ended::Closed),
                Some(_) => Ok(()),
            };
        };
        greeting.offer(greeting.capabilities & !OF_EACH_SIDE | self.own_offers());
        self.offered = greeting.capabilities;
        self.session.borrow_mut().client.scramble_buffer = greeting.nonce;
        self.answer(&[greeting.payload]).await?;
        self.answer(&packets[1..]).await
    }

    /// What the proxy itself offers to clients.
    fn own_offers(&self) -> u64 {
        let side = &self.thread.settings.client_side;
        let offer = |is_offered: bool, flag: u64| if is_offered { flag } else { 0 };
        offer(side.tls.is_some(), capability::SSL) | offer(side.compresses, capability::COMPRESS)
    }

    /// Connects the backend that a hook chose, or the one with the fewest clients, until one greets; false if its greeting
    /// is an error, which the client has got.
    async fn open_backend(&mut self) -> Result<bool, Ended> {
        let backends = Arc::clone(&self.thread.settings.backends);
        let (mut last, mut tried) = (None, Vec::new());
        self.session.borrow_mut().left = None;
        loop {
            let chosen = self.session.borrow().backend;
            let place = match (chosen, &last) {
                (Some(place), None) => Some(place),
                _ => backends.least_used(reactor::now(), &tried),
            };
            let Some(used) = place.and_then(|place| Use::begin(&backends, place)) else {
                let text = match last {
                    Some(Failure::TimedOut) => "backend timed out",
                    _ => "(proxy) all backends are down",
                };
                let packet = old_error_packet(1105, text);
                return Err(self.refuse(packet, text.to_owned()).await);
            };
            let place = used.place();
            let backend = &backends.0[place];
            tried.push(place);
            let failure = match self.open(&backend.address).await {
                Ok(stream) => {
                    self.server = Some(self.thread.link(stream, used));
                    match self.hear_greeting().await? {
                        Ok(is_greeting) => {
                            backend.set_state(BackendState::Up);
                            self.session.borrow_mut().backend = Some(place);
                            return Ok(is_greeting);
                        }
                        Err(failure) => failure,
                    }
                }
                Err(failure) => failure,
            };
            self.server = None;
            backend.failed(reactor::now());
            let text = format!("backend {} is DOWN: {failure}", backend.address);
            self.thread.log.write_of_peer(Level::Warning, &text);
            last = Some(failure);
        }
    }

    /// The greeting of a connection that was opened; a failure where the backend closes it first, or says nothing.
    async fn hear_greeting(&mut self) -> Result<Result<bool, Failure>, Ended> {
        let limit = self.thread.settings.connect_timeout;
        match reactor::timeout(limit, self.receive_greeting()).await {
            Ok(Ok(is_greeting)) => Ok(Ok(is_greeting)),
            Ok(Err(error @ (Ended::ServerLeft | Ended::Server(_)))) => {
                Ok(Err(Failure::Refused(error.to_string())))
            }
            Ok(Err(error)) => Err(error),
            Err(reactor::Elapsed) => Ok(Err(Failure::TimedOut)),
        }
    }

    pub(super) async fn open(&self, address: &Address) -> Result<Stream, Failure> {
        let connect = async {
            match address {
                Address::Tcp(address) => Stream::connect_tcp(*address).await,
                Address::Unix(path) => Stream::connect_unix(path).await,
            }
        };
        match reactor::timeout(self.thread.settings.connect_timeout, connect).await {
            Ok(Ok(stream)) => Ok(stream),
            Ok(Err(error)) => Err(Failure::Refused(error.to_string())),
            Err(reactor::Elapsed) => Err(Failure::TimedOut),
        }
    }

    /// Passes the server's greeting on, or that of the connection's own login if it comes from the pool.
    async fn greet(&mut self) -> Result<(), Ended> {
        let Some(server) = &self.server else {
            return Err(Ended::ServerLeft);
        };
        let mut greeting = server.greeting.clone();
        greeting.offer(greeting.capabilities | self.own_offers());
        if self.thread.settings.account.is_some() {
            greeting.challenge(nonce(), FIRST_METHOD);
        }
        self.offered = greeting.capabilities;
        {
            let mut session = self.session.borrow_mut();
            session.server = Some(server.peer.clone());
            session.left = None;
            session.client.scramble_buffer = greeting.nonce;
            session.client.mysqld_version = greeting.version;
        }
        self.thread.pool.ask_for(&self.session);
        match self.hooks.read_handshake(&self.session) {
            // The deprecated name of the same.
            Decision::Answer(packets) => {
                self.answer(&packets).await?;
                return Err(Ended::Closed);
            }
            Decision::PassOn => {}
            other => self.not_here("read_handshake", &other),
        }
        self.answer(&[greeting.payload]).await
    }

    /// Receives the greeting; false if it was an error, which the client has got.
    async fn receive_greeting(&mut self) -> Result<bool, Ended> {
        let payload = self.server_packet().await?;
        if payload.first() == Some(&0xff) {
            self.answer(&[payload]).await?;
            return Ok(false);
        }
        let reads_queries = self.reads_queries;
        let Some(server) = &mut self.server else {
            return Err(Ended::ServerLeft);
        };
        if let Err(error) = server.know_greeting(payload, reads_queries) {
            let text = format!("(proxy) the backend's greeting cannot be read: {error}");
            let packet = error_packet(1105, "08S01", &text);
            return Err(self.refuse(packet, text).await);
        }
        Ok(true)
    }

    /// The server's next packet.
    pub(super) async fn server_packet(&mut self) -> Result<Vec<u8>, Ended> {
        loop {
            if let Some(server) = &mut self.server
                && let Some(whole) = server.wire.whole()
            {
                let payload = server.wire.payload(whole);
                server.wire.consume(whole.used);
                return Ok(payload);
            }
            self.receive_from_server().await?;
        }
    }

    /// The client's next packet, and its number.
    pub(super) async fn client_packet(&mut self) -> Result<(Vec<u8>, u8), Ended> {
        loop {
            if let Some(whole) = self.client.whole() {
                let payload = self.client.payload(whole);
                self.client.consume(whole.used);
                return Ok((payload, whole.number));
            }
            self.receive_from_client(CONTROL_MAX).await?;
        }
    }

    /// Sends a packet to the server.
    pub(super) async fn send_to_server(&mut self, payload: &[u8], number: u8) -> Result<(), Ended> {
        let Some(server) = &mut self.server else {
            return Err(Ended::ServerLeft);
        };
        let mut out = Vec::new();
        put_packet(payload, number, &mut out);
        if number == 0 {
            server.wire.begin_exchange();
        }
        send(&mut server.wire, &out, &self.watch, Ended::of_server).await
    }
}

impl Link {
    /// Reads the greeting of a new connection.
    pub(super) fn know_greeting(
        &mut self,
        payload: Vec<u8>,
        reads_queries: bool,
    ) -> Result<(), protocol::Error> {
        self.as_received.clone_from(&payload);
        let mut greeting = ServerGreeting::parse(payload)?;
        self.offers = greeting.capabilities & OF_EACH_SIDE;
        let removed = if reads_queries {
            NOT_RELAYED | NOT_FOR_HOOKS
        } else {
            NOT_RELAYED
        };
        greeting.offer(greeting.capabilities & !removed);
        let peer = &mut self.peer;
        peer.mysqld_version = greeting.version;
        peer.thread_id = greeting.connection_id;
        peer.scramble_buffer.clone_from(&greeting.nonce);
        peer.auth_plugin_name.clone_from(&greeting.plugin);
        self.kind = Kind::of(&greeting);
        self.greeting = greeting;
        Ok(())
    }
}

/// A challenge: 20 bytes that are neither zero nor beyond ASCII.
pub(super) fn nonce() -> [u8; 20] {
    let mut nonce = [0; 20];
    let got = rustix::rand::getrandom(&mut nonce, rustix::rand::GetRandomFlags::empty());
    got.expect("the kernel has random bytes for every program that runs");
    nonce.map(|byte| byte % 126 + 1)
}

impl crate::thread::EventThread {
    /// A new connection to a backend.
    pub(super) fn link(&self, stream: Stream, used: Use) -> Link {
        let dst = used.backend().address.clone();
        let src = match stream.local_address() {
            Ok(end) => address(end),
            Err(_) => Address::Unix(std::path::PathBuf::new()),
        };
        Link {
            wire: Wire::new(stream),
            place: used.place(),
            used: Some(used),
            greeting: ServerGreeting {
                payload: Vec::new(),
                version: 0,
                connection_id: 0,
                capabilities: 0,
                nonce: Vec::new(),
                plugin: Vec::new(),
            },
            as_received: Vec::new(),
            offers: 0,
            capabilities: 0,
            is_logged_in: false,
            peer: Peer::new(src, dst),
            session: 0,
            kind: Kind {
                is_mariadb: false,
                version: 0,
            },
            fresh: Fresh::No,
            is_spoiled: false,
            has_prepared_use: false,
        }
    }
}
