//! The directory of a private server: the locations of its files, its marker and its lock.

pub(crate) mod contents;
pub(crate) mod layout;
pub(crate) mod lock;
pub(crate) mod marker;
pub(crate) mod socket_dir;
pub(crate) mod unfinished;
