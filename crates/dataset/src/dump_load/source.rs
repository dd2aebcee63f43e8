//! A file of a dump.

use std::{fs::File, path::PathBuf};

/// A file of a dump.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) path: PathBuf,
    pub(super) file: File,
    /// Statements stand in it as they are.
    pub(super) is_plain: bool,
}
