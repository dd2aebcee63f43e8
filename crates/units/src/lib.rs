//! Figures formatted for people: three significant digits, an SI or binary prefix, and the unit.
//!
//! Every sentence, table and chart that dbdyno writes for people uses this crate, so that the same value has the same
//! form everywhere. The layouts of other tools keep their own digits.

mod bytes;
mod duration;
mod number;
mod share;

pub use bytes::{bits_per_s, bytes, bytes_per_s, mean_bytes};
pub use duration::{
    duration, duration_tick, duration_with_interval, elapsed, moment, moment_range, seconds, span,
};
pub use number::{
    count, counted, counted_amount, per_s, si, si_interval, si_tick, si_with_interval,
};
pub use share::{
    change, change_and_interval, changes, fine_percent, percent, percent_number, signed_percent,
};
