//! The figures of one run, computed once from its record and used by every output, comparison and rule.
//!
//! The display of percentiles is decided here only: by [`Percentile::measured_ns`] and [`Percentile::is_thin`] for one
//! run, by [`are_thin`] for several together. The interval of a throughput over several executions is that of
//! [`throughput_of`].

mod event;
mod likeness;
mod operation;
mod percentile;
mod run;
mod throughput;
mod times;

pub use event::{EventCost, RECOVERED_FROM, Stretch};
pub use likeness::other_work;
pub use operation::{OperationFigures, StatementFigures};
pub use percentile::{BEYOND, Percentile, QUANTILES, are_thin};
pub use run::RunFigures;
pub use throughput::throughput_of;
pub use times::Times;
