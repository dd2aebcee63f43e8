//! From a plan to its run records: the server, the data, the load, one run after the other.

mod audited;
mod benchmark;
mod benchmarks;
mod claimed_directory;
mod control;
mod created_tables;
mod data_set;
mod driver;
mod execution;
mod given_server;
mod oltp_runs;
mod origin;
pub(crate) mod past_results;
pub(crate) mod past_summary;
pub(crate) mod population;
mod private_server;
mod record_files;
mod record_place;
mod recording;
pub(crate) mod redo_log;
pub(crate) mod redo_log_guard;
mod reported;
mod results_directory;
mod runner;
mod sampling;
mod secrets;
mod server_directories;
pub(crate) mod server_host;
mod settings_in_effect;
mod shortcoming;
mod single_run;
mod smack_data;
mod smack_runs;
mod stage;
pub(crate) mod steady;
mod table_load;
mod time_budget;
mod time_left;
pub(crate) mod tpcc;
pub(crate) mod tpch_data;

pub(crate) use audited::{
    audit_of_path, audit_of_run, audit_of_sides, experiment_of, looked_at, one_factor,
};
pub(crate) use claimed_directory::{ClaimedDirectory, is_claimed, unused_path};
pub(crate) use control::{Purpose, control, number, quoted, wait, wait_for_thread};
pub(crate) use origin::{HIDDEN, Origin};
pub(crate) use record_files::{read_record, read_records, record_error, record_files};
pub(crate) use record_place::RecordPlace;
pub(crate) use reported::{results_of, write_page};
pub(crate) use results_directory::{REPORT, ResultsDirectory, question};
pub(crate) use runner::{Choices, Runner};
pub(crate) use sampling::sample_every;
pub(crate) use shortcoming::{Asked, shortcoming};
pub(crate) use single_run::{Recorded, SingleRun};
pub(crate) use smack_data::SmackFiles;
pub(crate) use stage::{Stage, local_pid, utc_now};
