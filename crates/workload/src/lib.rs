//! What to run: rows, statements and transactions of each benchmark, deterministic from a seed, given a connection.

mod glibc_random;
pub mod smack;
mod user;

pub use user::{Class, Failure, Next, User, Watch};
