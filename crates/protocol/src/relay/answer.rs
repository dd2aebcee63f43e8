//! Where the answer to a command ends, found without keeping it.

use super::{
    command::AnswerKind,
    framer::{Framer, FramerEvent},
};
use crate::{
    error::Error,
    lenenc::Fields,
    packets::PAYLOAD_MAX,
    replies::{MORE_RESULTS, OkReply, end_of_rows},
};

/// Bytes of a packet that are read: more than the fields of an OK packet need.
const HEAD: usize = 32;
/// Largest accepted number of columns; the server's own limit is 4,096.
const COLUMNS_MAX: u64 = 65_535;
/// Length from which a packet that begins as an EOF is a row.
const EOF_BELOW: usize = 9;
/// Status flag: the rows wait in a cursor. MariaDB also sets it in results of a procedure that has a cursor of its own open.
const CURSOR_EXISTS: u16 = 0x0040;
/// The number of an error packet that is none: it tells how far a statement is.
const PROGRESS: [u8; 2] = [0xff, 0xff];

/// What both sides agreed on for the form of answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AnswerFormat {
    /// No EOF packet after the columns, and an OK packet after the rows.
    pub deprecate_eof: bool,
    /// MariaDB says with the number of columns whether they follow.
    pub cache_metadata: bool,
}

/// How an answer began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Begin {
    /// Not at all, or with a packet of its own kind.
    #[default]
    Other,
    Ok,
    Err,
    /// With columns.
    Rows,
}

/// What an answer said so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Summary {
    /// How it began, or that an error ended it.
    pub begin: Begin,
    /// Changed rows, from the first OK packet.
    pub affected_rows: u64,
    /// The value of the AUTO_INCREMENT column, from the first OK packet.
    pub insert_id: u64,
    /// The server's status, from the last packet that has one.
    pub status: u16,
    pub has_status: bool,
    /// Warnings, from the last packet that counts them.
    pub warnings: u16,
    pub rows: u64,
    /// Bytes with headers.
    pub bytes: u64,
    /// Columns of the first result.
    pub columns: usize,
    /// Whether a first packet is complete.
    pub has_begun: bool,
}

/// Whether an answer continues.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// More bytes are needed.
    More,
    Done,
    /// The server wants a file of the client; the answer continues after it.
    File,
}

/// What was done with fed bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Consumed {
    /// Bytes that belong to the answer.
    pub used: usize,
    pub step: Step,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expect {
    Result,
    Columns(u64),
    ColumnsEnd,
    Rows,
    Packet,
    Prepared,
    /// Definitions that are left, and the group behind them.
    Definitions(u64, u64),
    DefinitionsEnd(u64),
    Events,
}

/// Follows one answer to its end.
#[derive(Debug)]
pub struct Answer {
    framer: Framer,
    expect: Expect,
    /// Whether rows may wait in a cursor instead of following their columns.
    may_have_cursor: bool,
    wording: AnswerFormat,
    head: [u8; HEAD],
    head_length: usize,
    /// Length of the packet's first part.
    length: usize,
    in_first_part: bool,
    summary: Summary,
}

impl Answer {
    /// The answer to a command of this kind, whose packets' numbers are to be changed by `shift`.
    ///
    /// A login is not followed here: its rounds depend on the method.
    pub fn new(kind: AnswerKind, wording: AnswerFormat, shift: u8) -> Self {
        Self {
            framer: Framer::new(shift),
            may_have_cursor: kind == AnswerKind::Cursor,
            expect: match kind {
                AnswerKind::Results | AnswerKind::Cursor => Expect::Result,
                AnswerKind::Rows => Expect::Rows,
                AnswerKind::Prepared => Expect::Prepared,
                AnswerKind::Stream => Expect::Events,
                AnswerKind::Packet | AnswerKind::Nothing | AnswerKind::Login => Expect::Packet,
            },
            wording,
            head: [0; HEAD],
            head_length: 0,
            length: 0,
            in_first_part: false,
            summary: Summary::default(),
        }
    }

    /// Bytes to the end of the open part of a packet, or of its header; 0 between packets.
    pub fn bytes_of_part_left(&self) -> usize {
        self.framer.bytes_of_part_left()
    }

    /// Numbers the packets from the next one on, which gets `next`.
    pub fn renumber(&mut self, next: u8) {
        self.framer.renumber(next);
    }

    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// The number of the last packet, as it was passed on.
    pub fn number(&self) -> u8 {
        self.framer.number()
    }

    /// Follows the answer through the next bytes of the server.
    pub fn feed(&mut self, bytes: &mut [u8]) -> Result<Consumed, Error> {
        let mut at = 0;
        let step = loop {
            // An error begins with 0xff; a row that begins with 0xfe may be the end of the rows.
            if self.expect == Expect::Rows {
                let passed = self.framer.pass_whole(bytes, &mut at, 0xfe);
                self.summary.rows += passed;
                self.summary.has_begun |= passed > 0;
            }
            match self.framer.next(bytes, &mut at) {
                FramerEvent::Nothing => break Step::More,
                FramerEvent::Head { length, is_first } => {
                    self.in_first_part = is_first;
                    if is_first {
                        self.length = length;
                        self.head_length = 0;
                    }
                }
                FramerEvent::Payload(range) => {
                    if self.in_first_part {
                        self.look_at(&bytes[range]);
                    }
                }
                FramerEvent::End => match self.packet_ended()? {
                    Step::More => {}
                    step => break step,
                },
            }
        };
        self.summary.bytes += at as u64;
        Ok(Consumed { used: at, step })
    }

    fn look_at(&mut self, payload: &[u8]) {
        let room = HEAD - self.head_length;
        let taken = payload.len().min(room);
        self.head[self.head_length..self.head_length + taken].copy_from_slice(&payload[..taken]);
        self.head_length += taken;
    }

    fn packet_ended(&mut self) -> Result<Step, Error> {
        let (head, head_length) = (self.head, self.head_length);
        let head = &head[..head_length];
        if head.first() == Some(&0xff) {
            if head.get(1..3) == Some(&PROGRESS) {
                return Ok(Step::More);
            }
            self.summary.begin = Begin::Err;
            self.summary.has_begun = true;
            return Ok(Step::Done);
        }
        let step = match self.expect {
            Expect::Packet => self.single(head),
            Expect::Result => self.result(head)?,
            Expect::Columns(left) => {
                self.expect = match left {
                    0 | 1 => self.after_columns(),
                    _ => Expect::Columns(left - 1),
                };
                Step::More
            }
            Expect::ColumnsEnd => {
                let end = end_of_rows(head)?;
                self.note(end.status, end.warnings);
                // The results of a procedure say that more follow: only the cursor of the statement itself is alone.
                let has_rows = end.status & CURSOR_EXISTS == 0 || end.status & MORE_RESULTS != 0;
                if self.may_have_cursor && !has_rows {
                    Step::Done
                } else {
                    self.expect = Expect::Rows;
                    Step::More
                }
            }
            Expect::Rows => self.row(head)?,
            Expect::Prepared => self.prepared(head)?,
            // MySQL 8.0.22 to 8.4.0 announce a parameter of ORDER BY and do not define it: the EOF packet decides.
            Expect::Definitions(_, behind) if !self.wording.deprecate_eof && self.is_eof(head) => {
                self.definitions(behind, 0)
            }
            Expect::Definitions(left, behind) if left > 1 => {
                self.expect = Expect::Definitions(left - 1, behind);
                Step::More
            }
            Expect::Definitions(_, behind) if self.wording.deprecate_eof => {
                self.definitions(behind, 0)
            }
            Expect::Definitions(_, behind) => {
                self.expect = Expect::DefinitionsEnd(behind);
                Step::More
            }
            Expect::DefinitionsEnd(behind) => self.definitions(behind, 0),
            Expect::Events if self.is_eof(head) => Step::Done,
            Expect::Events => Step::More,
        };
        // The answer proper comes after the file.
        if step != Step::File {
            self.summary.has_begun = true;
        }
        Ok(step)
    }

    fn single(&mut self, head: &[u8]) -> Step {
        match head.first() {
            Some(0) => {
                if let Ok(ok) = OkReply::parse(head) {
                    self.noted_ok(&ok);
                }
            }
            Some(0xfe) => {
                if let Ok(end) = end_of_rows(head) {
                    self.note(end.status, end.warnings);
                }
            }
            _ => {}
        }
        Step::Done
    }

    fn result(&mut self, head: &[u8]) -> Result<Step, Error> {
        match head.first() {
            Some(0) => {
                let ok = OkReply::parse(head)?;
                self.noted_ok(&ok);
                Ok(self.result_ended(ok.status))
            }
            Some(0xfb) => Ok(Step::File),
            Some(0xfe) if self.length < EOF_BELOW => {
                let end = end_of_rows(head)?;
                self.note(end.status, end.warnings);
                Ok(Step::Done)
            }
            _ => {
                let mut fields = Fields(head);
                let Some(columns @ 1..=COLUMNS_MAX) = fields.lenenc() else {
                    return Err(Error::Malformed {
                        what: "number of columns",
                    });
                };
                if !self.summary.has_begun {
                    self.summary.begin = Begin::Rows;
                    self.summary.columns = usize::try_from(columns).unwrap_or_default();
                }
                let follow = !self.wording.cache_metadata || fields.u8() != Some(0);
                self.expect = if follow {
                    Expect::Columns(columns)
                } else {
                    self.after_columns()
                };
                Ok(Step::More)
            }
        }
    }

    fn after_columns(&self) -> Expect {
        if self.wording.deprecate_eof {
            Expect::Rows
        } else {
            Expect::ColumnsEnd
        }
    }

    fn row(&mut self, head: &[u8]) -> Result<Step, Error> {
        let is_end = head.first() == Some(&0xfe)
            && (self.length < EOF_BELOW || self.wording.deprecate_eof && self.length < PAYLOAD_MAX);
        if !is_end {
            if head.is_empty() {
                return Err(Error::Malformed { what: "empty row" });
            }
            self.summary.rows += 1;
            return Ok(Step::More);
        }
        let status = if self.wording.deprecate_eof {
            let ok = OkReply::parse(head)?;
            self.note(ok.status, ok.warnings);
            ok.status
        } else {
            let end = end_of_rows(head)?;
            self.note(end.status, end.warnings);
            end.status
        };
        Ok(self.result_ended(status))
    }

    fn result_ended(&mut self, status: u16) -> Step {
        if status & MORE_RESULTS == 0 {
            return Step::Done;
        }
        self.expect = Expect::Result;
        Step::More
    }

    fn prepared(&mut self, head: &[u8]) -> Result<Step, Error> {
        let mut fields = Fields(head);
        let counts = fields
            .u8()
            .filter(|first| *first == 0)
            .and_then(|_| fields.u32())
            .and_then(|_| fields.u16().zip(fields.u16()));
        let Some((columns, parameters)) = counts else {
            return Err(Error::Malformed {
                what: "answer to the preparation of a statement",
            });
        };
        self.summary.begin = Begin::Ok;
        self.summary.columns = usize::from(columns);
        Ok(self.definitions(u64::from(parameters), u64::from(columns)))
    }

    /// Expects a group of definitions, and another one behind it.
    fn definitions(&mut self, first: u64, behind: u64) -> Step {
        self.expect = match (first, behind) {
            (0, 0) => return Step::Done,
            (0, behind) => Expect::Definitions(behind, 0),
            (first, behind) => Expect::Definitions(first, behind),
        };
        Step::More
    }

    fn is_eof(&self, head: &[u8]) -> bool {
        head.first() == Some(&0xfe) && self.length < EOF_BELOW
    }

    fn noted_ok(&mut self, ok: &OkReply<'_>) {
        if !self.summary.has_begun {
            self.summary.begin = Begin::Ok;
            self.summary.affected_rows = ok.affected_rows;
            self.summary.insert_id = ok.last_insert_id;
        }
        self.note(ok.status, ok.warnings);
    }

    fn note(&mut self, status: u16, warnings: u16) {
        self.summary.status = status;
        self.summary.has_status = true;
        self.summary.warnings = warnings;
    }
}

#[cfg(test)]
mod tests;
