//! The directory of a private server: where its files lie, the mark that it is ours, and its lock.

pub(crate) mod contents;
pub(crate) mod layout;
pub(crate) mod lock;
pub(crate) mod marker;
pub(crate) mod socket_dir;
pub(crate) mod unfinished;
