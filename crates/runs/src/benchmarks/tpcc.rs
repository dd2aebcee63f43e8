//! TPC-C's tables and terminals as an experiment, `dbdyno tpcc` and the front doors use them.

pub mod consistency;
pub mod data;
pub mod database;
pub mod deliveries;
pub mod population;
pub mod terminals;
