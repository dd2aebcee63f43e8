//! The five transactions, in the order of steps of the specification's clauses.

pub(crate) mod call;
mod customer;
pub(crate) mod delivery;
pub(crate) mod new_order;
pub(crate) mod order_status;
pub(crate) mod payment;
pub(crate) mod stock_level;
