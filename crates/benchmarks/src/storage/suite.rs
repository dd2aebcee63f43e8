//! A suite of patterns: one fio process each, resumable pattern by pattern.

use std::time::Duration;

use blame::{Blame, Blamed};
use results::storage_results::WrittenStorage;
use runs::Length;
use samples::{Pattern, StorageLine, StorageMode};
use storage::Fio;

use super::{
    measured_disk::MeasuredDisk,
    measurement::{Measurement, ResultsPlace},
    plan::Plan,
};

/// What fio takes over the time of a pattern, about.
const OVERHEAD: Duration = Duration::from_millis(600);

/// A set of patterns.
#[derive(Debug, Clone)]
pub struct Suite {
    /// The patterns.
    pub patterns: Vec<Pattern>,
    /// Size of the test file, or of the part of the device, bytes.
    pub file_bytes: u64,
    /// Length of the measurement of each pattern, seconds.
    pub each_s: u64,
    /// How often each pattern is measured.
    pub repeats: u32,
    /// I/O engine of fio.
    pub engine: String,
}

impl Suite {
    /// Measures the patterns that have no result yet.
    pub fn measure(
        self,
        fio: Fio,
        disk: MeasuredDisk,
        results: ResultsPlace<'_>,
    ) -> Result<WrittenStorage, Blamed> {
        disk.place.refuse_unless_room(self.file_bytes)?;
        let mut left_out = Vec::new();
        if self.engine == "psync" && self.patterns.iter().any(|it| it.depth > 1) {
            let one = "depths above 1: the engine psync has one request in flight at any depth";
            left_out.push(one.to_owned());
        }
        let plan = Plan {
            mode: StorageMode::Suite,
            file_bytes: self.file_bytes,
            each_s: self.each_s,
            engine: self.engine,
            fio: Some(fio),
            patterns: self.patterns,
            repeats: self.repeats,
            writers: Vec::new(),
            left_out,
        };
        let mut measurement = Measurement::open(disk, plan, results)?;
        match measure(&mut measurement) {
            Ok(()) => measurement.finish(),
            Err(error) => {
                Err(measurement.fail(error, "; to continue, run the same command with --resume"))
            }
        }
    }
}

/// Measures the patterns and repeats that have no result yet.
fn measure(measurement: &mut Measurement) -> Result<(), Blamed> {
    let left = measurement.left();
    if left.is_empty() {
        return Ok(());
    }
    let header = &measurement.record.header;
    measurement.disk.fill(header.file_bytes, None)?;
    let each = Duration::from_secs_f64(header.each_s) + OVERHEAD;
    let step = measurement
        .disk
        .context
        .step("patterns", Length::Paced(left.len() as u64));
    for (done, (repeat, pattern)) in left.iter().enumerate() {
        let title = measurement.title(*repeat, pattern);
        step.announce(&title, each * (left.len() - done) as u32);
        let mut result = measurement.measure(pattern)?;
        result.repeat = *repeat;
        if let Some(error) = &result.error {
            let error = format!("fio: pattern {}: {error}", pattern.name);
            return Err(Blamed::new(Blame::Machine, error));
        }
        measurement.append(StorageLine::Pattern(result))?;
        step.reach(done as u64 + 1);
    }
    Ok(())
}
