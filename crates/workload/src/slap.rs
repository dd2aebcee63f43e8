//! mysqlslap: the SQL that it generates, the user's own statements, and the clients that run both.

mod generator;
mod options;
mod plan;
mod script;
mod tables;
mod user;

pub use generator::{Columns, Generated, Generator, LoadType, PrimaryKey};
pub use options::{COLUMNS_MAX, SlapData, SlapLoad, default_of, option_named};
pub use plan::{Keys, Plan, Planned};
pub use script::{Script, Statement};
pub use tables::{Engine, Tables};
pub use user::SlapUser;
