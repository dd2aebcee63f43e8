//! The population of clause 4.3.3.1: how many rows there are, and what they depend on.

use super::nurand::Constants;

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
}
