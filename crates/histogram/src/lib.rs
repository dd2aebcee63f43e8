//! Distributions of durations: recorded by the hot path, kept small, and written as other HDR tools read them.
//!
//! A crate of its own, since the generic code of `hdrhistogram` is compiled where it is used, and is slow without
//! optimisation: in the tests' build this crate is optimised, and what reads and judges records is not.

mod compact;
mod histogram;

pub use histogram::{Histogram, HistogramError};
