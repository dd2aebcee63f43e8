//! What a directory's disk can do for a database: fio's patterns, and the native probe of durable commits.
//!
//! Everything here measures and judges nothing: results go line by line into a [`samples::StorageRecord`]. fio does all that
//! it can do, one process for each pattern; native are only the commit probe, which alternates two files as no fio job can,
//! and a small fallback for a machine without fio.

mod aligned;
mod commit_probe;
mod error;
mod fio;
mod fio_course;
mod fio_load;
mod fio_output;
mod fio_process;
mod import;
mod job_file;
mod job_options;
mod load_options;
mod native;
mod own_job_file;
mod pattern_file;
mod pattern_set;
mod place;
mod raw_device;
mod redo_log;
mod running_fio;
mod target;
mod test_file;

pub use commit_probe::commit_probe;
pub use error::Error;
pub use fio::{ENGINES, Fio};
pub use fio_course::{CompletedRequests, FioInterval};
pub use fio_load::FioLoad;
pub use fio_output::{iops_per_second, pattern_result};
pub use import::{IMPORTERS, ImportFile, Imported, Importer};
pub use job_file::{JobFile, job_file};
pub use load_options::{StorageLoad, limits_of};
pub use native::native_pattern;
pub use pattern_file::parse_patterns;
pub use pattern_set::{commit_relevant, mysql_30, sh2_137, shuffled};
pub use place::Place;
pub use raw_device::RawDevice;
pub use running_fio::RunningFio;
pub use target::Target;
pub use test_file::TestFile;
