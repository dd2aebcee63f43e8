//! The five transactions, in the order of steps of the specification's clauses.

pub(super) mod call;
mod customer;
pub(super) mod delivery;
pub(super) mod new_order;
pub(super) mod order_status;
pub(super) mod payment;
pub(super) mod stock_level;
