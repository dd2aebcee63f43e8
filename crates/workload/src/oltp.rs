//! sysbench's OLTP family: its tables, statements and distributions, reproducible from a seed.

mod benchmark;
mod distribution;
#[cfg(test)]
mod fixture;
mod options;
mod permutation;
mod plan;
mod prewarm;
mod row_text;
mod session;
mod settings;
mod statement;
mod table;
mod user;

pub use benchmark::Benchmark;
pub use distribution::RandType;
pub use options::{OltpData, OltpLoad, SECTIONS};
pub use plan::{IgnoredErrors, Plan};
pub use prewarm::Prewarm;
pub use settings::Settings;
pub use table::{
    ExpectedTable, create_statement, drop_statement, expected_tables, known_tables, tables,
};
pub use user::OltpUser;
