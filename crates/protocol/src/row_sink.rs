//! The interface for keeping the columns and rows of an answer, and its limits.

use crate::error::Error;

/// Limit of the kept part of one answer, bytes of memory.
pub(crate) const KEPT_BYTES_MAX: usize = 64 << 20;

pub(crate) const COLUMN: Error = Error::Malformed {
    what: "column definition",
};
pub(crate) const ROW: Error = Error::Malformed { what: "row" };

/// Receives the columns and rows of an answer.
pub(crate) trait RowSink {
    /// Begins a set of rows; if it has no definitions, its columns are the previous ones of the statement.
    fn begin_set(&mut self, defined: bool);
    /// Receives a column definition: catalogue, schema, table, original table, name, and more.
    fn column(&mut self, payload: &[u8]) -> Result<(), Error>;
    fn keeps_rows(&self) -> bool {
        true
    }
    fn row(&mut self, payload: &[u8]) -> Result<(), Error>;
    /// Largest size of the next packet.
    fn bytes_left(&self) -> usize;
}

/// The answer exceeds the limit.
pub(crate) fn too_much() -> Error {
    Error::TooLarge {
        limit: KEPT_BYTES_MAX,
    }
}
