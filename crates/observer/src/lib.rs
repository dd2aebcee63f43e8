//! Observes the machine of a server for a dbdyno that drives the load from another machine.
//!
//! An observer runs on the server's host and serves one client per connection, over a pair of pipes (ssh) or over TCP
//! with a shared secret. The client says what to watch and at which interval. It receives samples with the observer's
//! own times and converts them to its own clock: [`Clocks`] compares the two all the time. `docs/observe.md` documents
//! the messages of both sides.

mod attempts;
mod clocks;
mod error;
mod listening;
mod message;
mod pending_logins;
mod receiver;
mod remote;
mod remote_thread;
mod secret;
mod session;
mod transport;
mod wire;

pub use clocks::{Clocks, Exchange, Offset};
pub use error::Error;
pub use listening::{LIMIT_OF_CLIENTS, listen};
pub use message::{FromClient, FromObserver, ObservationRequest, PROTOCOL, Watching, read};
pub use remote::RemoteHost;
pub use remote_thread::Observed;
pub use secret::{SECRET_BYTES_AT_LEAST, Secret, SecretTooShort};
pub use session::{Access, serve_pipes};
pub use transport::{Ssh, Tcp, Transport};
