//! The server's side of the protocol for tests: a fake server with canned answers, and the skimmer and the compressed
//! protocol without a socket.
//!
//! ```
//! use protocol::testing::{Answer, serve};
//! use reactor::{Clock, Listener, Reactor, now};
//! use std::time::Duration;
//!
//! # let dir = tempfile::tempdir()?;
//! # let path = dir.path().join("socket");
//! Reactor::new(Clock::Driven)?.run(async {
//!     let ten_ms = Duration::from_millis(10);
//!     serve(Listener::bind_unix(&path)?, move |_| Answer::rows(&["a"], &[&[Some("1")]]).after(ten_ms));
//!
//!     let endpoint = protocol::testing::endpoint(&path);
//!     let mut connection = protocol::Connection::open(&endpoint).await?;
//!     let start = now();
//!     assert_eq!(connection.query(b"SELECT 1").await?.rows, 1);
//!     assert_eq!(now() - start, ten_ms);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod answer;
mod fake_server;
mod feed;
mod frames;
mod peer;

pub use answer::Answer;
pub use fake_server::{Request, endpoint, serve};
pub use feed::{Feed, parse_greeting};
pub use frames::{pack, unpack};
pub use peer::Peer;

pub use crate::outgoing_greeting::{Dialect, Login, OutgoingGreeting};
