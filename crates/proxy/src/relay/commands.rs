//! The commands of a client and their answers.

use protocol::relay::{Answer, AnswerKind, Begin, Framer, Piece, Step, Summary, com};

use super::{COMMAND_MAX, CONTROL_MAX, Ended, Relay, changes, marks::Marks, send};
use crate::{
    Decision, Level,
    wire::{HEADER, Whole},
};

/// The beginning of a command: the length of its first part, its number, and the form of its answer.
struct Head {
    length: usize,
    command: Option<u8>,
    kind: AnswerKind,
}

impl Relay {
    /// Serves commands until the client leaves.
    pub(super) async fn commands(&mut self) -> Result<(), Ended> {
        if self.reads_queries {
            self.swap().await?;
        }
        loop {
            if self.reads_queries && self.session.borrow().close {
                return Err(Ended::Closed);
            }
            self.is_idle = true;
            self.wait_for_command().await?;
            self.is_idle = false;
            self.thread.metrics.commands.add(1);
            self.meet_fate().await?;
            if self.reads_queries {
                self.watched_command().await?;
            } else {
                self.command().await?;
            }
        }
    }

    /// Waits for the beginning of a command; passes on what an idle server says, which is why it closes.
    async fn wait_for_command(&mut self) -> Result<(), Ended> {
        if self
            .server
            .as_ref()
            .is_some_and(|server| server.wire.has_unread())
        {
            self.pass_words_on().await?;
        }
        loop {
            let unread = self.client.unread();
            if unread.len() > HEADER || unread.len() == HEADER && unread[..3] == [0, 0, 0] {
                return Ok(());
            }
            if self.receive_from_either().await? {
                self.pass_words_on().await?;
            }
        }
    }

    async fn pass_words_on(&mut self) -> Result<(), Ended> {
        if let Some(server) = &mut self.server {
            let sent = send(
                &mut self.client,
                server.wire.unread(),
                &self.watch,
                Ended::of_client,
            );
            sent.await?;
            let all = server.wire.unread().len();
            server.wire.consume(all);
        }
        Ok(())
    }

    /// A command that hooks see first.
    async fn watched_command(&mut self) -> Result<(), Ended> {
        let whole = loop {
            if let Some(whole) = self.client.whole() {
                break whole;
            }
            self.receive_from_client(COMMAND_MAX).await?;
        };
        self.next = whole.number.wrapping_add(1);
        let joined;
        let payload = if whole.parts == 1 {
            &self.client.unread()[HEADER..whole.used]
        } else {
            joined = self.client.payload(whole);
            &joined
        };
        self.marks = Marks::of(payload);
        self.session.borrow_mut().begin_command();
        self.thread.pool.ask_for(&self.session);
        let decision = self.hooks.read_query(&self.session, payload);
        let metrics = &self.thread.metrics;
        self.changed = changes::count(metrics, &decision, &self.session.borrow(), payload);
        let (delay, route) = {
            let mut session = self.session.borrow_mut();
            (session.delay, session.route.take())
        };
        if !delay.is_zero() {
            self.wait(delay).await?;
        }
        let Some(route) = route else {
            return self.carry_out(decision, whole).await;
        };
        let home = self.leave_home(route).await?;
        self.carry_out(decision, whole).await?;
        if let Some(home) = home {
            self.return_home(home);
        }
        Ok(())
    }

    /// Does with a command what a hook decided.
    async fn carry_out(&mut self, decision: Decision, whole: Whole) -> Result<(), Ended> {
        let waiting = self.session.borrow().queries.len();
        match decision {
            Decision::SendQueue if waiting > 0 => {
                let command = self.head().command;
                self.client.consume(whole.used);
                return self.send_queue(command).await;
            }
            Decision::Answer(packets) => {
                self.client.consume(whole.used);
                self.swap().await?;
                return self.answer(&packets).await;
            }
            Decision::SendQueue => self.log(
                Level::Critical,
                "(read_query) proxy.PROXY_SEND_QUERY was returned and proxy.queries is empty; the command is sent \
                 unchanged",
            ),
            Decision::PassOn => {}
            other @ Decision::Ignore => self.not_here("read_query", &other),
        }
        if waiting > 0 {
            self.session.borrow_mut().queries.clear();
            self.log(
                Level::Critical,
                "(read_query) proxy.queries has commands and proxy.PROXY_SEND_QUERY was not returned; they are \
                 discarded",
            );
        }
        self.swap().await?;
        self.command().await
    }

    /// Passes the command that begins the unread bytes on, and the answer back.
    async fn command(&mut self) -> Result<(), Ended> {
        let mut head = self.head();
        while head.command == Some(com::STMT_EXECUTE)
            && self.client.unread().len() < HEADER + head.length.min(AnswerKind::HEAD)
        {
            self.receive_from_client(CONTROL_MAX).await?;
            head = self.head();
        }
        let kind = head.kind;
        if self.server.is_none() {
            return Err(match head.command {
                Some(com::QUIT) => Ended::Closed,
                _ => self.no_server(),
            });
        }
        self.count_sent();
        let marks = std::mem::take(&mut self.marks);
        self.note(marks);
        if kind == AnswerKind::Login || head.command == Some(com::INIT_DB) {
            return self.tracked_command(kind).await;
        }
        self.pass_command_on(head.length).await?;
        match kind {
            AnswerKind::Nothing if head.command == Some(com::QUIT) => Err(Ended::Closed),
            AnswerKind::Nothing => Ok(()),
            AnswerKind::Stream => self.stream(0).await,
            _ => {
                let begin = self.pass_answer_on(kind, 0).await?;
                self.follow_database(marks, begin).await
            }
        }
    }

    fn head(&self) -> Head {
        let unread = self.client.unread();
        match unread {
            [a, b, c, _, rest @ ..] => {
                let length = usize::from(*a) | usize::from(*b) << 8 | usize::from(*c) << 16;
                // Of an empty packet the next byte is the next packet's.
                let packet = &rest[..length.min(rest.len())];
                Head {
                    length,
                    command: packet.first().copied(),
                    kind: AnswerKind::of_packet(packet),
                }
            }
            _ => Head {
                length: 0,
                command: None,
                kind: AnswerKind::Packet,
            },
        }
    }

    /// Sends the client's command as it comes, however long it is.
    async fn pass_command_on(&mut self, length: usize) -> Result<(), Ended> {
        let Some(server) = &mut self.server else {
            return Err(Ended::ServerLeft);
        };
        server.wire.begin_exchange();
        let all = HEADER + length;
        if let Some(command) = self.client.unread().get(..all)
            && length < 0xff_ffff
        {
            self.next = command[3].wrapping_add(1);
            // Usually the whole of it is there, and fits into the socket.
            if let Err(error) = send(&mut server.wire, command, &self.watch, Ended::of_server).await
            {
                return Err(self.last_words(error).await);
            }
            self.client.consume(all);
            self.let_others(all).await;
            return Ok(());
        }
        self.next = self.packets_to_server(0, |_| true).await?.wrapping_add(1);
        Ok(())
    }

    /// Passes packets of the client on until one ends for which `is_last` holds, by its length; returns its number.
    async fn packets_to_server(
        &mut self,
        shift: u8,
        is_last: impl Fn(u64) -> bool,
    ) -> Result<u8, Ended> {
        let mut framer = Framer::new(shift);
        let mut length = 0;
        loop {
            let mut at = 0;
            let unread = self.client.unread_mut();
            let is_done = loop {
                match framer.next(unread, &mut at) {
                    Piece::Nothing => break false,
                    Piece::Head { is_first: true, .. } => length = 0,
                    Piece::Head { .. } => {}
                    Piece::Payload(range) => length += range.len() as u64,
                    Piece::End if is_last(length) => break true,
                    Piece::End => {}
                }
            };
            let Some(server) = &mut self.server else {
                return Err(Ended::ServerLeft);
            };
            let bytes = &self.client.unread()[..at];
            if let Err(error) = send(&mut server.wire, bytes, &self.watch, Ended::of_server).await {
                return Err(self.last_words(error).await);
            }
            self.client.consume(at);
            self.let_others(at).await;
            if is_done {
                return Ok(framer.number());
            }
            if let Err(error) = self.receive_from_client(CONTROL_MAX).await {
                return Err(self.last_words(error).await);
            }
        }
    }

    /// A command that changes what hooks know of the session.
    async fn tracked_command(&mut self, kind: AnswerKind) -> Result<(), Ended> {
        let (payload, number) = self.client_packet().await?;
        self.next = number.wrapping_add(1);
        if kind == AnswerKind::Login {
            return self.change_user(&payload, number).await;
        }
        self.send_to_server(&payload, number).await?;
        if self.pass_answer_on(kind, 0).await? == Begin::Ok {
            self.know_database(&payload[1..]);
        }
        Ok(())
    }

    /// Passes an answer on as it comes; its numbers are raised by `shift`.
    pub(super) async fn pass_answer_on(
        &mut self,
        kind: AnswerKind,
        shift: u8,
    ) -> Result<Begin, Ended> {
        let Some(server) = &self.server else {
            return Err(Ended::ServerLeft);
        };
        let mut answer = Answer::new(kind, server.wording(), shift);
        self.follow(&mut answer, shift).await?;
        self.know_status(answer.summary());
        Ok(answer.summary().begin)
    }

    /// Notes the status that an answer told, for hooks.
    pub(super) fn know_status(&self, summary: &Summary) {
        if self.reads_queries && summary.has_status {
            self.session.borrow_mut().know_status(summary.status);
        }
    }

    /// Counts a command that the server gets.
    pub(super) fn count_sent(&self) {
        if let Some(server) = &self.server {
            self.thread.metrics.sent_to(server.place);
        }
    }

    /// Passes an answer on until it ends.
    async fn follow(&mut self, answer: &mut Answer, shift: u8) -> Result<(), Ended> {
        loop {
            if self
                .server
                .as_ref()
                .is_some_and(|server| !server.wire.has_unread())
            {
                self.receive_from_server().await?;
            }
            match self.pass_piece_on(answer).await? {
                Step::More => {}
                Step::Done => return Ok(()),
                Step::File => self.pass_file_on(shift).await?,
            }
        }
    }

    /// Passes on what has come of an answer.
    pub(super) async fn pass_piece_on(&mut self, answer: &mut Answer) -> Result<Step, Ended> {
        let Some(server) = &mut self.server else {
            return Err(Ended::ServerLeft);
        };
        let fed = answer
            .feed(server.wire.unread_mut())
            .map_err(Ended::Answer)?;
        let bytes = &server.wire.unread()[..fed.used];
        send(&mut self.client, bytes, &self.watch, Ended::of_client).await?;
        server.wire.consume(fed.used);
        self.next = answer.number().wrapping_add(1);
        self.let_others(fed.used).await;
        Ok(fed.step)
    }

    /// Passes the client's file on, which an empty packet ends.
    pub(super) async fn pass_file_on(&mut self, shift: u8) -> Result<(), Ended> {
        let down = 0u8.wrapping_sub(shift);
        let number = self.packets_to_server(down, |length| length == 0).await?;
        self.next = number.wrapping_add(shift).wrapping_add(1);
        Ok(())
    }

    /// The binary log: events without end, while the client may confirm them.
    pub(super) async fn stream(&mut self, shift: u8) -> Result<(), Ended> {
        let Some(server) = &self.server else {
            return Err(Ended::ServerLeft);
        };
        let mut answer = Answer::new(AnswerKind::Stream, server.wording(), shift);
        loop {
            if self
                .server
                .as_ref()
                .is_some_and(|server| server.wire.has_unread())
                && self.pass_piece_on(&mut answer).await? == Step::Done
            {
                return Ok(());
            }
            if self.client.has_unread()
                && let Some(server) = &mut self.server
            {
                let bytes = self.client.unread();
                send(&mut server.wire, bytes, &self.watch, Ended::of_server).await?;
                let all = bytes.len();
                self.client.consume(all);
            }
            self.receive_from_either().await?;
        }
    }

    /// There is no server for a command.
    pub(super) fn no_server(&self) -> Ended {
        let text = "a command arrived and the session has no server; the hook must answer it or choose a backend";
        self.log(Level::Critical, text);
        Ended::Closed
    }
}
