//! One run: its load driven on its stage, and its record written.

pub(crate) mod driver;
pub(crate) mod execution;
pub(crate) mod shortcoming;
pub(crate) mod single_run;
