//! sysbench's OLTP family: its tables, statements and distributions, reproducible from a seed; their load, check and
//! report.

mod benchmark;
pub mod check;
mod data_set;
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
mod user;

pub(crate) use benchmark::Oltp;
pub use benchmark::{Connections, DATABASE, group, plan, prepared_statements};
pub use data_set::OltpTables;
pub use distribution::RandType;
pub use options::{OltpData, OltpLoad, SECTIONS};
pub use plan::{IgnoredErrors, Plan};
pub use prewarm::Prewarm;
pub use script::Script;
pub use settings::Settings;
pub use table::drop_statement;
