//! Runs a plan and writes its run records: the server, the data, the load, run after run; and reads results from their
//! directory.
//!
//! This crate does not print: a [`Listener`] receives the messages, and an error carries its blame and its hints.

pub mod benchmarks;
mod claimed_place;
mod control;
mod data;
pub mod events;
mod guard;
pub mod limit;
mod listener;
pub mod named_server;
pub mod open_files;
pub mod password_file;
mod prepared_statements;
mod record;
pub mod redo_log;
mod results;
mod run;
mod runner;
mod running_server;
pub mod signals;
mod stage;

pub use benchmarks::{check_limits, read_files};
pub use claimed_place::{claim_place, storage_of};
pub use control::{
    Purpose, backticked, control, number, quoted, refuse_if_interrupted, wait, wait_for_thread,
};
pub use data::{
    database, known_tables, population,
    prepared_tables::{PreparedTables, clean_up, droppable},
};
pub use listener::{Context, Event, Length, Listener, Step};
pub use prepared_statements::PreparedStatements;
pub use record::{calibration, sampling::sample_every, server_host, steady_judge};
pub use results::{
    audited::{
        ComparedSide, audit_of_comparison, audit_of_path, audit_of_run, audit_of_sides,
        experiment_of, looked_at,
    },
    claimed_directory::{ClaimedDirectory, is_claimed, last_path, unused_path},
    origin::{HIDDEN, Origin},
    past_summary,
    record_files::{read_record, read_records, record_error, record_files},
    record_place::{RecordPlace, numbered},
    reported::{results_of, results_so_far, write_page},
    results_directory::{REPORT, ResultsDirectory, question},
    results_list,
};
pub use run::{
    shortcoming::{RunOutcome, shortcoming},
    single_run::{Recorded, SingleRun},
};
pub use runner::{Choices, Runner};
pub use running_server::{ShownServer, knows_time_zone, shown_server};
pub use stage::{Stage, local_pid, null_process::NullProcess, refuse_local, utc_now, utc_of};
