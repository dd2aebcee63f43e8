//! TPC-C's tables and terminals as an experiment, `dbdyno tpcc` and the front doors use them.

pub mod consistency;
pub mod data;
pub mod deliveries;
pub mod layout;
pub mod population;
pub mod terminals;
pub mod tpcc_mysql_layout;

/// The database of the tables, unless another is named.
pub const DATABASE: &str = "tpcc";
