//! Measurement of durable commits by numbers of writers.

use std::{path::Path, time::Duration};

use blame::Blamed;
use results::storage_results::WrittenStorage;
use samples::{CommitSequence, StorageMode};

use super::{
    measured_disk::MeasuredDisk,
    measurement::{Measurement, ResultsPlace},
    plan::Plan,
};

/// What the commit probe writes: its redo log, and the binary log up to its size; bytes.
pub(super) const COMMIT_BYTES: u64 = 128 << 20;

/// Durable commits, measured for each number of writers.
#[derive(Debug, Clone)]
pub struct Commits {
    /// System calls of a commit.
    pub sequence: CommitSequence,
    /// Numbers of concurrent writers.
    pub writers: Vec<u32>,
    /// Length of each measurement, seconds.
    pub each_s: u64,
}

impl Commits {
    /// Measures them, and writes new results.
    pub fn measure(
        self,
        disk: MeasuredDisk,
        results: Option<&Path>,
    ) -> Result<WrittenStorage, Blamed> {
        disk.place.refuse_unless_room(COMMIT_BYTES)?;
        let plan = Plan {
            mode: StorageMode::Commit,
            file_bytes: 0,
            each_s: self.each_s,
            engine: "native".to_owned(),
            fio: None,
            patterns: Vec::new(),
            repeats: 1,
            writers: self.writers,
            left_out: Vec::new(),
        };
        let mut measurement = Measurement::open(disk, plan, ResultsPlace::New(results))?;
        match measurement.probe_commits(self.sequence, Duration::from_secs(self.each_s)) {
            Ok(()) => measurement.finish(),
            Err(error) => Err(measurement.fail(error, "")),
        }
    }
}
