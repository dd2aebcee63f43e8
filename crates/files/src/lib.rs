//! Safe handling of files: atomic replacement, locks, removal by the creator only, and bounded reading of files of
//! others.

mod created;
mod error;
mod lock;
mod quotable_files;
mod regular;
mod replacement;
mod scratch;
mod socket;
mod tree;
mod user_directory;
mod user_text;

pub use created::Created;
pub use error::Error;
pub use lock::{Lock, holder};
pub use quotable_files::{WITHHELD, is_quotable};
pub use regular::{
    open_foreign, open_regular, open_regular_within, read_foreign, read_regular, read_regular_text,
    read_within,
};
pub use replacement::{Replacement, replace, replace_private};
pub use scratch::Scratch;
pub use socket::SocketFile;
pub use tree::{remove_marked, remove_tree};
pub use user_directory::{cache_home, data_home};
pub use user_text::{
    UserText, read_handed_over, read_handed_over_text, reopened, seekable, seekable_within,
};
