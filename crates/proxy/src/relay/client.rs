//! The client's side of a session, and what the session has from its beginning to its end.

use std::{cell::RefCell, io, rc::Rc, time::Duration};

use protocol::relay::{error_packet, put_packet};
use reactor::{EndAddress, Stream};

use super::session_end::SessionEnd;
use crate::{
    Address, Decision, Hooks, Level, NoHooks, Peer, Session, SharedSession,
    link::Link,
    thread::EventThread,
    watch::{Either, SessionDeadline, TooLong, Wait, first_of},
    wire::Wire,
};

/// Unread bytes of a packet of control: greetings, rounds of a login.
pub(super) const CONTROL_MAX: usize = 1 << 20;
/// Bytes that a session passes on before other sessions of its thread have their turn.
const BYTES_AT_A_TIME: usize = 1 << 20;
/// What an answer of the proxy's own counts at least among those bytes: each takes a turn of the hooks, too.
const ANSWER_AT_LEAST: usize = 4 << 10;
/// Time that a client has to read the last words of a server.
const LINGER: Duration = Duration::from_secs(2);

/// The client of a session, whichever phase the session is in.
pub(super) struct Client {
    pub(super) thread: Rc<EventThread>,
    pub(super) session: SharedSession,
    pub(super) hooks: Box<dyn Hooks>,
    /// Whether a hook gets the commands.
    pub(super) reads_queries: bool,
    /// The session's number, from 1.
    pub(super) number: u64,
    pub(super) wire: Wire,
    pub(super) watch: Rc<SessionDeadline>,
    /// The number of the next packet to the client.
    pub(super) next: u8,
    /// Bytes passed on since other sessions had their turn.
    passed: usize,
}

impl Client {
    /// A client that has connected; `None` if it has left already.
    pub(super) fn new(thread: &Rc<EventThread>, service: usize, stream: Stream) -> Option<Self> {
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
            watch: thread.waits.watch(trouble.filter(|it| it.limits_bytes())),
            thread: Rc::clone(thread),
            session,
            wire: Wire::new(stream),
            next: 0,
            passed: 0,
        })
    }

    /// Logs a line, cut: it may hold texts of a client or a server.
    pub(super) fn log(&self, level: Level, text: &str) {
        self.thread.log.write_of_peer(level, text);
    }

    pub(super) async fn send(&mut self, bytes: &[u8]) -> Result<(), SessionEnd> {
        send(&mut self.wire, bytes, &self.watch, SessionEnd::of_client).await
    }

    /// Sends packets to the client, numbered from the next number.
    pub(super) async fn answer(&mut self, packets: &[Vec<u8>]) -> Result<(), SessionEnd> {
        let mut out = Vec::new();
        for packet in packets {
            self.next = put_packet(packet, self.next, &mut out);
        }
        self.send(&out).await?;
        self.let_others(out.len().max(ANSWER_AT_LEAST)).await;
        Ok(())
    }

    /// Sends an error to the client and ends the session.
    pub(super) async fn refuse(&mut self, number: u16, state: &str, text: String) -> SessionEnd {
        let packet = error_packet(number, state, &text);
        self.refuse_with(packet, text).await
    }

    /// Sends an error to the client and ends the session, for a reason in the log.
    pub(super) async fn refuse_with(&mut self, packet: Vec<u8>, why: String) -> SessionEnd {
        match self.answer(&[packet]).await {
            Ok(()) => SessionEnd::Refused(why),
            Err(ended) => ended,
        }
    }

    /// Receives from the client, or ends when the server leaves.
    pub(super) async fn receive(
        &mut self,
        server: Option<&mut Link>,
        limit: usize,
    ) -> Result<(), SessionEnd> {
        loop {
            let other = server.as_ref().map(|server| &server.wire.stream);
            match reading(&self.watch, self.wire.readable(), other).await? {
                Some(ready) => ready.map_err(SessionEnd::of_client)?,
                // What it said before goes to the client first.
                None => return Err(self.last_words(server, SessionEnd::ServerLeft).await),
            }
            if self
                .wire
                .try_receive(limit)
                .map_err(SessionEnd::of_client)?
            {
                return Ok(());
            }
        }
    }

    /// The client's next packet if it is there, and its number, which the answer continues.
    pub(super) fn take_packet(&mut self) -> Option<(Vec<u8>, u8)> {
        let (payload, number) = self.wire.packet()?;
        self.next = number.wrapping_add(1);
        Some((payload, number))
    }

    /// The client's next packet, and its number, which the answer continues.
    pub(super) async fn packet(
        &mut self,
        mut server: Option<&mut Link>,
    ) -> Result<(Vec<u8>, u8), SessionEnd> {
        loop {
            if let Some(packet) = self.take_packet() {
                return Ok(packet);
            }
            self.receive(server.as_deref_mut(), CONTROL_MAX).await?;
        }
    }

    /// What the server said before it broke the connection off, such as that a packet is too large.
    pub(super) async fn last_words(
        &mut self,
        server: Option<&mut Link>,
        error: SessionEnd,
    ) -> SessionEnd {
        if let Some(server) = server
            && (matches!(server.wire.try_receive(CONTROL_MAX), Ok(true))
                || server.wire.has_unread())
        {
            let words = server.wire.unread().to_vec();
            server.wire.consume(words.len());
            if let Err(ended) = self.send(&words).await {
                return ended;
            }
            self.linger().await;
        }
        error
    }

    /// Takes what the client still sends: closing a socket with unread data would take the last words back.
    async fn linger(&mut self) {
        if self.wire.stream.finish_writing().is_err() {
            return;
        }
        let all = async {
            loop {
                let unread = self.wire.unread().len();
                self.wire.consume(unread);
                let ready = self.wire.readable().await;
                if ready.is_err() || self.wire.try_receive(CONTROL_MAX).is_err() {
                    return;
                }
            }
        };
        // The session ends either way.
        let _ = reactor::timeout(LINGER, all).await;
    }

    /// After bytes were passed on: lets other sessions have their turn now and then, also while both peers are always
    /// ready.
    pub(super) async fn let_others(&mut self, count: usize) {
        self.passed += count;
        if self.passed >= BYTES_AT_A_TIME {
            self.passed = 0;
            reactor::yield_now().await;
        }
    }

    /// Lets a command wait as a hook wished, or ends when the client leaves meanwhile.
    pub(super) async fn wait(&self, delay: Duration) -> Result<(), SessionEnd> {
        let sleep = reactor::sleep(delay);
        match first_of(sleep, self.wire.stream.closed()).await {
            Either::A(()) => Ok(()),
            Either::B(_) => Err(SessionEnd::ClientLeft),
        }
    }

    /// A decision other than one that has a meaning here.
    pub(super) fn not_here(&self, hook: &str, decision: &Decision) {
        let name = match decision {
            Decision::PassOn => "nothing",
            Decision::SendQueue => "proxy.PROXY_SEND_QUERY",
            Decision::Answer(_) => "proxy.PROXY_SEND_RESULT",
            Decision::Ignore => "proxy.PROXY_IGNORE_RESULT",
        };
        let text = format!("({hook}) {name} has no meaning here and was ignored");
        self.log(Level::Critical, &text);
    }
}

/// Sends bytes within the limit of waiting.
pub(super) async fn send(
    wire: &mut Wire,
    bytes: &[u8],
    watch: &SessionDeadline,
    ended: fn(io::Error) -> SessionEnd,
) -> Result<(), SessionEnd> {
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
        Err(TooLong) => Err(SessionEnd::WriteTimeout),
    }
}

/// Waits within the limit of reading; `None` if the other side closes its connection first.
pub(super) async fn reading<F: Future>(
    watch: &SessionDeadline,
    future: F,
    other: Option<&Stream>,
) -> Result<Option<F::Output>, SessionEnd> {
    let first = match other {
        Some(other) => {
            watch
                .within(Wait::Read, first_of(future, other.closed()))
                .await
        }
        None => watch.within(Wait::Read, future).await.map(Either::A),
    };
    match first {
        Ok(Either::A(output)) => Ok(Some(output)),
        Ok(Either::B(_)) => Ok(None),
        Err(TooLong) => Err(SessionEnd::ReadTimeout),
    }
}

pub(super) fn address(end: EndAddress) -> Address {
    match end {
        EndAddress::Tcp(address) => Address::Tcp(address),
        EndAddress::Unix(path) => Address::Unix(path),
    }
}
