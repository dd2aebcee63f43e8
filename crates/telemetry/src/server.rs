//! The server's own figures: counters, InnoDB's state, statements, waits, table sizes, the slow query log.
//!
//! A [`ServerSampler`] queries over its own connection, from its own thread; a [`ServerView`] queries on request, for a
//! live display. Figures that a server lacks or refuses are listed once in
//! [`samples::ServerObservation::not_observed`]; nothing on the server is changed or enabled.

mod answer;
mod fingerprint;
mod innodb_status_text;
mod query_timeouts;
mod questioner;
mod reading;
mod sampler;
mod slow_entry;
mod slow_log;
mod start_end_queries;
mod statement_times;
mod status;
mod table_sizes;
mod total;
mod totals;
mod view;

pub use fingerprint::fingerprint;
pub use sampler::{ServerSampler, WatchedServer};
pub use slow_entry::{SlowEntries, SlowEntry};
pub use table_sizes::{Schemas, table_sizes};
pub use view::ServerView;
