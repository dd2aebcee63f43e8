//! A server that answers everything and stores nothing, so that a measurement contains only the cost of the client.
//!
//! ```
//! use protocol::null_server::{NullServer, Settings};
//! use reactor::{Clock, Listener, Reactor};
//!
//! # let dir = tempfile::tempdir()?;
//! # let path = dir.path().join("socket");
//! Reactor::new(Clock::Driven)?.run(async {
//!     let server = NullServer::new(Settings::default());
//!     server.serve(Listener::bind_unix(&path)?, None);
//!     let mut connection = protocol::Connection::open(&protocol::testing::endpoint(&path)).await?;
//!     assert_eq!(connection.query(b"SELECT c FROM sbtest1 WHERE id = 1").await?.rows, 1);
//!     assert_eq!(server.counters().statements, 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! It accepts every login with any password. It stores no data: a SELECT returns generated rows, a change reports the
//! rows that it names as changed, and transactions have no effect. One event loop answers all connections; a statement
//! costs one receive, one send of prepared bytes, and no allocation.

mod answer;
mod behaviour;
mod command;
mod log;
mod question;
mod request;
mod result;
mod server;
mod service_law;
mod session;
mod shared_state;
mod variables;

pub use behaviour::{Behaviour, ColdStart, Delay, Freeze, Stalls};
pub use result::InventedRows;
pub use server::{NullServer, Settings, usual_error};
pub use service_law::{CpuDemand, ReadDemand, ServiceLaw, ServiceQueues};
pub use variables::Counters;

pub use crate::outgoing_greeting::{Dialect, Login, OutgoingGreeting};
