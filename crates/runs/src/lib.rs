//! Runs a plan and writes its run records: the server, the data, the load, run after run.
//!
//! This crate does not print: a [`Listener`] receives the messages, and an error carries its blame and its hints.

mod benchmark;
pub mod buffer_pools;
mod claimed_place;
mod control;
mod data;
pub mod events;
pub mod global_variables;
mod guard;
pub mod limit;
mod listener;
pub mod named_server;
pub mod open_files;
pub mod password_file;
mod prepared_statements;
mod record;
pub mod redo_log;
mod run;
mod runner;
mod running_server;
pub mod signals;
mod stage;

pub use benchmark::{Benchmark, DataMaker, OnServer, PlanBenchmarks, Registry, Work};
pub use claimed_place::{claim_place, storage_of};
pub use control::{
    Purpose, backticked, control, number, quoted, refuse_if_interrupted, wait, wait_for_thread,
};
pub use data::{
    DataSet, Destination, LoadResult, database,
    disk_bytes::disk_bytes,
    known_tables, population,
    prepared_tables::{PreparedTables, clean_up, droppable, refuse_existing},
};
pub use listener::{Context, Event, Length, Listener, Step};
pub use prepared_statements::PreparedStatements;
pub use record::{calibration, sampling::sample_every, server_host};
pub use run::{
    driver::{Driver, LoadRules},
    shortcoming::{RunOutcome, shortcoming},
    single_run::{Recorded, SingleRun},
};
pub use runner::{Runner, choices::Choices};
pub use running_server::{ShownServer, knows_time_zone, shown_server};
pub use stage::{
    Stage, local_pid, null_process::NullProcess, refuse_local, test_directory::TestDirectory,
    utc_now, utc_of,
};
