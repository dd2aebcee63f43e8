//! The MySQL client/server protocol: packets, login, the client connection, and the null server.
//!
//! Results are skimmed, not stored: [`Connection::query`] counts rows without decoding values, and does not allocate in
//! the steady state. Received data is never trusted: a broken or hostile server causes an [`Error`], and the lengths
//! that it sends are limited.

mod blamed;
mod channel;
mod checksum;
mod command;
mod compression;
mod connection;
mod endpoint;
mod error;
mod escape;
mod fetched;
mod greeting;
mod layers;
mod lenenc;
mod load_local;
mod login;
mod login_methods;
mod moments;
mod name_lookup;
pub mod null_server;
mod outgoing_greeting;
mod packets;
mod password;
mod payloads;
mod refusal;
pub mod relay;
mod replies;
mod row_sink;
mod rows;
mod server_key;
mod single_statements;
mod skim;
mod statement;
#[cfg(feature = "testing")]
pub mod testing;
mod tls;
mod transport;
mod value;

pub use checksum::RowsChecksum;
pub use connection::Connection;
pub use endpoint::{Address, Compression, Endpoint, SslMode, UnknownSslMode};
pub use error::{ACCESS_DENIED, Error, NO_SUCH_TABLE, PARSE_ERROR, ServerError};
pub use escape::{escape_into, quote_into};
pub use fetched::{Fetched, Temporal};
pub use load_local::LocalSource;
pub use moments::AnswerMoments;
pub use password::Password;
pub use refusal::hint_to_refusal;
pub use rows::ResultSet;
pub use server_key::ServerKey;
pub use skim::Outcome;
pub use statement::Statement;
pub use tls::{ClientTls, ServerTls};
pub use value::Value;
