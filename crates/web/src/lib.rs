//! A small read-only HTTP server, which shows a browser, and Prometheus, what a command does now.
//!
//! A [`Server`] has a thread of its own with the lowest priority, and nothing happens there without a request. A
//! connection carries one request and is closed; a client that is slow, or exceeds a limit, loses its connection and does
//! not delay the others. HTTP itself is read by `httparse`; the usual small servers (tiny_http and what builds on it) have
//! no time limit for a connection and no limit on how many there are.

mod content;
mod host;
mod places;
mod request;
mod response;
mod server;
mod site;

pub use content::{Content, Kind};
pub use server::Server;
pub use site::Site;
