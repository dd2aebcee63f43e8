//! The relay between clients and servers that are made of bytes.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod admin;
mod commands;
mod faults;
mod hooks;
mod injections;
mod leftovers;
mod login;
mod mock;
mod pooling;
mod routing;
mod scripts;
mod sides;
mod torture;
