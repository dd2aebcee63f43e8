//! One client session: login, commands and answers.

use std::{io, ops::Range, time::Duration};

use reactor::{Instant, Stream, now, sleep, sleep_until};

use super::{
    answer::{Reply, Responder},
    behaviour::StatementOutcome,
    command::Command,
    log::Entry,
    result::Packets,
    shared_state::ClientSlot,
};
use crate::{
    outgoing_greeting::{Login, OutgoingGreeting},
    packets::PacketReader,
    payloads::{AUTOCOMMIT, put_error, put_ok},
};

/// Largest size of a command; a larger one ends the connection, as with `max_allowed_packet`.
const COMMAND_BYTES_MAX: usize = 64 << 20;
/// Size of an output buffer above which its memory is released.
const OUT_KEPT_MAX: usize = 64 << 10;

/// Serves one client until it disconnects; a lost client or an invalid packet is not a failure of the server.
pub(super) async fn serve(stream: Stream, guest: ClientSlot) {
    let mut wire = Wire::new(stream);
    wire.read_delay = guest.shared.borrow().read_delay();
    let Ok(Some(login)) = greet(&mut wire, &guest).await else {
        return;
    };
    let speaker = Responder::new(guest.connection_id, login);
    let mut session = Session {
        wire,
        speaker,
        guest,
    };
    // An error of the client is not a failure of the server.
    let _ = session.converse().await;
}

/// Refuses the connection with the error "too many connections".
pub(super) async fn refuse(stream: Stream) {
    let mut wire = Wire::new(stream);
    wire.say(0, |out| {
        put_error(1040, "08004", "Too many connections", out)
    });
    // An error of the client is not a failure of the server.
    let _ = wire.flush().await;
}

async fn greet(wire: &mut Wire, guest: &ClientSlot) -> io::Result<Option<Login>> {
    let greeting = OutgoingGreeting {
        connection_id: guest.connection_id,
        ..guest.shared.borrow().hello().clone()
    };
    wire.say(0, |out| out.extend_from_slice(&greeting.payload()));
    wire.packets.set_sequence(1);
    let Some(range) = wire.receive().await? else {
        return Ok(None);
    };
    let mut sequence = wire.packets.sequence();
    let Ok(login) = Login::parse(wire.packets.payload(range)) else {
        wire.say(sequence, |out| {
            put_error(1043, "08S01", "Bad handshake", out)
        });
        wire.flush().await?;
        return Ok(None);
    };
    let refusal = guest.shared.borrow_mut().refusal(&login.user);
    if let Some(error) = refusal {
        wire.say(sequence, |out| {
            put_error(error.number, &error.sqlstate, &error.message, out);
        });
        wire.flush().await?;
        return Ok(None);
    }
    // A client that uses this method waits for the confirmation of its proof.
    if login.plugin == b"caching_sha2_password" && !login.proof.is_empty() {
        wire.say(sequence, |out| out.extend_from_slice(&[1, 3]));
        sequence = sequence.wrapping_add(1);
    }
    wire.say(sequence, |out| put_ok(0, AUTOCOMMIT, "", out));
    wire.flush().await?;
    Ok(Some(login))
}

/// The packets received from the client, and the data to send.
struct Wire {
    stream: Stream,
    packets: PacketReader,
    out: Vec<u8>,
    read_delay: Duration,
}

impl Wire {
    fn new(stream: Stream) -> Self {
        Self {
            stream,
            packets: PacketReader::new(),
            out: Vec::new(),
            read_delay: Duration::ZERO,
        }
    }

    /// Appends one packet to the data to send.
    fn say(&mut self, sequence: u8, put: impl FnOnce(&mut Vec<u8>)) {
        let mut packets = Packets {
            out: &mut self.out,
            sequence,
            deprecate_eof: false,
        };
        packets.push(put);
    }

    /// A complete packet that was already received.
    fn received(&mut self) -> io::Result<Option<Range<usize>>> {
        let malformed = |error| io::Error::new(io::ErrorKind::InvalidData, error);
        if self.packets.peek().map_err(malformed)?.is_none() {
            return Ok(None);
        }
        self.packets.take(COMMAND_BYTES_MAX).map_err(malformed)
    }

    /// Receives the next packet of an exchange, after sending pending data; `None` if the client closed.
    async fn receive(&mut self) -> io::Result<Option<Range<usize>>> {
        loop {
            if let Some(range) = self.received()? {
                return Ok(Some(range));
            }
            self.flush().await?;
            if !self.read_delay.is_zero() {
                sleep(self.read_delay).await;
            }
            self.packets.rest();
            self.stream.readable().await?;
            match self.stream.try_read(self.packets.room())? {
                Some(0) => return Ok(None),
                Some(count) => self.packets.received(count),
                None => {}
            }
        }
    }

    async fn flush(&mut self) -> io::Result<()> {
        if !self.out.is_empty() {
            self.stream.write_all(&self.out).await?;
            self.out.clear();
            self.out.shrink_to(OUT_KEPT_MAX);
        }
        Ok(())
    }
}

struct Session {
    wire: Wire,
    speaker: Responder,
    guest: ClientSlot,
}

/// A statement whose answer has been built but not sent.
struct Pending {
    received: Instant,
    command: &'static str,
    result: &'static str,
    /// Position of its answer in the output, and the number of its first packet.
    begin: usize,
    sequence: u8,
}

impl Session {
    async fn converse(&mut self) -> io::Result<()> {
        let is_watched = self.guest.shared.borrow().is_watched();
        loop {
            let Some(range) = self.command().await? else {
                return self.wire.flush().await;
            };
            let wire = &mut self.wire;
            let command = Command::of(wire.packets.payload(range));
            let mut pending = Pending {
                received: if is_watched {
                    now()
                } else {
                    Instant::from_ns(0)
                },
                command: command.name(),
                result: "",
                begin: wire.out.len(),
                sequence: wire.packets.sequence(),
            };
            let mut packets = Packets {
                out: &mut wire.out,
                sequence: pending.sequence,
                deprecate_eof: self.speaker.deprecate_eof(),
            };
            let said = {
                let shared = &mut self.guest.shared.borrow_mut();
                self.speaker.answer(command, shared, &mut packets)
            };
            let next = packets.sequence;
            match said {
                Reply::Close => return Ok(()),
                Reply::Other => continue,
                Reply::Statement(result) => pending.result = result,
                Reply::FileName => {
                    (pending.begin, pending.sequence) = self.swallow_file(next).await?;
                    pending.result = "ok";
                }
            }
            if is_watched && !self.settle(pending).await? {
                return Ok(());
            }
        }
    }

    /// Receives the next command; `None` if the client is gone, or sent an invalid packet and received an error.
    async fn command(&mut self) -> io::Result<Option<Range<usize>>> {
        let wire = &mut self.wire;
        wire.packets.set_sequence(0);
        match wire.receive().await {
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                let sequence = wire.packets.sequence();
                wire.say(sequence, |out| {
                    put_error(1156, "08S01", "Got packets out of order or too long", out);
                });
                Ok(None)
            }
            received => received,
        }
    }

    /// Applies the behaviour to a statement, sends the answer and logs it; false if the connection ends.
    async fn settle(&mut self, pending: Pending) -> io::Result<bool> {
        let Pending {
            received,
            command,
            mut result,
            begin,
            sequence,
        } = pending;
        let (answer_at, fate) = self.guest.shared.borrow_mut().decide(received);
        let wire = &mut self.wire;
        match fate {
            StatementOutcome::Answer => {}
            StatementOutcome::Error => {
                result = "error";
                wire.out.truncate(begin);
                let shared = self.guest.shared.borrow();
                let error = shared.error();
                wire.say(sequence, |out| {
                    put_error(error.number, &error.sqlstate, &error.message, out);
                });
            }
            StatementOutcome::Drop => {
                result = "dropped";
                wire.out.truncate(begin);
            }
        }
        if answer_at > received {
            sleep_until(answer_at).await;
        }
        self.guest.shared.borrow_mut().log(&Entry {
            connection_id: self.guest.connection_id,
            received,
            answered: now(),
            command,
            result,
        });
        wire.flush().await?;
        Ok(fate != StatementOutcome::Drop)
    }

    /// Receives the data of a LOAD DATA LOCAL, whose first packet has the number `first`, and answers with its number
    /// of lines; returns the position of the answer in the output, and its number.
    async fn swallow_file(&mut self, first: u8) -> io::Result<(usize, u8)> {
        let wire = &mut self.wire;
        wire.packets.set_sequence(first);
        let mut lines = 0;
        loop {
            let Some(range) = wire.receive().await? else {
                return Err(io::ErrorKind::UnexpectedEof.into());
            };
            let data = wire.packets.payload(range);
            if data.is_empty() {
                break;
            }
            lines += data.iter().filter(|byte| **byte == b'\n').count() as u64;
        }
        let (begin, sequence) = (wire.out.len(), wire.packets.sequence());
        let info = format!("Records: {lines}  Deleted: 0  Skipped: 0  Warnings: 0");
        wire.say(sequence, |out| put_ok(lines, AUTOCOMMIT, &info, out));
        Ok((begin, sequence))
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let prepared = self.speaker.prepared();
        self.guest.shared.borrow_mut().closed_statements(prepared);
    }
}
