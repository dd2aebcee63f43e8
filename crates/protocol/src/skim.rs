//! Reading the answer to a statement without keeping it.

use crate::{
    error::Error,
    lenenc::Fields,
    packets::{Head, PAYLOAD_MAX, PacketReader},
    replies::{MORE_RESULTS, OkReply, end_of_rows, server_error},
    rows::{Keep, too_much},
};

/// Limit of packets that are kept: errors, OKs, column counts and file names.
pub(crate) const CONTROL_BYTES_MAX: usize = 64 << 10;
/// The server's own limit is 4,096.
const COLUMNS_MAX: u64 = 65_535;

/// What a statement did, over all of its results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Outcome {
    /// Rows that were received.
    pub rows: u64,
    /// Rows that were changed, as the server counts.
    pub affected_rows: u64,
    /// The last AUTO_INCREMENT value; 0 where there was none.
    pub last_insert_id: u64,
    /// Warnings of the last result.
    pub warnings: u32,
    /// Results that were sets of rows.
    pub result_sets: u32,
}

/// Where the answer stands.
pub(crate) enum Step {
    /// More has to be received.
    More,
    /// The answer is complete.
    Done(Outcome),
    /// The server asks for the content of a file; the answer goes on after that.
    FileRequest,
}

/// Reads one answer.
pub(crate) struct Skim {
    expect: Expect,
    /// Both sides leave the EOF packets out.
    deprecate_eof: bool,
    file_requested: bool,
    outcome: Outcome,
}

enum Expect {
    /// OK, error, file request or a number of columns.
    Result,
    Columns(u64),
    ColumnsEnd,
    Rows,
}

impl Skim {
    pub(crate) fn new(deprecate_eof: bool) -> Self {
        Self {
            expect: Expect::Result,
            deprecate_eof,
            file_requested: false,
            outcome: Outcome::default(),
        }
    }

    /// Reads on, as far as the received bytes go; columns and rows go to `kept` if there is one.
    pub(crate) fn step(
        &mut self,
        packets: &mut PacketReader,
        info: &mut Vec<u8>,
        mut kept: Option<&mut dyn Keep>,
    ) -> Result<Step, Error> {
        while let Some(head) = packets.peek()? {
            if !self.is_bulk(head) {
                let Some(range) = packets.take(CONTROL_BYTES_MAX)? else {
                    break;
                };
                if let Some(step) = self.control(packets.payload(range), info)? {
                    return Ok(step);
                }
                if let (Expect::Columns(_), Some(kept)) = (&self.expect, kept.as_mut()) {
                    kept.begin_set();
                }
                continue;
            }
            match kept.as_mut() {
                None => packets.skip(head),
                Some(kept) => {
                    let Some(range) = packets.take(kept.bytes_left()).map_err(|_| too_much())?
                    else {
                        break;
                    };
                    let payload = packets.payload(range);
                    match self.expect {
                        Expect::Columns(_) => kept.column(payload)?,
                        _ => kept.row(payload)?,
                    }
                }
            }
            self.bulk_passed();
        }
        Ok(Step::More)
    }

    /// Whether the packet is a row or a column definition, which nobody needs unless rows are kept.
    fn is_bulk(&self, head: Head) -> bool {
        match (&self.expect, head.first) {
            (Expect::Result | Expect::ColumnsEnd, _) | (_, Some(0xff)) => false,
            // A row that begins with 0xfe is longer than any packet, so a shorter packet ends the rows.
            (Expect::Rows, Some(0xfe)) => head.length == PAYLOAD_MAX,
            (Expect::Rows | Expect::Columns(_), _) => true,
        }
    }

    fn bulk_passed(&mut self) {
        match &mut self.expect {
            Expect::Columns(left) if *left > 1 => *left -= 1,
            Expect::Columns(_) if self.deprecate_eof => self.expect = Expect::Rows,
            Expect::Columns(_) => self.expect = Expect::ColumnsEnd,
            _ => self.outcome.rows += 1,
        }
    }

    /// Handles a packet that is not a row or a column.
    fn control(&mut self, payload: &[u8], info: &mut Vec<u8>) -> Result<Option<Step>, Error> {
        match (&self.expect, payload.first()) {
            (_, Some(0xff)) => Err(server_error(payload)),
            (Expect::Result, Some(0x00)) => self.ok(payload, info),
            (Expect::Result, Some(0xfb)) => {
                if std::mem::replace(&mut self.file_requested, true) {
                    return Err(Error::Malformed {
                        what: "second file request for one statement",
                    });
                }
                info.clear();
                info.extend_from_slice(&payload[1..]);
                Ok(Some(Step::FileRequest))
            }
            (Expect::Result, Some(_)) => {
                let columns = Fields(payload).lenenc();
                let columns = columns
                    .filter(|columns| (1..=COLUMNS_MAX).contains(columns))
                    .ok_or(Error::Malformed {
                        what: "number of columns",
                    })?;
                self.outcome.result_sets += 1;
                self.expect = Expect::Columns(columns);
                Ok(None)
            }
            (Expect::ColumnsEnd, Some(0xfe)) => {
                self.expect = Expect::Rows;
                Ok(None)
            }
            (Expect::Rows, Some(0xfe)) if self.deprecate_eof => self.ok(payload, info),
            (Expect::Rows, Some(0xfe)) => {
                let end = end_of_rows(payload)?;
                self.outcome.warnings = u32::from(end.warnings);
                Ok(self.result_ended(end.status))
            }
            _ => Err(Error::Malformed {
                what: "packet of an unexpected kind",
            }),
        }
    }

    fn ok(&mut self, payload: &[u8], info: &mut Vec<u8>) -> Result<Option<Step>, Error> {
        let ok = OkReply::parse(payload)?;
        self.outcome.affected_rows = self.outcome.affected_rows.saturating_add(ok.affected_rows);
        if ok.last_insert_id != 0 {
            self.outcome.last_insert_id = ok.last_insert_id;
        }
        self.outcome.warnings = u32::from(ok.warnings);
        info.clear();
        info.extend_from_slice(ok.info);
        Ok(self.result_ended(ok.status))
    }

    fn result_ended(&mut self, status: u16) -> Option<Step> {
        self.expect = Expect::Result;
        (status & MORE_RESULTS == 0).then_some(Step::Done(self.outcome))
    }
}
