//! What a directory of results keeps of its experiment, and which of the runs are done.

pub(crate) mod completed_runs;
pub(crate) mod copied_files;
pub(crate) mod identity;
