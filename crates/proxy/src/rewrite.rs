//! Rules over statements from a file: what a script would do, without one.

mod answers;
mod file;
mod known_errors;
mod loader;
mod mirror;
mod problem;
mod rule;
mod rules;
mod session_rules;
mod source;

pub use problem::RewriteError;
pub use source::{RewriteOptions, RewriteSource};
