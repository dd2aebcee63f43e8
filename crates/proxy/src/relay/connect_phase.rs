//! The first phase of a session, connecting: a backend, and its greeting.

use std::sync::Arc;

use protocol::relay::{ServerGreeting, capability, old_error_packet};
use reactor::Stream;

use super::{
    account::{FIRST_METHOD, nonce},
    client::{Client, address},
    login_phase::LoginPhase,
    session_end::SessionEnd,
    sides::Sides,
};
use crate::{
    Address, BackendState, Decision, Level, Peer,
    backends::Use,
    link::{Link, Offer},
    unreset_state::{Fresh, Kind},
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

/// How a connection to a backend failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    #[error("timed out")]
    TimedOut,
    #[error("{0}")]
    Refused(String),
}

/// A session that has no server yet.
pub(super) struct ConnectPhase<'a> {
    pub(super) client: &'a mut Client,
    pub(super) server: &'a mut Option<Link>,
}

impl<'a> ConnectPhase<'a> {
    /// Connects a backend and greets the client.
    pub(super) async fn connect(mut self) -> Result<LoginPhase<'a>, SessionEnd> {
        self.client.thread.pool.ask_for(&self.client.session);
        let offered = match self.client.hooks.connect_server(&self.client.session) {
            Decision::Answer(packets) => self.greet_without_server(packets).await?,
            decision => {
                self.have_server(decision).await?;
                self.greet().await?
            }
        };
        Ok(LoginPhase {
            client: self.client,
            server: self.server,
            offered,
        })
    }

    /// Takes an idle connection if a hook wants that, else opens one.
    async fn have_server(&mut self, decision: Decision) -> Result<(), SessionEnd> {
        match decision {
            Decision::Ignore => {
                if self.exchanges_idle() {
                    if self.give_idle_up() {
                        return self.open_backend().await;
                    }
                } else if self.take_idle_for_login().await {
                    return Ok(());
                }
                self.client.log(
                    Level::Critical,
                    "(connect_server) there is no idle connection to the chosen backend; a new one is opened",
                );
            }
            Decision::PassOn => {}
            other => self.client.not_here("connect_server", &other),
        }
        self.open_backend().await
    }

    /// The client is greeted by a hook's packets; there is no server. Returns the capabilities that it was offered.
    async fn greet_without_server(&mut self, mut packets: Vec<Vec<u8>>) -> Result<u64, SessionEnd> {
        let greeting = packets
            .first()
            .and_then(|first| ServerGreeting::parse(first.clone()).ok());
        let Some(mut greeting) = greeting else {
            self.client.answer(&packets).await?;
            return match packets.last().and_then(|packet| packet.first()) {
                Some(0xff) | None => Err(SessionEnd::Closed),
                Some(_) => Ok(0),
            };
        };
        greeting.offer(greeting.capabilities & !OF_EACH_SIDE | self.own_offers());
        self.client.session.borrow_mut().client.scramble_buffer = greeting.nonce;
        packets[0] = greeting.payload;
        self.client.answer(&packets[..1]).await?;
        self.client.answer(&packets[1..]).await?;
        Ok(greeting.capabilities)
    }

    /// What the proxy itself offers to clients.
    fn own_offers(&self) -> u64 {
        let side = &self.client.thread.settings.client_side;
        let offer = |is_offered: bool, flag: u64| if is_offered { flag } else { 0 };
        offer(side.tls.is_some(), capability::SSL) | offer(side.compresses, capability::COMPRESS)
    }

    /// Connects the backend that a hook chose, or the one with the fewest clients, until one greets. If its greeting is an
    /// error, the client gets it and the session ends.
    async fn open_backend(&mut self) -> Result<(), SessionEnd> {
        let backends = Arc::clone(&self.client.thread.settings.backends);
        let (mut last, mut tried) = (None, Vec::new());
        self.client.session.borrow_mut().left = None;
        loop {
            let chosen = self.client.session.borrow().backend;
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
                return Err(self.client.refuse_with(packet, text.to_owned()).await);
            };
            let place = used.place();
            let backend = &backends.0[place];
            tried.push(place);
            let failure = match self.client.open(&backend.address).await {
                Ok(stream) => {
                    let link = self.server.insert(self.client.thread.link(stream, used));
                    match Sides::new(self.client, link).hear_greeting().await? {
                        Ok(is_greeting) => {
                            backend.set_state(BackendState::Up);
                            self.client.session.borrow_mut().backend = Some(place);
                            return is_greeting.then_some(()).ok_or(SessionEnd::Closed);
                        }
                        Err(failure) => failure,
                    }
                }
                Err(failure) => failure,
            };
            *self.server = None;
            backend.failed(reactor::now());
            let text = format!("backend {} is DOWN: {failure}", backend.address);
            self.client.log(Level::Warning, &text);
            last = Some(failure);
        }
    }

    /// Passes the server's greeting on, or that of the connection's own login if it comes from the pool. Returns the
    /// capabilities that the client was offered.
    async fn greet(&mut self) -> Result<u64, SessionEnd> {
        let Some(server) = &self.server else {
            return Err(SessionEnd::ServerLeft);
        };
        let mut greeting = server.greeting.clone();
        greeting.offer(greeting.capabilities | self.own_offers());
        if self.client.thread.settings.account.is_some() {
            greeting.challenge(nonce(), FIRST_METHOD);
        }
        {
            let mut session = self.client.session.borrow_mut();
            session.server = Some(server.peer.clone());
            session.left = None;
            session.client.scramble_buffer = greeting.nonce;
            session.client.mysqld_version = greeting.version;
        }
        self.client.thread.pool.ask_for(&self.client.session);
        match self.client.hooks.read_handshake(&self.client.session) {
            // The deprecated name of the same.
            Decision::Answer(packets) => {
                self.client.answer(&packets).await?;
                return Err(SessionEnd::Closed);
            }
            Decision::PassOn => {}
            other => self.client.not_here("read_handshake", &other),
        }
        self.client.answer(&[greeting.payload]).await?;
        Ok(greeting.capabilities)
    }
}

impl Client {
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
}

impl Sides<'_> {
    /// The greeting of a connection that was opened; a failure where the backend closes it first, or says nothing.
    async fn hear_greeting(&mut self) -> Result<Result<bool, Failure>, SessionEnd> {
        let limit = self.client.thread.settings.connect_timeout;
        match reactor::timeout(limit, self.receive_greeting()).await {
            Ok(Ok(is_greeting)) => Ok(Ok(is_greeting)),
            Ok(Err(error @ (SessionEnd::ServerLeft | SessionEnd::Server(_)))) => {
                Ok(Err(Failure::Refused(error.to_string())))
            }
            Ok(Err(error)) => Err(error),
            Err(reactor::Elapsed) => Ok(Err(Failure::TimedOut)),
        }
    }

    /// Receives the greeting; false if it was an error, which the client has got.
    async fn receive_greeting(&mut self) -> Result<bool, SessionEnd> {
        let payload = self.server_packet().await?;
        if payload.first() == Some(&0xff) {
            self.client.answer(&[payload]).await?;
            return Ok(false);
        }
        let reads_queries = self.client.reads_queries;
        match self.server.know_greeting(payload, reads_queries) {
            Ok(offer) => self.server.offer = Some(offer),
            Err(error) => {
                let text = format!("(proxy) the backend's greeting cannot be read: {error}");
                return Err(self.client.refuse(1105, "08S01", text).await);
            }
        }
        Ok(true)
    }
}

impl Link {
    /// Reads the greeting of a new connection.
    pub(super) fn know_greeting(
        &mut self,
        payload: Vec<u8>,
        reads_queries: bool,
    ) -> Result<Offer, protocol::Error> {
        let mut greeting = ServerGreeting::parse(payload.clone())?;
        let offer = Offer {
            greeting: payload,
            capabilities: greeting.capabilities & OF_EACH_SIDE,
        };
        let removed = NOT_RELAYED | if reads_queries { NOT_FOR_HOOKS } else { 0 };
        greeting.offer(greeting.capabilities & !removed);
        let peer = &mut self.peer;
        peer.mysqld_version = greeting.version;
        peer.thread_id = greeting.connection_id;
        peer.scramble_buffer.clone_from(&greeting.nonce);
        peer.auth_plugin_name.clone_from(&greeting.plugin);
        self.kind = Kind::of(&greeting);
        self.greeting = greeting;
        Ok(offer)
    }
}

impl crate::thread::EventThread {
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
            offer: Some(Offer::default()),
            capabilities: 0,
            peer: Peer::new(src, dst),
            session: 0,
            kind: Kind::default(),
            fresh: Fresh::No,
            is_spoiled: false,
            has_prepared_use: false,
        }
    }
}
