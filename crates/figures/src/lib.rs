//! The figures of one run: computed once from its record, and read by every output, comparison and rule.
//!
//! What a percentile may show is decided here and nowhere else: [`Percentile::given_ns`] of one run, [`are_given`] of
//! several together.

mod operation;
mod percentile;
mod run;
mod times;

pub use operation::{OperationFigures, StatementFigures};
pub use percentile::{BEYOND, Percentile, QUANTILES, are_given};
pub use run::RunFigures;
pub use times::Times;
