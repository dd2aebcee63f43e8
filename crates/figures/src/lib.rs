//! The figures of one run: computed once from its record, and read by every output, comparison and rule.
//!
//! How a percentile is shown is decided here and nowhere else: [`Percentile::measured_ns`] and [`Percentile::is_thin`] of
//! one run, [`are_thin`] of several together.

mod operation;
mod percentile;
mod run;
mod times;

pub use operation::{OperationFigures, StatementFigures};
pub use percentile::{BEYOND, Percentile, QUANTILES, are_thin};
pub use run::RunFigures;
pub use times::Times;
