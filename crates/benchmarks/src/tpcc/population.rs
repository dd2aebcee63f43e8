//! The population of clause 4.3.3.1: its row counts and its parameters.

use super::nurand::Constants;

pub(super) const ITEMS: u32 = 100_000;
/// Districts per warehouse.
pub(super) const DISTRICTS: u32 = 10;
/// Customers per district.
pub(super) const CUSTOMERS: u32 = 3_000;
/// Orders per district.
pub(super) const ORDERS: u32 = 3_000;
/// Delivered orders per district, the oldest ones.
pub(super) const DELIVERED: u32 = 2_100;
/// Undelivered orders per district.
pub(super) const UNDELIVERED: u32 = ORDERS - DELIVERED;

/// Maximum number of warehouses in the tables' `smallint` columns.
pub const WAREHOUSES_MAX: u32 = 32_767;

/// Parameters of the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Population {
    /// Seed; the same seed gives the same rows.
    pub seed: u64,
}

/// The unit in which the rows of a table are generated: a row, or an order with its lines.
#[derive(Debug, Clone, Copy)]
pub(super) struct Unit {
    /// Number over all warehouses, from 0.
    pub(super) ordinal: u64,
    /// Number of the warehouse, from 1.
    pub(super) warehouse: u32,
    /// Number within the warehouse, from 0.
    pub(super) within: u32,
}

impl Population {
    /// The NURand constants of the population.
    pub fn constants(&self) -> Constants {
        Constants::of_load(self.seed)
    }
}
