//! A measurement of a disk: its results directory, and the record that is appended to.

use std::{
    fs::{File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
    time::Duration,
};

use blame::{Blame, Blamed};
use results::{
    ClaimedDirectory,
    storage_results::{self, JOB_FILE, RECORD, WrittenStorage},
};
use runs::Length;
use samples::{
    CommitResult, CommitSequence, Pattern, PatternResult, StorageLine, StorageMode, StorageRecord,
};
use storage::{Fio, JobFile, job_file, pattern_result, shuffled};
use telemetry::CpuObservation;

use super::{measured_disk::MeasuredDisk, plan::Plan};

/// Where the results go.
#[derive(Debug, Clone, Copy)]
pub enum ResultsPlace<'a> {
    /// New results: in this directory, or else in `results/storage-MODE-N`.
    New(Option<&'a Path>),
    /// Interrupted results of the same plan, which are continued: those in this directory, or else the latest.
    Interrupted(Option<&'a Path>),
}

/// A record that is being written, in its claimed directory.
pub(super) struct Measurement {
    pub(super) disk: MeasuredDisk,
    results: ClaimedDirectory,
    pub(super) record: StorageRecord,
    log: File,
    job: Option<String>,
    fio: Option<Fio>,
}

impl Measurement {
    /// Begins new results, or continues interrupted ones.
    pub(super) fn open(
        disk: MeasuredDisk,
        plan: Plan,
        results: ResultsPlace<'_>,
    ) -> Result<Self, Blamed> {
        match results {
            ResultsPlace::New(directory) => Self::begin(disk, plan, directory),
            ResultsPlace::Interrupted(directory) => Self::resume(disk, plan, directory),
        }
    }

    fn begin(disk: MeasuredDisk, plan: Plan, directory: Option<&Path>) -> Result<Self, Blamed> {
        let results = storage_results::claim(plan.mode, directory)?;
        let record = StorageRecord::new(disk.header(&plan));
        let mut measurement = Self::appending(disk, results, record, plan)?;
        let first = StorageLine::Storage(Box::new(measurement.record.header.clone()));
        measurement.append(first)?;
        measurement.write_job_file()?;
        Ok(measurement)
    }

    /// The results have to be those of the same plan.
    fn resume(disk: MeasuredDisk, plan: Plan, directory: Option<&Path>) -> Result<Self, Blamed> {
        let path = match directory {
            Some(path) => path.to_owned(),
            None => storage_results::last_results(plan.mode)?,
        };
        let results = ClaimedDirectory::again(&path)?;
        let file = path.join(RECORD);
        let record = storage_results::read(&file)?;
        let header = disk.header(&plan);
        if let Some((noun, now, before)) = header.differs_from(&record.header) {
            let message = format!("{}: its {noun} is {before}, not {now}", path.display());
            let hint = "use --resume with the original options of these results".to_owned();
            return Err(Blamed::new(Blame::Input, message).hint(hint));
        }
        let whole_bytes = record.whole_bytes;
        let measurement = Self::appending(disk, results, record, plan)?;
        // A torn last line goes: what is appended would become a part of it.
        let cut = measurement.log.set_len(whole_bytes);
        cut.map_err(|error| unwritten(&file, &error))?;
        measurement.write_job_file()?;
        Ok(measurement)
    }

    fn appending(
        disk: MeasuredDisk,
        results: ClaimedDirectory,
        record: StorageRecord,
        plan: Plan,
    ) -> Result<Self, Blamed> {
        let path = results.path().join(RECORD);
        let log = OpenOptions::new().create(true).append(true).open(&path);
        let log = log.map_err(|error| unwritten(&path, &error))?;
        let file = disk.test.data();
        let job = JobFile {
            file: &file,
            file_bytes: plan.file_bytes,
            each_s: plan.each_s,
            engine: &plan.engine,
            direct: disk.place.is_direct(),
            more: &[],
            log: None,
        };
        // A burst writes a job file for each cell.
        let has_job = plan.fio.is_some() && plan.mode != StorageMode::Burst;
        Ok(Self {
            job: (has_job && !plan.patterns.is_empty()).then(|| job_file(&job, &plan.patterns)),
            fio: plan.fio,
            disk,
            results,
            record,
            log,
        })
    }

    fn write_job_file(&self) -> Result<(), Blamed> {
        let Some(job) = &self.job else {
            return Ok(());
        };
        self.write(JOB_FILE, job)
    }

    /// Replaces another job file than that of the patterns, such as that of a cell; returns its path.
    pub(super) fn write_job(&mut self, name: &str, text: String) -> Result<PathBuf, Blamed> {
        self.write(name, &text)?;
        self.job = Some(match self.job.take() {
            Some(job) => format!("{job}\n{text}"),
            None => text,
        });
        Ok(self.results.path().join(name))
    }

    fn write(&self, name: &str, text: &str) -> Result<(), Blamed> {
        storage_results::write(self.results.path(), name, text)
    }

    /// Appends what was measured, in one write: a crash tears at most the last line.
    pub(super) fn append(&mut self, line: StorageLine) -> Result<(), Blamed> {
        let path = self.results.path().join(RECORD);
        let written = self.log.write_all(line.to_text().as_bytes());
        written.map_err(|error| unwritten(&path, &error))?;
        self.record.add(line);
        Ok(())
    }

    /// The patterns that have no result yet, each with the number of its repeat, in the order in which they are measured.
    pub(super) fn left(&self) -> Vec<(u32, Pattern)> {
        let header = &self.record.header;
        let of_repeat = |repeat: u32| {
            let patterns = match header.order_seed {
                Some(seed) => shuffled(&header.patterns, seed, repeat),
                None => header.patterns.clone(),
            };
            patterns.into_iter().map(move |it| (repeat, it))
        };
        let is_measured = |(repeat, pattern): &(u32, Pattern)| {
            let mut results = self.record.patterns.iter();
            results.any(|it| it.repeat == *repeat && it.pattern == *pattern)
        };
        let all = (1..=header.repeats).flat_map(of_repeat);
        all.filter(|it| !is_measured(it)).collect()
    }

    /// `NAME`, or `NAME, repeat 2 of 3`.
    pub(super) fn title(&self, repeat: u32, pattern: &Pattern) -> String {
        match self.record.header.repeats {
            1 => pattern.name.clone(),
            repeats => format!("{}, repeat {repeat} of {repeats}", pattern.name),
        }
    }

    /// Runs a pattern by fio.
    pub(super) fn measure(&self, pattern: &Pattern) -> Result<PatternResult, Blamed> {
        let path = self.results.path().join(JOB_FILE);
        let cpu = CpuObservation::begin();
        let text = self.run_fio(&path, &pattern.name)?;
        let machine_cpu = cpu.end();
        Ok(PatternResult {
            machine_cpu,
            ..pattern_result(pattern, &text)?
        })
    }

    /// Runs one section of a job file and returns fio's output.
    pub(super) fn run_fio(&self, job: &Path, section: &str) -> Result<String, Blamed> {
        let fio = self.fio.as_ref().expect("who has patterns has fio");
        let each = Duration::from_secs_f64(self.record.header.each_s);
        let job = std::path::absolute(job).map_err(|error| unwritten(job, &error))?;
        let group = self.disk.group.as_deref();
        Ok(fio.run(&job, section, each, group, self.disk.interrupt())?)
    }

    /// Measures the commit probes that are not there yet.
    pub(super) fn probe_commits(
        &mut self,
        sequence: CommitSequence,
        each: Duration,
    ) -> Result<(), Blamed> {
        let writers = self.record.header.writers.clone();
        let done = self.record.commits.len();
        for writers in writers.into_iter().skip(done) {
            let counted = units::counted(writers as usize, "writer");
            let what = format!("durable commits of {counted}");
            let step = self.disk.context.step(&what, Length::Unknown);
            let before = self.disk.disk_flushes();
            let limited = self.disk.limited()?;
            let cpu = CpuObservation::begin();
            let probed = storage::commit_probe(
                self.disk.files(),
                sequence,
                self.disk.place.is_direct(),
                writers,
                each,
                self.disk.interrupt(),
            );
            let machine_cpu = cpu.end();
            drop(limited);
            drop(step);
            let mut result: CommitResult = probed?;
            result.machine_cpu = machine_cpu;
            let flushes = self.disk.disk_flushes().zip(before);
            result.device_flushes = flushes.map(|(after, before)| after.saturating_sub(before));
            self.append(StorageLine::Commit(result))?;
        }
        Ok(())
    }

    /// Writes the last line, the page and the files for programs.
    pub(super) fn finish(mut self) -> Result<WrittenStorage, Blamed> {
        self.append(StorageLine::End)?;
        self.write_views()
    }

    /// Writes the page and the files for programs of an incomplete record; returns the error, with a hint about them.
    pub(super) fn fail(self, error: Blamed, continuation: &str) -> Blamed {
        let record = &self.record;
        let measured = record.patterns.len()
            + record.commits.len()
            + record.bursts.len()
            + record.rounds.len();
        // Only the first error is reported.
        let _ = self.write_views();
        let path = self.results.path().display();
        let kept = units::counted(measured, "result");
        error.hint(format!("{kept} kept in {path}{continuation}"))
    }

    fn write_views(&self) -> Result<WrittenStorage, Blamed> {
        storage_results::write_views(self.results.path(), &self.record, self.job.as_deref())
    }
}

fn unwritten(path: &Path, error: &io::Error) -> Blamed {
    Blamed::new(
        Blame::Machine,
        format!("cannot write {}: {error}", path.display()),
    )
}
