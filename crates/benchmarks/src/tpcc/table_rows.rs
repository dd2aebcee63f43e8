//! The rows of a table, as text, for any range of units.

use std::ops::Range;

use dataset::Rows;

use super::{
    notes,
    population::{Population, Unit},
    tables::Table,
};

impl Population {
    /// The rows of a table for these warehouses, numbered from 1, in the order of the primary key.
    ///
    /// Items belong to no warehouse: they are included for any range of warehouses.
    pub fn rows(&self, table: Table, warehouses: Range<u32>) -> TableRows {
        let per_warehouse = table.definition().units;
        let count = |warehouses: u32| u64::from(warehouses) * per_warehouse;
        let units = if table.is_per_warehouse() {
            count(warehouses.start - 1)..count(warehouses.end - 1)
        } else {
            0..per_warehouse
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
    /// Units that are already loaded, over all warehouses; `None` if loaded units are not recorded.
    loaded: Option<Vec<Range<u64>>>,
}

impl TableRows {
    /// The same rows for a resumed load, whose progress is recorded; `loaded` are the units already in the table.
    pub(super) fn going_on(self, loaded: Vec<Range<u64>>) -> Self {
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
#[path = "table_rows_tests.rs"]
mod tests;
