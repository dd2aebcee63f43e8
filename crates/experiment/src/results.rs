//! The files of an experiment in its results directory, and the list of completed runs.

pub(crate) mod completed_runs;
pub(crate) mod copied_files;
pub(crate) mod identity;
