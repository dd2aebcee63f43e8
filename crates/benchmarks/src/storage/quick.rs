//! A quick measurement of a disk: commits and the main patterns in a minute, without fio as far as that goes.

use std::{path::Path, time::Duration};

use blame::Blamed;
use results::storage_results::WrittenStorage;
use runs::Length;
use samples::{Access, CommitSequence, Pattern, PatternResult, StorageLine, StorageMode};
use storage::{Fio, commit_relevant, native_pattern};
use telemetry::CpuObservation;

use super::{
    commits::COMMIT_BYTES,
    measured_disk::MeasuredDisk,
    measurement::{Measurement, ResultsPlace},
    plan::Plan,
};

/// Size of the test file where there is room and time, and the least, bytes.
const FILE_BYTES: u64 = 1 << 30;
const FILE_AT_LEAST: u64 = 64 << 20;
/// Writing the test file may take this long; a slow disk gets a smaller one.
const FILL_AT_MOST: Duration = Duration::from_secs(10);
/// Time of a pattern and of a commit probe, seconds: ten of them and the file take less than a minute on a busy machine, too.
const EACH_S: u64 = 3;
/// Writers of the commit probes.
const WRITERS: [u32; 2] = [1, 8];
/// Test files are written in units of this, bytes.
const FILE_UNIT: u64 = 1 << 20;

/// Durable commits and the main patterns.
#[derive(Debug, Clone, Copy)]
pub struct Quick {
    /// How often each pattern is measured.
    pub repeats: u32,
}

impl Quick {
    /// Measures them, and writes new results.
    pub fn measure(
        self,
        disk: MeasuredDisk,
        results: Option<&Path>,
    ) -> Result<WrittenStorage, Blamed> {
        let mut left_out = vec![
            "steady state: dbdyno storage steady".to_owned(),
            "bursts: dbdyno storage burst".to_owned(),
        ];
        let fio = match Fio::find() {
            Ok(fio) => Some(fio),
            Err(error) => {
                let lacking = "sequential and mixed patterns and depths above 16";
                let warning = format!("{error}: {lacking} are left out");
                disk.context.warn(&warning);
                left_out.insert(0, format!("{lacking}: {error}"));
                None
            }
        };
        let room = disk.place.room_bytes().saturating_sub(COMMIT_BYTES);
        let bytes = (room / FILE_UNIT * FILE_UNIT).clamp(FILE_AT_LEAST, FILE_BYTES);
        disk.place.refuse_unless_room(bytes + COMMIT_BYTES)?;
        let file_bytes = disk.fill(bytes, Some(FILL_AT_MOST))?;
        let patterns = commit_relevant().into_iter();
        let patterns = patterns.filter(|it| fio.is_some() || is_native(it));
        let plan = Plan {
            mode: StorageMode::Quick,
            file_bytes,
            each_s: EACH_S,
            engine: if fio.is_some() { "libaio" } else { "native" }.to_owned(),
            patterns: patterns.collect(),
            repeats: self.repeats,
            fio,
            writers: WRITERS.to_vec(),
            left_out,
        };
        let has_fio = plan.fio.is_some();
        let mut measurement = Measurement::open(disk, plan, ResultsPlace::New(results))?;
        match measure(&mut measurement, has_fio) {
            Ok(()) => measurement.finish(),
            Err(error) => Err(measurement.fail(error, "")),
        }
    }
}

fn measure(measurement: &mut Measurement, has_fio: bool) -> Result<(), Blamed> {
    let each = Duration::from_secs(EACH_S);
    measurement.probe_commits(CommitSequence::Mariadb, each)?;
    let left = measurement.left();
    let step = measurement
        .disk
        .context
        .step("patterns", Length::Paced(left.len() as u64));
    for (done, (repeat, pattern)) in left.iter().enumerate() {
        let title = measurement.title(*repeat, pattern);
        step.say_with(&title, each * (left.len() - done) as u32);
        let mut result = if has_fio {
            measurement.measure(pattern)?
        } else {
            let (header, disk) = (&measurement.record.header, &measurement.disk);
            let limited = disk.limited()?;
            let cpu = CpuObservation::begin();
            let measured = native_pattern(
                pattern,
                &disk.test.data(),
                header.file_bytes,
                header.direct,
                each,
                disk.interrupt(),
            );
            let machine_cpu = cpu.end();
            drop(limited);
            PatternResult {
                machine_cpu,
                ..measured?
            }
        };
        result.repeat = *repeat;
        measurement.append(StorageLine::Pattern(result))?;
        step.reach(done as u64 + 1);
    }
    Ok(())
}

/// Whether threads without fio can run it.
fn is_native(pattern: &Pattern) -> bool {
    let whole = matches!(pattern.reads_percent, 0 | 100);
    pattern.access == Access::Random && whole && pattern.depth <= 16
}
