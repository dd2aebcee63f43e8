//! What to run: rows, statements and transactions of each benchmark, deterministic from a seed, given a connection.

mod user;

pub use user::{Failure, Next, User};
