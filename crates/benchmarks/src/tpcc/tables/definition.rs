//! Definition of a table.

use crate::tpcc::population::{Population, Unit};

/// Name, columns and row generator of a table.
pub(crate) struct Definition {
    pub(crate) name: &'static str,
    /// Name and type of each column.
    pub(crate) columns: &'static [(&'static str, &'static str)],
    /// Columns of the primary key; empty where there is none.
    pub(crate) primary_key: &'static str,
    /// Units of the population, per warehouse; for items, of all warehouses.
    pub(crate) units: u64,
    /// Appends the rows of one unit; returns their number.
    pub(crate) write: fn(&Population, Unit, &mut Vec<u8>) -> u64,
}
