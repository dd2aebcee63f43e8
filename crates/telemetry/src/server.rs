//! What the server says of itself: counters, InnoDB's state, statements, waits, table sizes, the slow query log.
//!
//! A [`ServerSampler`] asks over a connection of its own, from a thread of its own; a [`ServerView`] asks whenever it is told
//! to, for somebody who looks on. What a server lacks or refuses is
//! named once in [`samples::ServerObservation::not_observed`]; nothing on the server is changed or switched on.

mod answer;
mod edges;
mod fingerprint;
mod innodb_status;
mod patience;
mod questioner;
mod reading;
mod sampler;
mod slow_log;
mod statement_times;
mod status;
mod table_sizes;
mod total;
mod totals;
mod view;

pub use sampler::{ServerSampler, WatchedServer};
pub use table_sizes::{Schemas, table_sizes};
pub use view::ServerView;
