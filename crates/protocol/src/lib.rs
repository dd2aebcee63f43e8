//! The MySQL client/server protocol: packets, login, and the client connection.
//!
//! Results are skimmed, not stored: [`Connection::query`] counts rows and looks at no value, and in the steady
//! state allocates nothing. What the other side sends is never trusted: a broken or hostile server gets an
//! [`Error`], and no length that it names is believed beyond a limit.

mod connection;
mod endpoint;
mod error;
mod greeting;
mod lenenc;
mod login;
mod packets;
mod password;
mod replies;
mod skim;
mod transport;

pub use connection::Connection;
pub use endpoint::{Address, Endpoint, SslMode, UnknownSslMode};
pub use error::{Error, ServerError};
pub use password::Password;
pub use skim::Outcome;
