//! The exchange of one command with a server: the command and its answer pass on as they come.

use protocol::relay::{Answer, AnswerKind, Begin, Framer, FramerEvent, Step, Summary};

use super::{
    client::{CONTROL_MAX, send},
    session_end::SessionEnd,
    sides::Sides,
};
use crate::wire::HEADER;

impl Sides<'_> {
    /// Passes on what the server has said without a command.
    pub(super) async fn pass_words_on(&mut self) -> Result<(), SessionEnd> {
        let wire = &mut self.server.wire;
        if wire.has_unread() {
            self.client.send(wire.unread()).await?;
            wire.consume(wire.unread().len());
        }
        Ok(())
    }

    /// Sends the client's command as it comes, however long it is.
    pub(super) async fn pass_command_on(&mut self, length: usize) -> Result<(), SessionEnd> {
        self.server.wire.begin_exchange();
        let all = HEADER + length;
        if let Some(command) = self.client.wire.unread().get(..all)
            && length < 0xff_ffff
        {
            self.client.next = command[3].wrapping_add(1);
            // Usually the whole of it is there, and fits into the socket.
            return self.send_unread(all).await;
        }
        self.client.next = self.packets_to_server(0, |_| true).await?.wrapping_add(1);
        Ok(())
    }

    /// Sends the first `count` unread bytes of the client.
    async fn send_unread(&mut self, count: usize) -> Result<(), SessionEnd> {
        let bytes = &self.client.wire.unread()[..count];
        let watch = &self.client.watch;
        if let Err(error) = send(&mut self.server.wire, bytes, watch, SessionEnd::of_server).await {
            return Err(self.client.last_words(Some(self.server), error).await);
        }
        self.client.wire.consume(count);
        self.client.let_others(count).await;
        Ok(())
    }

    /// Passes packets of the client on until one ends for which `is_last` holds, by its length; returns its number.
    async fn packets_to_server(
        &mut self,
        shift: u8,
        is_last: impl Fn(u64) -> bool,
    ) -> Result<u8, SessionEnd> {
        let mut framer = Framer::new(shift);
        let mut length = 0;
        loop {
            let mut at = 0;
            let unread = self.client.wire.unread_mut();
            let is_done = loop {
                match framer.next(unread, &mut at) {
                    FramerEvent::Nothing => break false,
                    FramerEvent::Head { is_first: true, .. } => length = 0,
                    FramerEvent::Head { .. } => {}
                    FramerEvent::Payload(range) => length += range.len() as u64,
                    FramerEvent::End if is_last(length) => break true,
                    FramerEvent::End => {}
                }
            };
            self.send_unread(at).await?;
            if is_done {
                return Ok(framer.number());
            }
            if let Err(error) = self.client.receive(Some(self.server), CONTROL_MAX).await {
                return Err(self.client.last_words(Some(self.server), error).await);
            }
        }
    }

    /// Passes an answer on as it comes; its numbers are raised by `shift`.
    pub(super) async fn pass_answer_on(
        &mut self,
        kind: AnswerKind,
        shift: u8,
    ) -> Result<Begin, SessionEnd> {
        let mut answer = Answer::new(kind, self.server.wording(), shift);
        self.follow(&mut answer, shift).await?;
        self.know_status(answer.summary());
        Ok(answer.summary().begin)
    }

    /// Notes the status that an answer told, for hooks.
    pub(super) fn know_status(&self, summary: &Summary) {
        if self.client.reads_queries && summary.has_status {
            self.client.session.borrow_mut().know_status(summary.status);
        }
    }

    /// Receives from the server if nothing that it said is unread.
    pub(super) async fn need_bytes(&mut self) -> Result<(), SessionEnd> {
        if self.server.wire.has_unread() {
            return Ok(());
        }
        self.receive_from_server().await
    }

    /// Passes an answer on until it ends.
    async fn follow(&mut self, answer: &mut Answer, shift: u8) -> Result<(), SessionEnd> {
        loop {
            self.need_bytes().await?;
            match self.pass_piece_on(answer).await? {
                Step::More => {}
                Step::Done => return Ok(()),
                Step::File => self.pass_file_on(shift).await?,
            }
        }
    }

    /// Passes on what has come of an answer.
    pub(super) async fn pass_piece_on(&mut self, answer: &mut Answer) -> Result<Step, SessionEnd> {
        let wire = &mut self.server.wire;
        let fed = answer.feed(wire.unread_mut()).map_err(SessionEnd::Answer)?;
        self.client.send(&wire.unread()[..fed.used]).await?;
        wire.consume(fed.used);
        self.client.next = answer.number().wrapping_add(1);
        self.client.let_others(fed.used).await;
        Ok(fed.step)
    }

    /// Passes the client's file on, which an empty packet ends.
    pub(super) async fn pass_file_on(&mut self, shift: u8) -> Result<(), SessionEnd> {
        let down = 0u8.wrapping_sub(shift);
        let number = self.packets_to_server(down, |length| length == 0).await?;
        self.client.next = number.wrapping_add(shift).wrapping_add(1);
        Ok(())
    }

    /// The binary log: events without end, while the client may confirm them.
    pub(super) async fn stream(&mut self, shift: u8) -> Result<(), SessionEnd> {
        let mut answer = Answer::new(AnswerKind::Stream, self.server.wording(), shift);
        loop {
            if self.server.wire.has_unread() && self.pass_piece_on(&mut answer).await? == Step::Done
            {
                return Ok(());
            }
            if self.client.wire.has_unread() {
                let bytes = self.client.wire.unread();
                let watch = &self.client.watch;
                send(&mut self.server.wire, bytes, watch, SessionEnd::of_server).await?;
                let all = bytes.len();
                self.client.wire.consume(all);
            }
            self.receive_from_either().await?;
        }
    }
}
