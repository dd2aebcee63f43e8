//! Tests of the protocol from the outside, as one binary: with bytes, fake servers, the null server and a real MariaDB.

#![expect(clippy::unwrap_used, reason = "a test may end in a panic")]
#![expect(clippy::print_stdout, reason = "says why a test was skipped")]

mod compression;
mod dialects;
mod fake;
mod mariadb;
mod null_server;
mod relay;
mod skimming;
