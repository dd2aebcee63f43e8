//! A table with its rows as any loader takes it.

use std::{ops::Range, sync::Arc};

/// Rows of a table that are made, not kept: each unit by itself, in any order, always the same.
///
/// A unit is whatever is made in one go: one row, or one order with all its lines. The loader asks for units in
/// ascending order, for ranges of them from several threads at a time.
pub trait Rows: Send + Sync {
    /// Number of units.
    fn units(&self) -> u64;

    /// Appends the rows of a unit (from 0) to `out` and says how many they are.
    ///
    /// A row is a line of ASCII text: fields in the order of [`TableData::columns`] with a tab between them, `\N`
    /// for NULL, a line feed at the end; tab, line feed and backslash inside a field have a backslash before them.
    /// Units that ascend must give keys that ascend, so that the primary key grows at its end.
    fn write(&self, unit: u64, out: &mut Vec<u8>) -> u64;

    /// Units whose rows are in the table already, in ascending order: a load that goes on leaves them out.
    fn loaded(&self) -> Vec<Range<u64>> {
        Vec::new()
    }

    /// A statement that notes that the rows of these units are in; it is sent in the same transaction as they are.
    /// None for a load that cannot go on after an interruption.
    fn mark(&self, _units: &Range<u64>) -> Option<String> {
        None
    }
}

/// A table that a loader makes and fills.
#[derive(Clone)]
pub struct TableData {
    /// Its name, as statements spell it.
    pub name: String,
    /// Columns of a row, such as `id, k, c, pad`.
    pub columns: String,
    /// Statements that make it, such as `CREATE TABLE`.
    pub create: Vec<String>,
    /// Its rows; none for a table that stays empty.
    pub rows: Option<Arc<dyn Rows>>,
    /// Statements once its rows are in: an index costs less then than row by row.
    pub finish: Vec<String>,
    /// Several connections may fill it at the same time. Not for a table whose AUTO_INCREMENT column is loaded: the
    /// server lets one LOAD DATA at a time have its counter, unless innodb_autoinc_lock_mode is 2.
    pub is_divisible: bool,
}
