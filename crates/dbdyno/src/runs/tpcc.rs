//! TPC-C's tables and terminals as an experiment, `dbdyno tpcc` and the front doors use them.

pub(crate) mod consistency;
pub(crate) mod data;
pub(crate) mod database;
pub(crate) mod deliveries;
pub(crate) mod population;
pub(crate) mod terminals;
