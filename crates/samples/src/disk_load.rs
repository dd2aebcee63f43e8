//! A load that uses a disk and no server: what it asks of which directory.

use serde::{Deserialize, Serialize};

use crate::storage_results::Pattern;

/// Requests of fio to the files of one directory, while a run lasts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DiskLoad {
    pub directory: String,
    /// I/O engine; empty where the jobs have several.
    pub engine: String,
    /// Whether all requests bypassed the page cache.
    pub direct: bool,
    /// How written data is made durable: `none`, `fdatasync`, `fsync` (a call after each write; `fsync=8`: after every 8),
    /// `dsync`, `sync` (the file is opened so); empty where a job file of the user's says it.
    pub sync: String,
    /// Size of the smallest file, bytes; `None` where it is not known.
    pub file_bytes: Option<u64>,
    /// Memory that the page cache can use, bytes.
    pub memory_bytes: Option<u64>,
    /// `fio-3.33`.
    pub fio_version: String,
    /// Jobs that ran at the same time; the operations of the record are their reads and writes.
    pub jobs: Vec<Pattern>,
    /// The job file as fio read it: anyone can run it again by hand.
    pub job_file: String,
}

impl DiskLoad {
    /// Who asks, and how: `fio-3.33 by libaio`.
    pub fn in_words(&self) -> String {
        match self.engine.as_str() {
            "" => self.fio_version.clone(),
            engine => format!("{} by {engine}", self.fio_version),
        }
    }

    /// Requests in flight of all jobs.
    pub fn requests_in_flight(&self) -> u32 {
        let depths = self.jobs.iter().map(|job| job.depth);
        depths.fold(0, u32::saturating_add)
    }
}
