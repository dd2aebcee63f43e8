//! Measurements of a disk without a server: fio's requests in the runs of an experiment, under the experiment's record,
//! and the measurements of `dbdyno storage`, each with a record of its own.

mod benchmark;
mod burst;
mod commits;
mod course;
mod measured_disk;
mod measurement;
mod plan;
mod quick;
mod steady;
mod suite;

pub(crate) use benchmark::Storage;
pub use burst::BurstGrid;
pub use commits::Commits;
pub use measured_disk::MeasuredDisk;
pub use measurement::ResultsPlace;
pub use quick::Quick;
pub use steady::SteadyRounds;
pub use suite::Suite;
