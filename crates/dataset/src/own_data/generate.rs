//! Rows that rules describe: `generate = { orders = { rows = "1M", columns = { id = "sequence" } } }`.

mod column;
mod date;
mod error;
#[cfg(test)]
mod golden_tests;
mod law;
mod resolve;
mod rows;
mod rule;
mod table;
mod unique;
mod values;

pub use column::{ColumnInfo, ForeignKey, TableInfo, UniqueKey};
pub use error::GenerateError;
pub use resolve::{generate, needed_parents};
pub use rows::{GeneratedTable, ParentKeys};
pub use table::{TableSpec, create_statements, table_specs};
