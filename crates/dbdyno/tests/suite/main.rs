//! The tests that run the real program: exit codes, output, files and what is left behind.
//!
//! One binary for all of them, since linking costs more than most tests. A test opens a [`scene::Scene`], runs commands
//! in it and checks their results; the common vocabulary stands beside this file. What a test needs decides where it
//! stands: `program` starts no server but our own null server, `servers` needs a real one, and `long` has the rounds
//! that repeat, take every version or disturb the machine, which `make test-all` runs.

#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test may end in a panic, and says why it is skipped"
)]

mod audited;
mod disturbed;
mod experiment;
mod long;
mod mariadb;
mod namespace;
mod null_server;
mod other_host;
mod own_experiment;
mod private_server;
mod program;
mod results;
mod room;
mod scene;
mod servers;
mod shipped;
mod terminal;
mod torture;
mod turns;
