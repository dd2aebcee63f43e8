//! Requests to a disk without a server: fio's, under the experiment's record.

mod benchmark;
mod course;

pub(crate) use benchmark::Storage;
