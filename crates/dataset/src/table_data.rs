//! A table with its rows, in the form that every loader accepts.

use std::{io, ops::Range, sync::Arc};

/// Rows of a table that are generated and not stored: each unit independently, in any order, always the same.
///
/// A unit is generated in one call: one row, or one order with all its lines. The loader requests units in
/// ascending order, for ranges of them from several threads at a time.
pub trait Rows: Send + Sync {
    fn units(&self) -> u64;

    /// Appends the rows of a unit (from 0) to `out` and returns their number.
    ///
    /// A row is a line of text, ASCII unless [`Rows::charset`] is another than `binary`: fields in the order of [`TableData::columns`] with a tab between them, `\N`
    /// for NULL, a line feed at the end; tab, line feed and backslash inside a field have a backslash before them.
    /// Ascending units must have ascending keys, so that the primary key grows at its end.
    fn write(&self, unit: u64, out: &mut Vec<u8>) -> u64;

    /// Character set of the lines: `binary` where all columns take the bytes as they are.
    fn charset(&self) -> &'static str {
        "binary"
    }

    /// What went wrong in [`Rows::write`], which then appended nothing more.
    fn failure(&self) -> Option<io::Error> {
        None
    }

    /// Where a row of these units comes from, counted from 1, such as `orders.csv:17`.
    fn place(&self, _units: &Range<u64>, _row: u64) -> Option<String> {
        None
    }

    /// Units whose rows are already in the table, in ascending order: a resumed load omits them.
    fn loaded(&self) -> Vec<Range<u64>> {
        Vec::new()
    }

    /// A statement that notes that the rows of these units are loaded, to be sent in the same transaction as the rows.
    /// `None` for a load that cannot be resumed after an interruption.
    fn mark(&self, _units: &Range<u64>) -> Option<String> {
        None
    }
}

/// A table that a loader creates and fills.
#[derive(Clone)]
pub struct TableData {
    /// Its name, as written in SQL.
    pub name: String,
    /// Columns of a row, such as `id, k, c, pad`.
    pub columns: String,
    /// Statements that create it, such as `CREATE TABLE`.
    pub create: Vec<String>,
    /// Its rows; `None` for a table that stays empty.
    pub rows: Option<Arc<dyn Rows>>,
    /// Statements after its rows are loaded: an index then costs less than with row-by-row maintenance.
    pub finish: Vec<String>,
    /// Several connections may fill it at the same time. False for a table whose AUTO_INCREMENT column is loaded: the
    /// server allows only one LOAD DATA at a time to use the counter, unless innodb_autoinc_lock_mode is 2.
    pub is_divisible: bool,
}
