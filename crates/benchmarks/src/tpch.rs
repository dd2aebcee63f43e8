//! TPC-H: its tables as an experiment and `dbdyno tpch` use them, the load of one of them, and their check.

mod benchmark;
pub mod check;
mod table_load;

pub use benchmark::{DATABASE, Filled, Tpch, prepare};
