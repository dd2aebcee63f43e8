//! The population of clause 4.3.3.1: which rows there are, as text, from any place on.

use std::ops::Range;

use super::{notes, nurand::Constants, tables::Table};
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
            loaded: None,
        }
    }
}

/// The rows of a table for some warehouses.
#[derive(Debug, Clone)]
pub struct TableRows {
    population: Population,
    table: Table,
    units: Range<u64>,
    /// Units that are in the table, over all warehouses, if that is noted.
    loaded: Option<Vec<Range<u64>>>,
}

impl TableRows {
    /// The same rows, to be noted when they are in the table; these units are in it already.
    pub(crate) fn going_on(self, loaded: Vec<Range<u64>>) -> Self {
        Self {
            loaded: Some(loaded),
            ..self
        }
    }
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

    fn loaded(&self) -> Vec<Range<u64>> {
        let Range { start, end } = self.units;
        let within = |unit: u64| unit.clamp(start, end) - start;
        let loaded = self.loaded.iter().flatten();
        loaded
            .map(|units| within(units.start)..within(units.end))
            .filter(|units| !units.is_empty())
            .collect()
    }

    fn mark(&self, units: &Range<u64>) -> Option<String> {
        let of_all = self.units.start + units.start..self.units.start + units.end;
        let is_noted = self.loaded.is_some();
        is_noted.then(|| notes::part_sql(self.table, &of_all))
    }
}

#[cfg(test)]
#[path = "population_tests.rs"]
mod tests;
