//! The client against a real MariaDB.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

mod login;
mod server;
