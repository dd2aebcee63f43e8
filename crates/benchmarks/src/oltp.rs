//! sysbench's OLTP family: its tables, statements and distributions, reproducible from a seed; their load, check and
//! report.

mod benchmark;
pub mod check;
mod distribution;
#[cfg(test)]
mod fixture;
pub mod layout;
mod options;
mod permutation;
mod plan;
mod prewarm;
mod row_text;
mod script;
mod session;
mod settings;
mod statement;
mod table;
pub mod table_statements;
mod user;

pub use benchmark::{Connections, DATABASE, OltpTables, plan, prepared_statements, streams};
pub(crate) use benchmark::{Oltp, group};
pub use distribution::RandType;
pub use options::{OltpData, OltpLoad, SECTIONS};
pub use plan::{IgnoredErrors, Plan};
pub use script::Script;
pub use settings::Settings;
