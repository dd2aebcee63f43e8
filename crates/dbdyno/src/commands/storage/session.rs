//! One measurement of a disk: its results directory, and the record that is appended to.

use std::{
    fs::{File, OpenOptions},
    io::Write,
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use blame::{Blame, Blamed};
use results::ClaimedDirectory;
use runs::Length;
use samples::{
    CommitResult, CommitSequence, Pattern, PatternResult, StorageLine, StorageMode, StorageRecord,
};
use storage::{Fio, JobFile, job_file, pattern_result, shuffled};

use super::{
    ground::{CommonArgs, Ground, Plan},
    outputs::{
        JOB_FILE, RECORD, answer, claim, last_results, unreadable, unwritten, write, write_outputs,
    },
};

/// A record that is being written, in its claimed directory.
pub(super) struct Session {
    pub(super) ground: Ground,
    results: ClaimedDirectory,
    pub(super) record: StorageRecord,
    log: File,
    job: Option<String>,
    fio: Option<Fio>,
}

impl Session {
    /// Begins new results.
    pub(super) fn begin(ground: Ground, plan: Plan, args: &CommonArgs) -> anyhow::Result<Self> {
        let results = claim(plan.mode, args.results.as_deref())?;
        let record = StorageRecord::new(ground.header(&plan));
        let mut session = Self::open(ground, results, record, plan)?;
        let first = StorageLine::Storage(Box::new(session.record.header.clone()));
        session.append(first)?;
        session.write_job_file()?;
        Ok(session)
    }

    /// Continues results that were interrupted; they have to be those of the same plan.
    pub(super) fn resume(ground: Ground, plan: Plan, args: &CommonArgs) -> anyhow::Result<Self> {
        let path = match &args.results {
            Some(path) => path.clone(),
            None => last_results(plan.mode)?,
        };
        let results = ClaimedDirectory::again(&path)?;
        let file = path.join(RECORD);
        let record = StorageRecord::read(&file).map_err(|error| unreadable(&file, error))?;
        let header = ground.header(&plan);
        if let Some((noun, now, before)) = header.differs_from(&record.header) {
            let message = format!("{}: its {noun} is {before}, not {now}", path.display());
            let hint = "use --resume with the original options of these results".to_owned();
            return Err(Blamed::new(Blame::Input, message).hint(hint).into());
        }
        let whole_bytes = record.whole_bytes;
        let session = Self::open(ground, results, record, plan)?;
        // A torn last line goes: what is appended would become a part of it.
        let cut = session.log.set_len(whole_bytes);
        cut.map_err(|error| unwritten(&file, &error))?;
        session.write_job_file()?;
        Ok(session)
    }

    fn open(
        ground: Ground,
        results: ClaimedDirectory,
        record: StorageRecord,
        plan: Plan,
    ) -> anyhow::Result<Self> {
        let path = results.path().join(RECORD);
        let log = OpenOptions::new().create(true).append(true).open(&path);
        let log = log.map_err(|error| unwritten(&path, &error))?;
        let file = ground.test.data();
        let job = JobFile {
            file: &file,
            file_bytes: plan.file_bytes,
            each_s: plan.each_s,
            engine: &plan.engine,
            direct: ground.place.is_direct(),
            more: &[],
            log: None,
        };
        // A burst writes a job file for each cell.
        let has_job = plan.fio.is_some() && plan.mode != StorageMode::Burst;
        Ok(Self {
            job: (has_job && !plan.patterns.is_empty()).then(|| job_file(&job, &plan.patterns)),
            fio: plan.fio,
            ground,
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
        write(self.results.path(), name, text)
    }

    /// Appends what was measured, in one write: a crash tears at most the last line.
    pub(super) fn append(&mut self, line: StorageLine) -> Result<(), Blamed> {
        let mut text = serde_json::to_vec(&line).expect("plain fields always serialise");
        text.push(b'\n');
        let path = self.results.path().join(RECORD);
        let written = self.log.write_all(&text);
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
        let text = self.run_fio(&path, &pattern.name)?;
        pattern_result(pattern, &text).map_err(Blamed::from)
    }

    /// Runs one section of a job file and returns fio's output.
    pub(super) fn run_fio(&self, job: &Path, section: &str) -> Result<String, Blamed> {
        let fio = self.fio.as_ref().expect("who has patterns has fio");
        let each = Duration::from_secs_f64(self.record.header.each_s);
        let job = std::path::absolute(job).map_err(|error| unwritten(job, &error))?;
        let group = self.ground.group.as_deref();
        fio.run(&job, section, each, group, self.ground.interrupt())
            .map_err(Blamed::from)
    }

    /// Measures the commit probes that are not there yet.
    pub(super) fn probe_commits(
        &mut self,
        sequence: CommitSequence,
        each: Duration,
    ) -> anyhow::Result<()> {
        let writers = self.record.header.writers.clone();
        let done = self.record.commits.len();
        for writers in writers.into_iter().skip(done) {
            let counted = units::counted(writers as usize, "writer");
            let what = format!("durable commits of {counted}");
            let step = self.ground.context.step(&what, Length::Unknown);
            let before = self.ground.disk_flushes();
            let limited = self.ground.limited()?;
            let probed = storage::commit_probe(
                self.ground.files(),
                sequence,
                self.ground.place.is_direct(),
                writers,
                each,
                self.ground.interrupt(),
            );
            drop(limited);
            drop(step);
            let mut result: CommitResult = probed.map_err(Blamed::from)?;
            let flushes = self.ground.disk_flushes().zip(before);
            result.device_flushes = flushes.map(|(after, before)| after.saturating_sub(before));
            self.append(StorageLine::Commit(result))?;
        }
        Ok(())
    }

    /// Writes the last line, the page and the files for programs, and prints the answer.
    pub(super) fn finish(mut self) -> anyhow::Result<ExitCode> {
        self.append(StorageLine::End)?;
        let results = self.results.path();
        let shown = write_outputs(results, &self.record, self.job.as_deref())?;
        answer(results, &shown);
        Ok(ExitCode::SUCCESS)
    }

    /// What was measured is kept and shown, also where an error ends the measurement.
    pub(super) fn fail(self, error: anyhow::Error, way_on: &str) -> anyhow::Error {
        let record = &self.record;
        let measured = record.patterns.len()
            + record.commits.len()
            + record.bursts.len()
            + record.rounds.len();
        let results = self.results.path();
        let path = results.display().to_string();
        // The first error is the one to tell.
        let _ = write_outputs(results, record, self.job.as_deref());
        let kept = units::counted(measured, "result");
        let hint = format!("{kept} kept in {path}{way_on}");
        match error.downcast::<Blamed>() {
            Ok(blamed) => blamed.hint(hint).into(),
            Err(other) => other,
        }
    }
}
