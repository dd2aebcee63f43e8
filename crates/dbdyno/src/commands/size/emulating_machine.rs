//! The machine that emulates a target.

use std::{num::NonZero, thread::available_parallelism};

use blame::Blamed;
use telemetry::usable_memory_bytes;

/// CPUs and memory that a private server can have here.
#[derive(Debug, Clone, Copy)]
pub(super) struct EmulatingMachine {
    pub(super) cpus: f64,
    /// `None` if it is not known.
    pub(super) memory_bytes: Option<u64>,
}

impl EmulatingMachine {
    /// The machine on which dbdyno runs.
    pub(super) fn this_one() -> Result<Self, Blamed> {
        let cpus = available_parallelism().map_err(Blamed::machine)?;
        Ok(Self {
            cpus: NonZero::get(cpus) as f64,
            memory_bytes: usable_memory_bytes(),
        })
    }
}
