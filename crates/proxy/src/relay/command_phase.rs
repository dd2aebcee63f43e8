//! The last phase of a session: the commands of a client and their answers.

use protocol::relay::{AnswerKind, Begin, ClientLogin, com};

use super::{
    changes,
    client::{CONTROL_MAX, Client},
    command_effects::CommandEffects,
    session_end::SessionEnd,
    sides::Sides,
};
use crate::{
    Decision, Level,
    faults::{CommandFault, SessionFaults},
    link::Link,
    pool::UserCount,
    wire::{CompletePacket, HEADER},
};

/// Unread bytes of a command that a hook gets: the protocol's own limit is 1 GiB.
const COMMAND_MAX: usize = (1 << 30) + (64 << 10);

/// A session whose client has logged in.
pub(super) struct CommandPhase<'a> {
    pub(super) client: &'a mut Client,
    /// `None` while its connection is parked, and where a hook was the server so far.
    pub(super) server: &'a mut Option<Link>,
    /// `None` if a hook has answered the login; such a session never has a server.
    pub(super) login: Option<Login>,
    pub(super) fates: Option<SessionFaults>,
    /// The client has the answer to its command, and commands of a hook follow.
    pub(super) is_answered: bool,
}

/// A login that the proxy or a server has accepted.
pub(super) struct Login {
    pub(super) options: LoginOptions,
    /// The user by which the pool knows the session.
    pub(super) user: UserCount,
}

/// What a client wants of every connection that the proxy logs in for it.
#[derive(Debug, Clone, Copy)]
pub(super) struct LoginOptions {
    pub(super) capabilities: u64,
    /// The character set's number; 0 leaves it to the server.
    pub(super) charset: u16,
}

impl LoginOptions {
    pub(super) fn of(login: &ClientLogin) -> Self {
        Self {
            capabilities: login.capabilities,
            charset: login.charset,
        }
    }
}

/// The beginning of a command: the length of its first part, its number, and the form of its answer.
struct Head {
    length: usize,
    command: Option<u8>,
    kind: AnswerKind,
}

impl Head {
    /// The beginning of the command that begins these bytes.
    fn of(unread: &[u8]) -> Self {
        match unread {
            [a, b, c, _, rest @ ..] => {
                let length = usize::from(*a) | usize::from(*b) << 8 | usize::from(*c) << 16;
                // Of an empty packet the next byte is the next packet's.
                let packet = &rest[..length.min(rest.len())];
                Self {
                    length,
                    command: packet.first().copied(),
                    kind: AnswerKind::of_packet(packet),
                }
            }
            _ => Self {
                length: 0,
                command: None,
                kind: AnswerKind::Packet,
            },
        }
    }
}

impl CommandPhase<'_> {
    pub(super) fn sides(&mut self) -> Option<Sides<'_>> {
        Some(Sides {
            server: self.server.as_mut()?,
            client: self.client,
            is_answered: self.is_answered,
        })
    }

    /// Serves commands until the session ends; `Ok` says why it ended between two commands.
    pub(super) async fn serve(mut self) -> Result<SessionEnd, SessionEnd> {
        let reads_queries = self.client.reads_queries;
        if reads_queries {
            self.swap().await?;
        }
        loop {
            if reads_queries && self.client.session.borrow().close {
                return Err(SessionEnd::Closed);
            }
            if let Err(ended) = self.wait_for_command().await {
                return Ok(ended);
            }
            self.client.thread.metrics.commands.add(1);
            self.meet_fate().await?;
            if reads_queries {
                self.watched_command().await?;
            } else {
                self.command(CommandEffects::default()).await?;
            }
        }
    }

    /// Waits for the beginning of a command; passes on what an idle server says, which is why it closes.
    async fn wait_for_command(&mut self) -> Result<(), SessionEnd> {
        if let Some(mut sides) = self.sides() {
            sides.pass_words_on().await?;
        }
        loop {
            let unread = self.client.wire.unread();
            if unread.len() > HEADER || unread.len() == HEADER && unread[..3] == [0, 0, 0] {
                return Ok(());
            }
            match self.sides() {
                Some(mut sides) => {
                    if sides.receive_from_either().await? {
                        sides.pass_words_on().await?;
                    }
                }
                None => self.client.receive(None, CONTROL_MAX).await?,
            }
        }
    }

    /// Lets a command wait, or ends the session, where faults were asked for.
    async fn meet_fate(&mut self) -> Result<(), SessionEnd> {
        let Some(fates) = &mut self.fates else {
            return Ok(());
        };
        match fates.next(reactor::now()) {
            CommandFault::Sent(at) => reactor::sleep_until(at).await,
            CommandFault::Lost => return Err(SessionEnd::Closed),
        }
        Ok(())
    }

    /// A command that hooks see first.
    async fn watched_command(&mut self) -> Result<(), SessionEnd> {
        let whole = loop {
            if let Some(whole) = self.client.wire.whole() {
                break whole;
            }
            let server = self.server.as_mut();
            self.client.receive(server, COMMAND_MAX).await?;
        };
        let client = &mut *self.client;
        client.next = whole.number.wrapping_add(1);
        let joined;
        let payload = if whole.parts == 1 {
            &client.wire.unread()[HEADER..whole.used]
        } else {
            joined = client.wire.payload(whole);
            &joined
        };
        let marks = CommandEffects::of(payload);
        client.session.borrow_mut().begin_command();
        client.thread.pool.ask_for(&client.session);
        let decision = client.hooks.read_query(&client.session, payload);
        let metrics = &client.thread.metrics;
        let changed = changes::count(metrics, &decision, &client.session.borrow(), payload);
        let (delay, route) = {
            let mut session = client.session.borrow_mut();
            (session.delay, session.route.take())
        };
        if !delay.is_zero() {
            client.wait(delay).await?;
        }
        let home = match route {
            Some(route) => self.leave_home(route, changed).await?,
            None => None,
        };
        self.carry_out(decision, whole, marks, changed).await?;
        if let Some(home) = home {
            self.return_home(home);
        }
        Ok(())
    }

    /// Does with a command what a hook decided.
    ///
    /// `changed` is the command's place among the changes, if it is changed or may be routed.
    async fn carry_out(
        &mut self,
        decision: Decision,
        whole: CompletePacket,
        marks: CommandEffects,
        changed: Option<usize>,
    ) -> Result<(), SessionEnd> {
        let waiting = self.client.session.borrow().queries.len();
        match decision {
            Decision::SendQueue if waiting > 0 => {
                let command = Head::of(self.client.wire.unread()).command;
                self.client.wire.consume(whole.used);
                return self.send_queue(command, changed).await;
            }
            Decision::Answer(packets) => {
                self.client.wire.consume(whole.used);
                self.swap().await?;
                return self.client.answer(&packets).await;
            }
            Decision::SendQueue => self.client.log(
                Level::Critical,
                "(read_query) proxy.PROXY_SEND_QUERY was returned and proxy.queries is empty; the command is sent \
                 unchanged",
            ),
            Decision::PassOn => {}
            other @ Decision::Ignore => self.client.not_here("read_query", &other),
        }
        if waiting > 0 {
            self.client.session.borrow_mut().queries.clear();
            self.client.log(
                Level::Critical,
                "(read_query) proxy.queries has commands and proxy.PROXY_SEND_QUERY was not returned; they are \
                 discarded",
            );
        }
        self.swap().await?;
        self.command(marks).await
    }

    /// Passes the command that begins the unread bytes on, and the answer back.
    async fn command(&mut self, marks: CommandEffects) -> Result<(), SessionEnd> {
        let mut head = Head::of(self.client.wire.unread());
        while head.command == Some(com::STMT_EXECUTE)
            && self.client.wire.unread().len() < HEADER + head.length.min(AnswerKind::HEAD)
        {
            let server = self.server.as_mut();
            self.client.receive(server, CONTROL_MAX).await?;
            head = Head::of(self.client.wire.unread());
        }
        let Some(mut sides) = self.sides() else {
            return Err(match head.command {
                Some(com::QUIT) => SessionEnd::Closed,
                _ => self.no_server(),
            });
        };
        sides.begin(marks);
        if head.kind == AnswerKind::Login || head.command == Some(com::INIT_DB) {
            let (payload, number) = sides.client.packet(Some(sides.server)).await?;
            if head.kind == AnswerKind::Login {
                return self.change_user(&payload).await;
            }
            sides.send_to_server(&payload, number).await?;
            if sides.pass_answer_on(head.kind, 0).await? == Begin::Ok {
                sides.know_database(&payload[1..]);
            }
            return Ok(());
        }
        sides.pass_command_on(head.length).await?;
        match head.kind {
            AnswerKind::Nothing if head.command == Some(com::QUIT) => Err(SessionEnd::Closed),
            AnswerKind::Nothing => Ok(()),
            AnswerKind::Stream => sides.stream(0).await,
            kind => {
                let begin = sides.pass_answer_on(kind, 0).await?;
                sides.follow_database(marks, begin).await
            }
        }
    }

    pub(super) fn no_server(&self) -> SessionEnd {
        let text = "a command arrived and the session has no server; the hook must answer it or choose a backend";
        self.client.log(Level::Critical, text);
        SessionEnd::Closed
    }
}
