//! The report from made-up run records: what people see and what programs read.

#![expect(clippy::unwrap_used, reason = "a test may end in a panic")]

mod agreement;
mod audits;
mod clauses;
mod contrast;
mod database;
mod formats;
mod history;
mod hostile;
mod observed;
mod page;
mod pictures;
mod synthetic;
mod terminal;
