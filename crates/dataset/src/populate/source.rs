//! The rows of a range of units as the stream for a LOAD DATA LOCAL.

use std::{
    io,
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use protocol::LocalSource;
use reactor::Interrupt;

use crate::table_data::Rows;

/// Bytes that are generated before they are sent: limits the memory of a stream.
const PIECE_BYTES: usize = 256 << 10;

/// Rows and bytes of all streams.
#[derive(Debug, Default)]
pub(super) struct Tally {
    rows: AtomicU64,
    bytes: AtomicU64,
}

impl Tally {
    pub(super) fn rows(&self) -> u64 {
        self.rows.load(Ordering::Relaxed)
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    fn add(&self, rows: u64, bytes: u64) {
        self.rows.fetch_add(rows, Ordering::Relaxed);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    fn take_back(&self, rows: u64, bytes: u64) {
        self.rows.fetch_sub(rows, Ordering::Relaxed);
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// Lines of a range of units, generated while they are sent.
pub(super) struct UnitLines<'t> {
    rows: Arc<dyn Rows>,
    units: Range<u64>,
    /// The part of the tally that comes from here.
    sent_rows: u64,
    sent_bytes: u64,
    tally: &'t Tally,
    end: &'t Interrupt,
}

impl<'t> UnitLines<'t> {
    pub(super) fn new(
        rows: Arc<dyn Rows>,
        units: Range<u64>,
        tally: &'t Tally,
        end: &'t Interrupt,
    ) -> Self {
        Self {
            rows,
            units,
            sent_rows: 0,
            sent_bytes: 0,
            tally,
            end,
        }
    }

    /// Subtracts the sent rows from the tally: the server has rolled them back.
    pub(super) fn take_back(&self) {
        self.tally.take_back(self.sent_rows, self.sent_bytes);
    }

    /// Whether units are left to generate.
    pub(super) fn has_more(&self) -> bool {
        !self.units.is_empty()
    }
}

impl LocalSource for UnitLines<'_> {
    fn fill(&mut self, buffer: &mut Vec<u8>) -> io::Result<bool> {
        if self.end.is_raised() {
            return Err(io::Error::from(io::ErrorKind::Interrupted));
        }
        let begin = buffer.len();
        let mut rows = 0;
        while buffer.len() - begin < PIECE_BYTES {
            let Some(unit) = self.units.next() else { break };
            rows += self.rows.write(unit, buffer);
            if let Some(failure) = self.rows.failure() {
                return Err(failure);
            }
        }
        let bytes = (buffer.len() - begin) as u64;
        self.tally.add(rows, bytes);
        self.sent_rows += rows;
        self.sent_bytes += bytes;
        Ok(!self.units.is_empty())
    }
}
