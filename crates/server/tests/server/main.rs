//! Tests of private servers from the outside, as one binary: installed, created, started, checked, copied, killed and removed.

#![expect(clippy::unwrap_used, reason = "a test may end in a panic")]

#[path = "../../../mycnf/tests/mycnf/generated_files.rs"]
mod generated_files;
mod installs;
mod option_check;
mod reliability;
mod servers;
mod snapshots;
