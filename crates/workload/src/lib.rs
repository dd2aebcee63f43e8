//! The benchmarks: rows, statements and transactions of each, reproducible from a seed, run over a connection.

mod bulk;
mod csv_records;
mod diagnostic;
mod glibc_random;
mod inserts;
mod known_table;
pub mod oltp;
pub mod own_data;
pub mod own_session;
pub mod script;
pub mod slap;
pub mod smack;
pub mod sql_script;
mod table_data;
pub mod tpcc;
pub mod tpch;
mod uniform;
mod user;
pub mod wiki;

pub use bulk::{Adjusted, BulkError, Lines, refuses_local};
pub use diagnostic::Diagnostic;
pub use known_table::KnownTable;
pub use table_data::{Rows, TableData};
pub use user::{Class, Failure, Moment, Next, User, Watch};
