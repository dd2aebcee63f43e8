//! Activity of the machine, the server's process and dbdyno itself during a run.
//!
//! A [`Sampler`] reads the kernel's counters and returns the use since the previous reading. Values that it cannot
//! observe are listed in [`samples::Machine::not_observed`]; it never guesses and never fails.

mod allowed_paths;
mod block_device;
mod cgroup;
mod cpu;
mod cpu_observation;
mod disk;
mod error;
mod kernel;
mod machine;
mod memory;
mod network;
mod own_process;
mod pid_file;
mod placement;
mod pressure;
mod process;
mod programs;
mod reading;
mod sampler;
mod server;
mod server_process;
mod setup;
mod storage;
mod timed_reading;

#[cfg(test)]
mod fixture;

pub use allowed_paths::AllowedPaths;
pub use cpu_observation::CpuObservation;
pub use disk::disk_flushes;
pub use own_process::{
    OwnProcess, available_memory_bytes, boot_id, resident_bytes, usable_memory_bytes, written_bytes,
};
pub use pid_file::pid_in_file;
pub use sampler::{Sampler, Targets};
pub use server::{
    Schemas, ServerSampler, ServerView, SlowEntries, SlowEntry, WatchedServer, fingerprint,
    table_sizes,
};
pub use server_process::{ServerMarks, ServerProcess, is_server_of};
pub use storage::{Directory, storage_behind, storage_of_device};
