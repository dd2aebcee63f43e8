//! Statements on a server: explained, timed, compared under variants, and advised on.
//!
//! Nothing is left behind: what a statement can reach is examined before it is executed, a change is rolled back, and a
//! variant that changes a server is measured on a copy of it.

pub mod advise;
mod catalogue;
pub mod compare;
mod connection;
mod counters;
mod csv_field;
mod effect;
mod examination;
mod executable;
mod execution;
mod execution_counts;
pub mod explain;
mod guard;
mod other_work;
mod reach;
mod server_version;
mod session;
mod setting;
mod statement_event;
mod statement_text;
mod statistics;
mod system_schemas;
pub mod time;
mod top_statements;
mod visibility;
mod without_limit;

pub use connection::Connection;
pub use executable::executable;
pub use execution_counts::ExecutionCounts;
pub use session::quoting_of;
pub use top_statements::TopStatements;
