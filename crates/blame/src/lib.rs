//! The party responsible for an error, which is the exit code: every crate states it beside its own error.

mod blamed;
mod exit_code;

pub use blamed::{Blamed, is_full};
pub use exit_code::Blame;
