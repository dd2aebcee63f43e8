//! Requests per second over minutes, by file size and depth, to find where a burst ends.

use std::time::Duration;

use blame::{Blame, Blamed};
use reactor::Interrupt;
use results::storage_results::WrittenStorage;
use runs::Length;
use samples::{Access, BurstCell, Pattern, StorageLine, StorageMode};
use storage::{Fio, JobFile, iops_per_second, job_file, pattern_result};
use telemetry::CpuObservation;

use super::{
    measured_disk::MeasuredDisk,
    measurement::{Measurement, ResultsPlace},
    plan::Plan,
};

/// Begin of the names of fio's logs.
const LOG: &str = "course";

/// Random requests to each size at each depth.
#[derive(Debug, Clone)]
pub struct BurstGrid {
    /// Sizes of the part of the test file that is accessed, bytes.
    pub sizes_bytes: Vec<u64>,
    /// Numbers of requests in flight.
    pub depths: Vec<u32>,
    /// Length of each measurement, seconds.
    pub each_s: u64,
    /// Pause before each measurement except the first, seconds.
    pub pause_s: u64,
    /// Size of each request, bytes.
    pub block_bytes: u64,
    /// Share of reads, per cent.
    pub reads_percent: u32,
}

impl BurstGrid {
    /// Measures the cells that have no course yet.
    pub fn measure(
        &self,
        fio: Fio,
        disk: MeasuredDisk,
        results: ResultsPlace<'_>,
    ) -> Result<WrittenStorage, Blamed> {
        let largest = self.sizes_bytes.iter().copied().max().unwrap_or(0);
        disk.place.refuse_unless_room(largest)?;
        let cells = self.cells();
        let plan = Plan {
            mode: StorageMode::Burst,
            file_bytes: largest,
            each_s: self.each_s,
            engine: "libaio".to_owned(),
            fio: Some(fio),
            patterns: cells.iter().map(|(_, pattern)| pattern.clone()).collect(),
            repeats: 1,
            writers: Vec::new(),
            left_out: Vec::new(),
        };
        let mut measurement = Measurement::open(disk, plan, results)?;
        refuse_other_pause(&measurement, self.pause_s)?;
        match measure(&mut measurement, self, &cells) {
            Ok(()) => measurement.finish(),
            Err(error) => {
                Err(measurement.fail(error, "; to continue, run the same command with --resume"))
            }
        }
    }

    /// The size and the pattern of each cell.
    fn cells(&self) -> Vec<(u64, Pattern)> {
        let cells = self.sizes_bytes.iter().flat_map(|size| {
            let depths = self.depths.iter();
            depths.map(move |depth| (*size, self.pattern(*size, *depth)))
        });
        cells.collect()
    }

    fn pattern(&self, size_bytes: u64, depth: u32) -> Pattern {
        Pattern {
            name: format!("s{}m_q{depth}", size_bytes >> 20),
            access: Access::Random,
            block_bytes: self.block_bytes,
            reads_percent: self.reads_percent,
            depth,
        }
    }
}

/// A pause is a part of each cell but the first, and not of the record's first line.
fn refuse_other_pause(measurement: &Measurement, pause_s: u64) -> Result<(), Blamed> {
    let mut measured = measurement.record.bursts.iter().skip(1);
    match measured.find(|it| it.pause_s != pause_s as f64) {
        Some(cell) => {
            let message = format!(
                "the pause between its measurements is {}, not {}",
                units::moment(cell.pause_s),
                units::moment(pause_s as f64)
            );
            let hint = "use --resume with the original options of these results".to_owned();
            Err(Blamed::new(Blame::Input, message).hint(hint))
        }
        None => Ok(()),
    }
}

fn measure(
    measurement: &mut Measurement,
    grid: &BurstGrid,
    cells: &[(u64, Pattern)],
) -> Result<(), Blamed> {
    let interrupt = measurement.disk.interrupt().clone();
    let left: Vec<&(u64, Pattern)> = left(measurement, cells).collect();
    if let Some(lost) = lost_recovery(measurement) {
        let note = format!(
            "{lost}: its second measurement is left out, because the test file had to be written again, so \
             the disk had no pause"
        );
        measurement.disk.context.note(&note);
    }
    if left.is_empty() {
        return Ok(());
    }
    let is_begun = left.len() < cells.len();
    measurement
        .disk
        .fill(measurement.record.header.file_bytes, None)?;
    let each = Duration::from_secs(grid.each_s + grid.pause_s);
    let step = measurement
        .disk
        .context
        .step("courses", Length::Paced(left.len() as u64));
    for (done, (size, pattern)) in left.iter().enumerate() {
        step.announce(&pattern.name, each * (left.len() - done) as u32);
        let is_first = done == 0 && !is_begun;
        let pause = if is_first { 0 } else { grid.pause_s };
        rest(pause, &interrupt)?;
        let cell = course(measurement, grid, *size, pattern, pause)?;
        let has_ended = stats::burst(&cell.iops).is_some();
        measurement.append(StorageLine::Burst(cell))?;
        if has_ended {
            step.announce(&format!("{} again after a pause", pattern.name), each);
            rest(grid.pause_s, &interrupt)?;
            let mut again = course(measurement, grid, *size, pattern, grid.pause_s)?;
            again.is_recovery = true;
            measurement.append(StorageLine::Burst(again))?;
        }
        step.reach(done as u64 + 1);
    }
    Ok(())
}

/// The cells that have no course yet.
fn left<'a>(
    measurement: &Measurement,
    cells: &'a [(u64, Pattern)],
) -> impl Iterator<Item = &'a (u64, Pattern)> {
    let measured = measurement.record.bursts.iter();
    let measured: Vec<Pattern> = measured.map(|it| it.pattern.clone()).collect();
    cells
        .iter()
        .filter(move |(_, pattern)| !measured.contains(pattern))
}

/// The cell whose burst ended when an interruption came before its second course.
fn lost_recovery(measurement: &Measurement) -> Option<String> {
    let last = measurement.record.bursts.last()?;
    let is_lost = !last.is_recovery && stats::burst(&last.iops).is_some();
    is_lost.then(|| last.pattern.name.clone())
}

/// One course: fio with its log of each second.
fn course(
    measurement: &mut Measurement,
    grid: &BurstGrid,
    size: u64,
    pattern: &Pattern,
    pause_s: u64,
) -> Result<BurstCell, Blamed> {
    let (file, log) = (
        measurement.disk.test.data(),
        measurement.disk.files().path(LOG),
    );
    let job = JobFile {
        file: &file,
        file_bytes: size,
        each_s: grid.each_s,
        engine: "libaio",
        direct: measurement.disk.place.is_direct(),
        more: &[],
        log: Some(&log),
    };
    let text = job_file(&job, std::slice::from_ref(pattern));
    let job = measurement.write_job(&format!("{}.fio", pattern.name), text)?;
    let cpu = CpuObservation::begin();
    let output = measurement.run_fio(&job, &pattern.name)?;
    let machine_cpu = cpu.end();
    let result = pattern_result(pattern, &output)?;
    if let Some(error) = result.error {
        let error = format!("fio: pattern {}: {error}", pattern.name);
        return Err(Blamed::new(Blame::Machine, error));
    }
    let path = measurement.disk.files().path(&format!("{LOG}_iops.1.log"));
    let logged = files::read_regular_text(&path, 64 << 20);
    let logged = logged.map_err(|error| {
        Blamed::new(
            Blame::Machine,
            format!("fio's log {}: {error}", path.display()),
        )
    })?;
    Ok(BurstCell {
        size_bytes: Some(size),
        pattern: pattern.clone(),
        pause_s: pause_s as f64,
        is_recovery: false,
        iops: iops_per_second(&logged),
        machine_cpu,
    })
}

/// Waits; an interruption ends it with an error.
fn rest(seconds: u64, interrupt: &Interrupt) -> Result<(), Blamed> {
    if interrupt.wait(Duration::from_secs(seconds)) {
        return Err(Blamed::from(storage::Error::Interrupted));
    }
    Ok(())
}
