//! mysqlslap: the SQL that it makes up, statements that are given, and the clients that run them.

mod generator;
mod plan;
mod script;
mod user;

pub use generator::{Columns, Generated, Generator, LoadType, PrimaryKey};
pub use plan::{Keys, Plan, Planned};
pub use script::{Script, Statement};
pub use user::SlapUser;
