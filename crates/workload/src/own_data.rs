//! Data of the user's own: tables by SQL, rows by rules.

pub mod generate;
mod options;
mod schema;

pub use options::OwnData;
pub use schema::{NotAllowed, Schema, SchemaError, beginning};
