//! Data of the user's own: dumps, tables by SQL, rows of CSV files, rows by rules.

mod csv_file;
pub mod dump;
mod field_kind;
pub mod generate;
mod options;
mod schema;

pub use csv_file::{CsvError, CsvFile};
pub use options::OwnData;
pub use schema::{NotAllowed, Schema, SchemaError, beginning};
