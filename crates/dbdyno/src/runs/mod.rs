//! From a plan to its run records: the server, the data, the load, one run after the other.

mod audited;
mod control;
mod created_tables;
mod execution;
mod given_server;
mod origin;
pub(crate) mod past_results;
pub(crate) mod population;
mod private_server;
mod record_files;
mod recording;
pub(crate) mod redo_log;
pub(crate) mod redo_log_guard;
mod results_directory;
mod runner;
mod sampling;
mod server_directories;
pub(crate) mod server_host;
mod settings_in_effect;
mod single_run;
mod smack_data;
mod stage;
mod table_load;
mod time_left;
pub(crate) mod tpcc;
pub(crate) mod tpch_data;

pub(crate) use audited::{audit_of_results, audit_of_run, audit_of_sides, experiment_of};
pub(crate) use control::{control, number, quoted};
pub(crate) use origin::Origin;
pub(crate) use record_files::{read_record, record_files};
pub(crate) use results_directory::ResultsDirectory;
pub(crate) use runner::{Choices, Runner};
pub(crate) use sampling::sample_every;
pub(crate) use single_run::{Recorded, SingleRun};
pub(crate) use smack_data::SmackFiles;
pub(crate) use stage::Stage;
