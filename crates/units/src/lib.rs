//! Figures as people read them: three digits that count, an SI or binary prefix, and the unit.
//!
//! Every sentence, table and chart that dbdyno writes for people takes its figures from here, so that the same value
//! reads the same everywhere. The layouts that stand in for other tools keep their own digits.

mod bytes;
mod duration;
mod number;
mod share;

pub use bytes::{bits_per_s, bytes, bytes_per_s, mean_bytes};
pub use duration::{
    duration, duration_tick, duration_with_interval, elapsed, moment, seconds, span,
};
pub use number::{count, counted, per_s, si, si_tick, si_with_interval};
pub use share::{change, fine_percent, percent, percent_number};
