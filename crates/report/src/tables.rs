//! Results as rows and columns for programs.

pub(crate) mod columns;
pub(crate) mod combination;
pub(crate) mod events;
pub(crate) mod factor_columns;
pub(crate) mod run_values;
pub(crate) mod seconds;
pub(crate) mod table_sizes;
pub(crate) mod unit;
