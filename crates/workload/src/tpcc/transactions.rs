//! The five transactions, told as the specification's clauses tell them.

pub(crate) mod call;
mod customer;
pub(crate) mod delivery;
pub(crate) mod new_order;
pub(crate) mod order_status;
pub(crate) mod payment;
pub(crate) mod stock_level;
