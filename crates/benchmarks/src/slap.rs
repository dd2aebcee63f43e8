//! mysqlslap: the SQL that it generates, the user's own statements, the clients that run both, and its report.

mod benchmark;
mod generator;
pub mod layout;
mod options;
mod plan;
mod script;
mod tables;
mod user;

pub(crate) use benchmark::Slap;
pub use benchmark::{Clients, STATEMENTS_BYTES_MAX};
pub use generator::{Columns, Generator, LoadType, PrimaryKey};
pub use options::{COLUMNS_MAX, SlapLoad, default_of, option_named};
pub use plan::{Keys, Plan, Planned};
pub use script::{Script, Statement};
pub use tables::{Engine, TableStatement, Tables};
