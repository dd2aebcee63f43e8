//! Results and their views: the directory with its claim and its origin, the records, their audit and report, and the
//! list of all results on this machine.
//!
//! This crate measures and prints nothing: messages for the user are passed to functions of the caller.

mod audited;
mod budget;
mod claimed_directory;
mod decided_combinations;
mod origin;
pub mod past_summary;
mod questions;
mod record_files;
mod record_place;
mod report_subject;
mod results_directory;
pub mod results_list;
mod searches;
pub mod storage_results;

pub use audited::{
    ComparedSide, audit_of_comparison, audit_of_path, audit_of_run, audit_of_sides, experiment_of,
};
pub use budget::looked_at;
pub use claimed_directory::{ClaimedDirectory, is_claimed, last_path, unused_path};
pub use origin::{HIDDEN, Origin, arguments};
pub use questions::question;
pub use record_files::{read_record, read_records, record_error, record_files};
pub use record_place::{RecordPlace, numbered};
pub use report_subject::{REPORT, results_of, results_so_far, write_page};
pub use results_directory::ResultsDirectory;
