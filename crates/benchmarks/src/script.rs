//! Scripts of the user's own: SQL in pgbench's language, with lists of real values, and their load.

mod benchmark;
mod column;
mod compiler;
mod error;
mod expression;
mod function;
mod hash;
mod item;
mod lexer;
mod list;
mod list_spec;
mod names;
mod op;
mod options;
mod places;
mod plan;
mod program;
mod reach;
mod scalar;
mod scripts;
mod session;
mod statement_names;
mod user;
mod variables;

pub(crate) use benchmark::Script;
pub use benchmark::{Connections, DATABASE, prepared_statements, scripts};
pub use list::ListRows;
pub use options::ScriptLoad;
pub use plan::{Mode, Plan, Settings};
pub use scripts::{Scripts, WeightedFile};
pub use user::ScriptUser;
