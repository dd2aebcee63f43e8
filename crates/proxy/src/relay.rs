//! One client's session: straight-line code from the connection to its end.

mod account;
mod beside;
mod changes;
mod commands;
mod connect;
mod detour;
mod ended;
mod injection;
mod login;
mod marks;
mod rounds;
mod sides;
mod swap;

use std::{cell::RefCell, io, rc::Rc, time::Duration};

use protocol::relay::{ClientLogin, put_packet};
use reactor::{EndAddress, Stream};

use crate::{
    Address, Decision, Hooks, Level, NoHooks, Peer, Session, SharedSession,
    faults::{Fate, Fates},
    link::Link,
    thread::EventThread,
    watch::{First, Wait, Watch, first_of},
    wire::Wire,
};
use ended::Ended;
use marks::Marks;

/// Unread bytes of a packet of control: greetings, rounds of a login.
const CONTROL_MAX: usize = 1 << 20;
/// Unread bytes of a command that a hook gets: the protocol's own limit is 1 GiB.
const COMMAND_MAX: usize = (1 << 30) + (64 << 10);

/// Bytes that a session passes on before other sessions of its thread have their turn.
const BYTES_AT_A_TIME: usize = 1 << 20;
/// What an answer of the proxy's own counts at least among those bytes: each takes a turn of the hooks, too.
const ANSWER_AT_LEAST: usize = 4 << 10;
/// Time that a client has to read the last words of a server.
const LINGER: Duration = Duration::from_secs(2);

/// One client's session.
pub(crate) struct Relay {
    thread: Rc<EventThread>,
    session: SharedSession,
    hooks: Box<dyn Hooks>,
    /// Whether a hook gets the commands.
    reads_queries: bool,
    /// The session's number, from 1.
    number: u64,
    client: Wire,
    server: Option<Link>,
    watch: Rc<Watch>,
    /// The capabilities that the client was offered.
    offered: u64,
    /// The client's login, once it is known.
    login: Option<Box<ClientLogin>>,
    /// Whether the client's connection is compressed after the login.
    client_compresses: bool,
    /// The number of the next packet to the client.
    next: u8,
    /// Faults on purpose.
    fates: Option<Fates>,
    /// Bytes passed on since other sessions had their turn.
    passed: usize,
    /// The place of the command on its way among the changes, if it is changed.
    changed: Option<usize>,
    /// No command is on its way: the server's connection may be kept for other sessions.
    is_idle: bool,
    /// The client has the answer to its command, and commands of a hook follow.
    is_answered: bool,
    /// What the command on its way may change.
    marks: Marks,
    /// The user by which the pool knows the session.
    known_user: Option<Vec<u8>>,
}

/// Serves one client until it leaves.
pub(crate) async fn serve(thread: Rc<EventThread>, service: usize, stream: Stream) {
    let Some(mut relay) = Relay::new(&thread, service, stream) else {
        // The client is gone already.
        return;
    };
    thread.metrics.sessions_opened.add(1);
    let ended = relay.run().await;
    thread.metrics.sessions_closed.add(1);
    thread.pool.ask_for(&relay.session);
    relay.hooks.disconnect_client(&relay.session);
    relay.put_away();
    if let Err(ended) = ended {
        let level = if ended.is_usual() {
            Level::Debug
        } else {
            Level::Warning
        };
        if thread.log.takes(level) {
            let session = relay.session.borrow();
            let text = format!("session of {}: {ended}", session.client.src);
            if session.form.is_some() {
                thread.log.write_of_peer(level, &text);
            } else {
                thread.log.write_of_stranger(level, &text);
            }
        }
    }
}

impl Relay {
    fn new(thread: &Rc<EventThread>, service: usize, stream: Stream) -> Option<Self> {
        let src = address(stream.peer_address().ok()?);
        let dst = address(stream.local_address().ok()?);
        let number = thread.next_number();
        let session = Session::new(number, Peer::new(src, dst));
        let session = Rc::new(RefCell::new(session));
        thread.pool.ask_for(&session);
        let hooks = match thread.maker(service) {
            Some(maker) => maker.hooks(&session),
            None => Box::new(NoHooks),
        };
        let trouble = thread.trouble.as_ref();
        Some(Self {
            reads_queries: hooks.reads_queries(),
            hooks,
            number,
            fates: trouble.map(|trouble| Fates::of(trouble, number)),
            watch: thread.waits.watch(trouble.filter(|it| it.limits_bytes())),
            thread: Rc::clone(thread),
            session,
            client: Wire::new(stream),
            server: None,
            offered: 0,
            login: None,
            client_compresses: false,
            next: 0,
            passed: 0,
            changed: None,
            is_idle: false,
            is_answered: false,
            marks: Marks::default(),
            known_user: None,
        })
    }

    async fn run(&mut self) -> Result<(), Ended> {
        self.connect().await?;
        self.log_in().await?;
        self.commands().await
    }

    /// After the client has left: a hook may have asked to keep the server's connection.
    fn put_away(&mut self) {
        let is_kept = self.session.borrow().backend.is_none();
        match self.server.take() {
            Some(link) if is_kept && self.is_idle => self.park(link),
            _ => {}
        }
        let pool = &self.thread.pool;
        pool.user_changed(self.known_user.take(), None);
        pool.session_ended(self.number, |place| self.thread.idle_max(place));
    }

    /// Logs a line, cut: it may hold texts of a client or a server.
    fn log(&self, level: Level, text: &str) {
        self.thread.log.write_of_peer(level, text);
    }

    /// Sends bytes to the client.
    async fn send_to_client(&mut self, bytes: &[u8]) -> Result<(), Ended> {
        send(&mut self.client, bytes, &self.watch, Ended::of_client).await
    }

    /// Sends packets to the client, numbered from the next number.
    async fn answer(&mut self, packets: &[Vec<u8>]) -> Result<(), Ended> {
        let mut out = Vec::new();
        for packet in packets {
            self.next = put_packet(packet, self.next, &mut out);
        }
        self.send_to_client(&out).await?;
        self.let_others(out.len().max(ANSWER_AT_LEAST)).await;
        Ok(())
    }

    /// Sends an error to the client and ends the session.
    async fn refuse(&mut self, packet: Vec<u8>, why: String) -> Ended {
        match self.answer(&[packet]).await {
            Ok(()) => Ended::Refused(why),
            Err(ended) => ended,
        }
    }

    /// Receives from the server, or ends when the client leaves.
    async fn receive_from_server(&mut self) -> Result<(), Ended> {
        let Some(server) = &mut self.server else {
            return Err(Ended::ServerLeft);
        };
        loop {
            let readable = server.wire.readable();
            let ready = if self.is_answered {
                // What a hook still asks of the server does not need the client.
                self.watch.within(Wait::Read, readable).await.map(First::A)
            } else {
                let wait = first_of(readable, self.client.stream.closed());
                self.watch.within(Wait::Read, wait).await
            };
            match ready {
                Ok(First::A(ready)) => ready.map_err(Ended::of_server)?,
                Ok(First::B(_)) => return Err(Ended::ClientLeft),
                Err(late) => return Err(Ended::of_wait(Wait::Read, late)),
            }
            if server
                .wire
                .try_receive(CONTROL_MAX)
                .map_err(Ended::of_server)?
            {
                return Ok(());
            }
        }
    }

    /// Receives from the client, or ends when the server leaves.
    async fn receive_from_client(&mut self, limit: usize) -> Result<(), Ended> {
        loop {
            let readable = self.client.readable();
            let readable = match &self.server {
                Some(server) => {
                    let wait = first_of(readable, server.wire.stream.closed());
                    self.watch.within(Wait::Read, wait).await
                }
                None => self.watch.within(Wait::Read, readable).await.map(First::A),
            };
            match readable {
                Ok(First::A(ready)) => ready.map_err(Ended::of_client)?,
                // What it said before goes to the client first.
                Ok(First::B(_)) => return Err(self.last_words(Ended::ServerLeft).await),
                Err(late) => return Err(Ended::of_wait(Wait::Read, late)),
            }
            if self.client.try_receive(limit).map_err(Ended::of_client)? {
                return Ok(());
            }
        }
    }

    /// Receives from either side while both may speak; true if it was the server.
    async fn receive_from_either(&mut self) -> Result<bool, Ended> {
        let Some(server) = &mut self.server else {
            self.receive_from_client(CONTROL_MAX).await?;
            return Ok(false);
        };
        loop {
            let wait = first_of(self.client.readable(), server.wire.readable());
            match self.watch.within(Wait::Read, wait).await {
                Ok(First::A(ready)) => {
                    ready.map_err(Ended::of_client)?;
                    if self
                        .client
                        .try_receive(CONTROL_MAX)
                        .map_err(Ended::of_client)?
                    {
                        return Ok(false);
                    }
                }
                Ok(First::B(ready)) => {
                    ready.map_err(Ended::of_server)?;
                    if server
                        .wire
                        .try_receive(CONTROL_MAX)
                        .map_err(Ended::of_server)?
                    {
                        return Ok(true);
                    }
                }
                Err(late) => return Err(Ended::of_wait(Wait::Read, late)),
            }
        }
    }

    /// What the server said before it broke the connection off, such as that a packet is too large.
    async fn last_words(&mut self, error: Ended) -> Ended {
        if let Some(server) = &mut self.server
            && (matches!(server.wire.try_receive(CONTROL_MAX), Ok(true))
                || server.wire.has_unread())
        {
            let words = server.wire.unread().to_vec();
            server.wire.consume(words.len());
            if let Err(ended) = self.send_to_client(&words).await {
                return ended;
            }
            self.linger().await;
        }
        error
    }

    /// Takes what the client still sends: closing a socket with unread data would take the last words back.
    async fn linger(&mut self) {
        if self.client.stream.finish_writing().is_err() {
            return;
        }
        let all = async {
            loop {
                let unread = self.client.unread().len();
                self.client.consume(unread);
                let ready = self.client.readable().await;
                if ready.is_err() || self.client.try_receive(CONTROL_MAX).is_err() {
                    return;
                }
            }
        };
        // The session ends either way.
        let _ = reactor::timeout(LINGER, all).await;
    }

    /// After bytes were passed on: lets other sessions have their turn now and then, also while both peers are always
    /// ready.
    async fn let_others(&mut self, count: usize) {
        self.passed += count;
        if self.passed >= BYTES_AT_A_TIME {
            self.passed = 0;
            reactor::yield_now().await;
        }
    }

    /// Lets a command wait, or ends the session, where faults were asked for.
    async fn meet_fate(&mut self) -> Result<(), Ended> {
        let Some(fates) = &mut self.fates else {
            return Ok(());
        };
        match fates.next(reactor::now()) {
            Fate::Sent(at) => reactor::sleep_until(at).await,
            Fate::Lost => return Err(Ended::Closed),
        }
        Ok(())
    }

    /// Lets a command wait as a hook wished, or ends when the client leaves meanwhile.
    async fn wait(&self, delay: Duration) -> Result<(), Ended> {
        let sleep = reactor::sleep(delay);
        match first_of(sleep, self.client.stream.closed()).await {
            First::A(()) => Ok(()),
            First::B(_) => Err(Ended::ClientLeft),
        }
    }

    /// A decision other than one that has a meaning here.
    fn not_here(&self, hook: &str, decision: &Decision) {
        let name = match decision {
            Decision::PassOn => "nothing",
            Decision::SendQueue => "proxy.PROXY_SEND_QUERY",
            Decision::Answer(_) => "proxy.PROXY_SEND_RESULT",
            Decision::Ignore => "proxy.PROXY_IGNORE_RESULT",
        };
        self.log(
            Level::Critical,
            &format!("({hook}) {name} has no meaning here and was ignored"),
        );
    }
}

/// Sends bytes within the limit of waiting.
async fn send(
    wire: &mut Wire,
    bytes: &[u8],
    watch: &Watch,
    ended: fn(io::Error) -> Ended,
) -> Result<(), Ended> {
    if let Some(trouble) = watch.trouble() {
        reactor::sleep_until(trouble.bytes_due(reactor::now(), bytes.len())).await;
    }
    // Nearly everything fits into the socket at once.
    let (stream, bytes) = wire.outgoing(bytes).map_err(ended)?;
    let sent = stream.try_write(bytes).map_err(ended)?;
    if sent == bytes.len() {
        return Ok(());
    }
    let rest = stream.write_all(&bytes[sent..]);
    match watch.within(Wait::Write, rest).await {
        Ok(written) => written.map_err(ended),
        Err(late) => Err(Ended::of_wait(Wait::Write, late)),
    }
}

fn address(end: EndAddress) -> Address {
    match end {
        EndAddress::Tcp(address) => Address::Tcp(address),
        EndAddress::Unix(path) => Address::Unix(path),
    }
}
