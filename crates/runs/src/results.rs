//! Results in their directory: its claim, the origin of the results, their records, report and list.

pub(crate) mod audited;
pub(crate) mod claimed_directory;
pub(crate) mod decided_combinations;
pub(crate) mod origin;
pub mod past_summary;
pub(crate) mod record_files;
pub(crate) mod record_place;
pub(crate) mod reported;
pub(crate) mod results_directory;
pub mod results_list;
pub(crate) mod secrets;
