//! Where the columns and rows of an answer go that are kept, and the limits of keeping.

use crate::error::Error;

/// Limit of what is kept of one answer, in bytes of memory.
pub(crate) const KEPT_BYTES_MAX: usize = 64 << 20;

pub(crate) const COLUMN: Error = Error::Malformed {
    what: "column definition",
};
pub(crate) const ROW: Error = Error::Malformed { what: "row" };

/// Takes the columns and rows of an answer.
pub(crate) trait RowSink {
    /// Another set of rows begins; without definitions, its columns are those that the statement had before.
    fn begin_set(&mut self, defined: bool);
    /// A column definition: catalogue, schema, table, original table, name, and more.
    fn column(&mut self, payload: &[u8]) -> Result<(), Error>;
    /// Whether rows are taken too.
    fn keeps_rows(&self) -> bool {
        true
    }
    /// A row.
    fn row(&mut self, payload: &[u8]) -> Result<(), Error>;
    /// The longest packet that still may come.
    fn bytes_left(&self) -> usize;
}

/// The answer is longer than what is kept.
pub(crate) fn too_much() -> Error {
    Error::TooLarge {
        limit: KEPT_BYTES_MAX,
    }
}
