//! Tests of the client with a real MariaDB server.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]
#![expect(clippy::print_stdout, reason = "says why a test was skipped")]

mod compression;
mod load_local;
mod login;
mod results;
mod server;
mod statements;
mod tls;
