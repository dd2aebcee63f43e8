//! Tests of the report with fabricated run records: the outputs for people and for programs.

#![expect(clippy::unwrap_used, reason = "a test may end in a panic")]

mod agreement;
mod audits;
mod clauses;
mod contrast;
mod database;
mod expectations;
mod formats;
mod history;
mod hostile;
mod observed;
mod one_interval;
mod page;
mod pictures;
mod planned_events;
mod searches;
mod side_by_side;
mod sliced;
mod slumps;
mod synthetic;
mod terminal;
