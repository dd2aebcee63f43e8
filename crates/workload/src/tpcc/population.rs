//! The population of clause 4.3.3.1: which rows there are, as text, from any place on.

use std::ops::Range;

use super::{nurand::Constants, tables::Table};
use crate::Rows;

/// Items.
pub(crate) const ITEMS: u32 = 100_000;
/// Districts of a warehouse.
pub(crate) const DISTRICTS: u32 = 10;
/// Customers of a district.
pub(crate) const CUSTOMERS: u32 = 3_000;
/// Orders of a district.
pub(crate) const ORDERS: u32 = 3_000;
/// Orders of a district that were delivered, the oldest ones.
pub(crate) const DELIVERED: u32 = 2_100;
/// Orders of a district that were not.
pub(crate) const UNDELIVERED: u32 = ORDERS - DELIVERED;

/// The most warehouses that the tables' `smallint` can number.
pub const WAREHOUSES_MAX: u32 = 32_767;

/// What the rows depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Population {
    /// The same seed gives the same rows.
    pub seed: u64,
}

/// What makes the rows of a table: a row, or an order with its lines.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Unit {
    /// From 0 on over all warehouses.
    pub(crate) ordinal: u64,
    /// From 1.
    pub(crate) warehouse: u32,
    /// From 0 on within the warehouse.
    pub(crate) within: u32,
}

impl Population {
    /// The constants of NURand that the population was made with.
    pub fn constants(&self) -> Constants {
        Constants::of_load(self.seed)
    }

    /// The rows of a table for these warehouses, numbered from 1, in the order of the primary key.
    ///
    /// Items belong to no warehouse: they come whatever the warehouses are.
    pub fn rows(&self, table: Table, warehouses: Range<u32>) -> TableRows {
        let per_warehouse = table.definition().units;
        let count = |warehouses: u32| u64::from(warehouses) * per_warehouse;
        let units = match table.is_per_warehouse() {
            true => count(warehouses.start - 1)..count(warehouses.end - 1),
            false => 0..per_warehouse,
        };
        TableRows {
            population: *self,
            table,
            units,
        }
    }
}

/// The rows of a table for some warehouses.
#[derive(Debug, Clone)]
pub struct TableRows {
    population: Population,
    table: Table,
    units: Range<u64>,
}

impl Rows for TableRows {
    fn units(&self) -> u64 {
        self.units.end - self.units.start
    }

    fn write(&self, unit: u64, out: &mut Vec<u8>) -> u64 {
        let definition = self.table.definition();
        let ordinal = self.units.start + unit;
        let unit = Unit {
            ordinal,
            warehouse: (ordinal / definition.units) as u32 + 1,
            within: (ordinal % definition.units) as u32,
        };
        (definition.write)(&self.population, unit, out)
    }
}

#[cfg(test)]
#[path = "population_tests.rs"]
mod tests;
