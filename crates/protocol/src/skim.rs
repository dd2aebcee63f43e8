//! Skimming: reading the answer to a statement without keeping it.

use crate::{
    error::Error,
    lenenc::Fields,
    packets::{CONTROL_BYTES_MAX, Head, PAYLOAD_MAX, PacketReader},
    replies::{MORE_RESULTS, OkReply, end_of_rows, server_error},
    row_sink::{RowSink, too_much},
};

/// Largest accepted number of columns; the server's own limit is 4,096.
const COLUMNS_MAX: u64 = 65_535;

/// The outcome of a statement, over all of its results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Outcome {
    /// Number of rows received.
    pub rows: u64,
    /// Number of rows changed, as reported by the server.
    pub affected_rows: u64,
    /// The last AUTO_INCREMENT value; 0 if there was none.
    pub last_insert_id: u64,
    /// Number of warnings of the last result.
    pub warnings: u32,
    /// Number of results that were sets of rows.
    pub result_sets: u32,
}

/// The state of reading an answer.
pub(crate) enum Step {
    /// More data has to be received.
    More,
    Done(Outcome),
    /// The server requests the content of a file; the answer continues after it.
    FileRequest,
}

/// The negotiated capabilities that affect the format of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Dialect {
    /// No EOF packet after the columns, and an OK packet after the rows.
    pub(crate) deprecate_eof: bool,
    /// MariaDB sends a flag after the number of columns that says whether their definitions follow: it sends the
    /// definitions of a prepared statement only once.
    pub(crate) cache_metadata: bool,
}

/// Reads one answer.
pub(crate) struct Skim {
    expect: ExpectedPacket,
    dialect: Dialect,
    file_requested: bool,
    outcome: Outcome,
    /// The server's status at the end of the last result.
    status: u16,
}

enum ExpectedPacket {
    /// Expects OK, error, a file request or a number of columns.
    Result,
    Columns(u64),
    ColumnsEnd,
    Rows,
}

impl Skim {
    pub(crate) fn new(dialect: Dialect) -> Self {
        Self {
            expect: ExpectedPacket::Result,
            dialect,
            file_requested: false,
            outcome: Outcome::default(),
            status: 0,
        }
    }

    /// The server's status at the end of the answer.
    pub(crate) fn status(&self) -> u16 {
        self.status
    }

    /// Whether a row has passed.
    pub(crate) fn has_rows(&self) -> bool {
        self.outcome.rows > 0
    }

    /// Reads as far as the received bytes allow; columns and rows are passed to `kept` if given.
    pub(crate) fn step(
        &mut self,
        packets: &mut PacketReader,
        info: &mut Vec<u8>,
        mut kept: Option<&mut dyn RowSink>,
    ) -> Result<Step, Error> {
        loop {
            let unwanted = self.is_unwanted(kept.as_deref());
            // Nearly every packet is complete and needs no other processing.
            if unwanted {
                if self.skip_whole(packets) {
                    continue;
                }
                if let Some(range) = packets.take_whole(CONTROL_BYTES_MAX) {
                    match self.control(packets.payload(range), info, &mut kept)? {
                        Some(step) => return Ok(step),
                        None => continue,
                    }
                }
            }
            let Some(head) = packets.peek()? else {
                return Ok(Step::More);
            };
            if !self.is_bulk(head) {
                let Some(range) = packets.take(CONTROL_BYTES_MAX)? else {
                    return Ok(Step::More);
                };
                match self.control(packets.payload(range), info, &mut kept)? {
                    Some(step) => return Ok(step),
                    None => continue,
                }
            }
            match kept.as_mut() {
                Some(kept) if !unwanted => {
                    let taken = packets.take(kept.bytes_left()).map_err(|_| too_much())?;
                    let Some(range) = taken else {
                        return Ok(Step::More);
                    };
                    let payload = packets.payload(range);
                    match self.expect {
                        ExpectedPacket::Columns(_) => kept.column(payload)?,
                        _ => kept.row(payload)?,
                    }
                }
                _ => packets.skip(head),
            }
            self.bulk_passed(1);
        }
    }

    /// Whether the expected columns or rows are not kept.
    fn is_unwanted(&self, kept: Option<&dyn RowSink>) -> bool {
        match (&self.expect, kept) {
            (ExpectedPacket::Columns(_), Some(_)) => false,
            (ExpectedPacket::Rows, Some(kept)) => !kept.keeps_rows(),
            _ => true,
        }
    }

    /// Skips complete columns or rows; false if there are none.
    fn skip_whole(&mut self, packets: &mut PacketReader) -> bool {
        let passed = match self.expect {
            // An error begins with 0xff; a row that begins with 0xfe may be the end of the rows.
            ExpectedPacket::Columns(left) => packets.skip_whole(left, 0xff),
            ExpectedPacket::Rows => packets.skip_whole(u64::MAX, 0xfe),
            ExpectedPacket::Result | ExpectedPacket::ColumnsEnd => return false,
        };
        if passed > 0 {
            self.bulk_passed(passed);
        }
        passed > 0
    }

    /// Whether the packet is a row or a column definition, which is only needed if rows are kept.
    fn is_bulk(&self, head: Head) -> bool {
        match (&self.expect, head.first) {
            (ExpectedPacket::Result | ExpectedPacket::ColumnsEnd, _) | (_, Some(0xff)) => false,
            // A row that begins with 0xfe is longer than any packet, so a shorter packet ends the rows.
            (ExpectedPacket::Rows, Some(0xfe)) => head.length == PAYLOAD_MAX,
            (ExpectedPacket::Rows | ExpectedPacket::Columns(_), _) => true,
        }
    }

    fn bulk_passed(&mut self, count: u64) {
        match &mut self.expect {
            ExpectedPacket::Columns(left) if *left > count => *left -= count,
            ExpectedPacket::Columns(_) => self.columns_passed(),
            _ => self.outcome.rows += count,
        }
    }

    /// Handles a packet that is neither a row nor a column.
    fn control(
        &mut self,
        payload: &[u8],
        info: &mut Vec<u8>,
        kept: &mut Option<&mut dyn RowSink>,
    ) -> Result<Option<Step>, Error> {
        match (&self.expect, payload.first()) {
            (_, Some(0xff)) => Err(server_error(payload)),
            (ExpectedPacket::Result, Some(0x00)) => self.ok(payload, info),
            (ExpectedPacket::Result, Some(0xfb)) => {
                if std::mem::replace(&mut self.file_requested, true) {
                    return Err(Error::Malformed {
                        what: "second file request for one statement",
                    });
                }
                info.clear();
                info.extend_from_slice(&payload[1..]);
                Ok(Some(Step::FileRequest))
            }
            (ExpectedPacket::Result, Some(_)) => {
                let named = self.begin_rows(Fields(payload))?;
                if let Some(kept) = kept {
                    kept.begin_set(named);
                }
                Ok(None)
            }
            (ExpectedPacket::ColumnsEnd, Some(0xfe)) => {
                self.expect = ExpectedPacket::Rows;
                Ok(None)
            }
            (ExpectedPacket::Rows, Some(0xfe)) if self.dialect.deprecate_eof => {
                self.ok(payload, info)
            }
            (ExpectedPacket::Rows, Some(0xfe)) => {
                let end = end_of_rows(payload)?;
                self.outcome.warnings = u32::from(end.warnings);
                Ok(self.result_ended(end.status))
            }
            _ => Err(Error::Malformed {
                what: "packet of an unexpected kind",
            }),
        }
    }

    /// Parses the number of columns, and returns whether their definitions follow.
    fn begin_rows(&mut self, mut fields: Fields<'_>) -> Result<bool, Error> {
        let Some(columns @ 1..=COLUMNS_MAX) = fields.lenenc() else {
            return Err(Error::Malformed {
                what: "number of columns",
            });
        };
        self.outcome.result_sets += 1;
        let named = !self.dialect.cache_metadata || fields.u8() != Some(0);
        if named {
            self.expect = ExpectedPacket::Columns(columns)
        } else {
            self.columns_passed()
        }
        Ok(named)
    }

    fn columns_passed(&mut self) {
        self.expect = if self.dialect.deprecate_eof {
            ExpectedPacket::Rows
        } else {
            ExpectedPacket::ColumnsEnd
        };
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
        self.expect = ExpectedPacket::Result;
        self.status = status;
        (status & MORE_RESULTS == 0).then_some(Step::Done(self.outcome))
    }
}
