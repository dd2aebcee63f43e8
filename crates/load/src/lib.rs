//! How hard and when: drives virtual users in a closed loop over event loops and records every operation.
//!
//! The crate knows no benchmark: it asks a [`workload::User`] what comes next and how it went, and
//! [`workload::Rows`] what a table holds.
//! Warm-up, stop and error policy are values. Every event loop has a thread, connections and recording of its
//! own; once per interval it hands its figures to the controller, which merges them off the hot path.

mod controller;
mod drive;
mod event_loop;
mod intervals;
mod load;
mod outcome;
mod populate;
mod recorder;
mod schedule;
mod timeline;

pub use drive::{default_loops, drive};
pub use load::{Group, Load, Observer};
pub use outcome::{Ended, Error, OperationTotal, Outcome};
pub use populate::{PopulateError, PopulateEvent, Population, Progress, populate};
pub use schedule::{Arrivals, Interrupt, OnError, Stop, WarmUp};
