//! Numbers in, numbers out: intervals and the steady state; no input, no output, no clock.
//!
//! Every function says what it returns, in which unit, when it is undefined (`None`, never a guess) and from which
//! source it comes.

mod interval;
#[cfg(test)]
mod noise;
mod steady;
mod trend;

pub use interval::{Interval, mean_interval};
pub use steady::steady_from;
