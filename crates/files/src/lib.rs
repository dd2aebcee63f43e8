//! Files that dbdyno writes beside those of others: replaced whole, locked while in use, removed only by their maker.

mod created;
mod error;
mod lock;
mod replacement;
mod scratch;
mod tree;

pub use created::Created;
pub use error::Error;
pub use lock::{Lock, holder};
pub use replacement::{Replacement, replace, replace_private};
pub use scratch::Scratch;
pub use tree::{remove_marked, remove_tree};
