//! Tests of the client with a real MariaDB server.

mod compression;
mod load_local;
mod login;
mod results;
mod server;
mod statements;
mod tls;
