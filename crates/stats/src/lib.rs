//! Numbers in, numbers out: intervals, comparison and the steady state; no input, no output, no clock.
//!
//! Every function says what it returns, in which unit, when it is undefined (`None`, never a guess) and from which
//! source it comes.

mod comparison;
mod interval;
#[cfg(test)]
mod noise;
mod sections;
mod steady;
mod trend;

pub use comparison::{
    Comparison, EXECUTIONS_AT_LEAST, compare, compare_pairs, executions_needed, holm,
    smallest_effect,
};
pub use interval::{Interval, mean_interval};
pub use sections::sectioned_interval;
pub use steady::steady_from;
