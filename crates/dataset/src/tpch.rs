//! TPC-H: its eight tables, their rows at any scale factor, and the checks of the loaded tables.
//!
//! The rows are those of the TPC's dbgen. Results are "TPC-H-like": this is not an implementation of the benchmark.

mod check;
mod lines;
pub mod options;
mod plan;
mod rows;
mod scale_factor;
mod table;

pub use check::{ForeignKeyCheck, TableCheck, foreign_key_checks, table_check};
pub use options::{TpchData, TpchLoad};
pub use plan::{KeyTime, Keys, LoadPlan, Stage};
pub use rows::TableRows;
pub use scale_factor::{NoScaleFactor, ScaleFactor};
pub use table::{ForeignKey, Table, known_tables};
