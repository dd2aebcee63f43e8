//! What the machine, the server's process and dbdyno itself were doing meanwhile.
//!
//! A [`Sampler`] reads the kernel's counters and says what was used since the reading before. What it
//! cannot observe it names in [`samples::Machine::not_observed`]; it never guesses and never fails.

mod block_device;
mod counters;
mod error;
mod kernel;
mod sampler;

#[cfg(test)]
mod fixture;

pub use sampler::{Sampler, Targets};
