//! Commands that a hook sends in the client's name.

use std::rc::Rc;

use protocol::relay::{
    Answer, AnswerFormat, AnswerKind, Begin, Step, Summary, com, error_packet, put_packet,
};
use reactor::Instant;

use super::{
    changes, command_effects::CommandEffects, command_phase::CommandPhase, session_end::SessionEnd,
    sides::Sides,
};
use crate::{
    Decision, Injection, Level, QueryResult, Status, StatusFlags, packets::Packets,
    wire::PAYLOAD_MAX,
};

/// Status flags of the server.
const IN_TRANS: u16 = 0x0001;
const AUTOCOMMIT: u16 = 0x0002;
const NO_GOOD_INDEX_USED: u16 = 0x0010;
const NO_INDEX_USED: u16 = 0x0020;

/// Packets of a kept answer that are written at once.
const PACKETS_AT_ONCE: usize = 1000;

/// The answer to an injected command, and when it came.
struct Injected {
    summary: Summary,
    wording: AnswerFormat,
    sent: Instant,
    first: Instant,
    last: Instant,
    packets: Option<Rc<Vec<Vec<u8>>>>,
    /// It was to be kept, was too large for that, and has reached the client.
    is_given_up: bool,
}

impl CommandPhase<'_> {
    /// Sends the commands of the queue, one after the other; the first result that is not ignored is the answer to the
    /// client's command `command`, whose place among the changes is `changed`.
    pub(super) async fn send_queue(
        &mut self,
        command: Option<u8>,
        changed: Option<usize>,
    ) -> Result<(), SessionEnd> {
        let mut is_answered = false;
        loop {
            self.swap().await?;
            let head = self.client.session.borrow_mut().queries.pop_front();
            let Some(injection) = head else {
                break;
            };
            self.is_answered = is_answered;
            is_answered |= self.inject(injection, changed).await?;
        }
        self.is_answered = false;
        let kind = command.map_or(AnswerKind::Packet, AnswerKind::of);
        if !is_answered && kind != AnswerKind::Nothing {
            // The client would wait for ever.
            let text = "(proxy) every result was ignored: let read_query_result keep one, or return \
                        proxy.PROXY_SEND_RESULT";
            self.client.log(Level::Critical, text);
            let packet = error_packet(1105, "HY000", text);
            self.client.answer(&[packet]).await?;
        }
        Ok(())
    }

    /// Sends a command; true if its answer has reached the client.
    async fn inject(
        &mut self,
        injection: Injection,
        changed: Option<usize>,
    ) -> Result<bool, SessionEnd> {
        let Some(mut sides) = self.sides() else {
            return Err(self.no_server());
        };
        let marks = CommandEffects::of(&injection.packet);
        sides.begin(marks);
        let command = injection.packet.first().copied();
        let kind = AnswerKind::of_packet(&injection.packet);
        let has_answer = !matches!(kind, AnswerKind::Nothing);
        if has_answer && sides.is_answered && !injection.needs_result {
            sides.client.log(
                Level::Critical,
                "a second result cannot be passed on to the client: append the command with \
                 { resultset_is_needed = true } and return proxy.PROXY_IGNORE_RESULT; the client's connection is closed",
            );
            return Err(SessionEnd::Closed);
        }
        let injected = match kind {
            AnswerKind::Nothing => {
                sides.send_injection(&injection.packet).await?;
                return match command {
                    Some(com::QUIT) => Err(SessionEnd::Closed),
                    _ => Ok(false),
                };
            }
            AnswerKind::Login => {
                self.change_user(&injection.packet).await?;
                return Ok(true);
            }
            AnswerKind::Stream => {
                let shift = sides.send_injection(&injection.packet).await?;
                sides.stream(shift).await?;
                return Ok(true);
            }
            kind => sides.take_answer(kind, &injection).await?,
        };
        if command == Some(com::INIT_DB) && injected.summary.begin == Begin::Ok {
            sides.know_database(&injection.packet[1..]);
        }
        sides.follow_database(marks, injected.summary.begin).await?;
        if injected.is_given_up {
            return Ok(true);
        }
        self.decide(injection, injected, changed).await
    }

    /// Asks the hook what becomes of a result; true if the result has reached the client.
    async fn decide(
        &mut self,
        injection: Injection,
        injected: Injected,
        changed: Option<usize>,
    ) -> Result<bool, SessionEnd> {
        let needs_result = injection.needs_result;
        let packets = injected.packets.clone();
        // Needed where nothing of the command was counted before.
        let command = (needs_result && changed.is_none()).then(|| injection.packet.clone());
        let result = injected.result(injection);
        let client = &mut *self.client;
        client.thread.pool.ask_for(&client.session);
        let decision = client.hooks.read_query_result(&client.session, result);
        if !needs_result {
            if decision != Decision::PassOn {
                client.log(
                    Level::Critical,
                    "(read_query_result) the result has reached the client already: only a command appended with \
                     { resultset_is_needed = true } can have it replaced or ignored",
                );
            }
            return Ok(true);
        }
        let command = command.unwrap_or_default();
        changes::count_result(&client.thread.metrics, &decision, changed, &command);
        match decision {
            Decision::Ignore => return Ok(false),
            Decision::SendQueue => {
                client.log(
                    Level::Critical,
                    "(read_query_result) proxy.PROXY_SEND_QUERY has no meaning here; the result is dropped",
                );
                return Ok(false);
            }
            Decision::PassOn | Decision::Answer(_) if self.is_answered => {
                client.log(
                    Level::Critical,
                    "(read_query_result) the client has its result already; this one is dropped, return \
                     proxy.PROXY_IGNORE_RESULT",
                );
                return Ok(false);
            }
            Decision::PassOn => {
                let packets = packets.as_deref().map_or(&[][..], Vec::as_slice);
                client.answer(packets).await?;
            }
            Decision::Answer(packets) => client.answer(&packets).await?,
        }
        Ok(true)
    }
}

impl Sides<'_> {
    /// Sends a command of its own numbering; returns what the numbers of the answer have to be raised by.
    async fn send_injection(&mut self, packet: &[u8]) -> Result<u8, SessionEnd> {
        let mut out = Vec::new();
        let next = put_packet(packet, 0, &mut out);
        self.server.wire.begin_exchange();
        if let Err(error) = self.send(&out).await {
            return Err(self.client.last_words(Some(self.server), error).await);
        }
        Ok(self.client.next.wrapping_sub(next))
    }

    /// Sends a command; passes the answer on as it comes, or keeps it as long as the hook's memory allows. Of an answer that
    /// is kept only the wish for a file reaches the client.
    async fn take_answer(
        &mut self,
        kind: AnswerKind,
        injection: &Injection,
    ) -> Result<Injected, SessionEnd> {
        let sent = reactor::now();
        let shift = self.send_injection(&injection.packet).await?;
        let wording = self.server.wording();
        let mut kept = injection.needs_result.then(Packets::default);
        // Kept packets get their numbers when they are sent.
        let raised = if kept.is_some() { 0 } else { shift };
        let mut answer = Answer::new(kind, wording, raised);
        let mut first = None;
        let mut is_given_up = false;
        loop {
            self.need_bytes().await?;
            if !is_given_up
                && let Some(kept) = &kept
                && let Err(why) = self.client.hooks.may_keep(kept.memory())
            {
                self.client.log(Level::Critical, &why);
                if self.is_answered {
                    return Err(SessionEnd::Closed);
                }
                is_given_up = true;
            }
            if is_given_up
                && answer.bytes_of_part_left() == 0
                && let Some(kept) = kept.take()
            {
                for packets in kept.all.chunks(PACKETS_AT_ONCE) {
                    self.client.answer(packets).await?;
                }
                answer.renumber(self.client.next);
            }
            let step = match &mut kept {
                // The rest of the packet that has begun.
                Some(kept) if is_given_up => {
                    if kept.open_bytes() > PAYLOAD_MAX {
                        self.client.log(Level::Critical, "one row of it is too large to be passed on in pieces: the session ends");
                        return Err(SessionEnd::Closed);
                    }
                    let rest = answer.bytes_of_part_left();
                    self.keep_piece(&mut answer, kept, rest).await?
                }
                Some(kept) => self.keep_piece(&mut answer, kept, usize::MAX).await?,
                None => self.pass_piece_on(&mut answer).await?,
            };
            if first.is_none() && answer.summary().has_begun {
                first = Some(reactor::now());
            }
            match step {
                Step::More => {}
                Step::File => {
                    if let Some(kept) = &mut kept {
                        let wish = kept.all.pop().unwrap_or_default();
                        self.client.answer(&[wish]).await?;
                    }
                    self.pass_file_on(shift).await?;
                }
                Step::Done => break,
            }
        }
        if is_given_up && let Some(kept) = kept.take() {
            self.client.answer(&kept.all).await?;
        }
        let last = reactor::now();
        self.know_status(answer.summary());
        Ok(Injected {
            summary: *answer.summary(),
            wording,
            sent,
            first: first.unwrap_or(last),
            last,
            packets: kept.map(|kept| Rc::new(kept.all)),
            is_given_up,
        })
    }

    /// Keeps what has come of an answer, at most `bytes_max` of it.
    async fn keep_piece(
        &mut self,
        answer: &mut Answer,
        kept: &mut Packets,
        bytes_max: usize,
    ) -> Result<Step, SessionEnd> {
        let wire = &mut self.server.wire;
        let unread = wire.unread_mut();
        let piece = unread.len().min(bytes_max);
        let fed = answer
            .feed(&mut unread[..piece])
            .map_err(SessionEnd::Answer)?;
        kept.take(&mut wire.unread_mut()[..fed.used]);
        wire.consume(fed.used);
        self.client.let_others(fed.used).await;
        Ok(fed.step)
    }
}

impl Injected {
    fn result(self, injection: Injection) -> QueryResult {
        let Summary {
            begin,
            affected_rows,
            insert_id,
            status,
            warnings,
            rows,
            bytes,
            columns,
            ..
        } = self.summary;
        let us =
            |until: Instant| u64::try_from((until - self.sent).as_micros()).unwrap_or(u64::MAX);
        let has = |flag| status & flag != 0;
        let command = injection.packet.first().copied();
        QueryResult {
            query_time_us: us(self.first),
            response_time_us: us(self.last),
            status: match begin {
                Begin::Other => Status::Other,
                Begin::Ok => Status::Ok {
                    affected_rows,
                    insert_id,
                },
                Begin::Err => Status::Err,
                Begin::Rows => Status::Rows,
            },
            flags: StatusFlags {
                in_trans: has(IN_TRANS),
                auto_commit: has(AUTOCOMMIT),
                no_good_index_used: has(NO_GOOD_INDEX_USED),
                no_index_used: has(NO_INDEX_USED),
            },
            warning_count: warnings,
            row_count: rows,
            bytes,
            packets: self.packets,
            columns,
            is_binary: matches!(
                command,
                Some(com::STMT_EXECUTE | com::STMT_FETCH | com::STMT_BULK_EXECUTE)
            ),
            deprecate_eof: self.wording.deprecate_eof,
            injection,
        }
    }
}
