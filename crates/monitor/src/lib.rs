//! Monitors a running server or run: feeds what `top` shows, from a record or a polled server, and makes it pages and
//! metrics for viewers elsewhere.

mod experiment_site;
mod feed;
mod pages;
mod polled_server;
mod record_feed;
mod server_feed;
mod viewers;

pub use experiment_site::ExperimentSite;
pub use feed::{Feed, PollOutcome};
pub use record_feed::RecordFeed;
pub use server_feed::ServerFeed;
pub use viewers::{ViewerSite, Viewers};
