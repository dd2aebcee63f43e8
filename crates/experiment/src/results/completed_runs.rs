//! The completed part of a plan: the run records in a results directory.

use std::{
    collections::{BTreeSet, VecDeque},
    fs,
    path::{Path, PathBuf},
};

use samples::{ReadError, Record};

use crate::{
    error::Error,
    plan::{Plan, PlannedRun},
    spec::design::Design,
};

/// The names of a run's records in the results directory, one for each load: `run-0007.jsonl`, or `run-0007-batch.jsonl`
/// of a load with a name.
pub fn record_file_names(run: &PlannedRun) -> impl Iterator<Item = String> {
    stems(run).map(|stem| format!("{stem}.jsonl"))
}

/// The names without their extension.
fn stems(run: &PlannedRun) -> impl Iterator<Item = String> {
    let number = run.run;
    run.loads.iter().map(move |load| match &load.spec.name {
        Some(load) => format!("run-{number:04}-{load}"),
        None => format!("run-{number:04}"),
    })
}

/// The completed part of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    results_dir: PathBuf,
    done: BTreeSet<u32>,
    /// The names of the records of each run that is not done; some of them may be complete.
    incomplete: VecDeque<Vec<String>>,
}

/// The records of a run that exist.
struct FoundRecords<'p> {
    run: &'p PlannedRun,
    /// Their names without extension.
    stems: Vec<String>,
    /// True if each load has a complete one.
    is_complete: bool,
}

impl Progress {
    /// Reads the plan's run records in a results directory; an error when it contains another experiment.
    pub fn scan(results_dir: &Path, plan: &Plan) -> Result<Self, Error> {
        plan.identity.check(results_dir)?;
        let mut progress = Self {
            results_dir: results_dir.to_owned(),
            done: BTreeSet::new(),
            incomplete: VecDeque::new(),
        };
        let sha256 = plan.identity.sha256();
        let found = plan.runs.iter();
        let found = found.map(|run| FoundRecords::of(results_dir, run, &sha256));
        let found = found.collect::<Result<Vec<_>, Error>>()?;
        let interrupted = interrupted_sessions(plan, &found);
        for records in found {
            let run = records.run;
            if records.is_complete && !interrupted.contains(&run.block) {
                progress.done.insert(run.run);
            } else if !records.stems.is_empty() {
                progress.incomplete.push_back(records.stems);
            }
        }
        Ok(progress)
    }

    /// True when the run has a complete record of each load; side by side, when all runs of its session have.
    pub fn is_done(&self, run: &PlannedRun) -> bool {
        self.done.contains(&run.run)
    }

    /// Number of these runs.
    pub fn done(&self) -> usize {
        self.done.len()
    }

    /// Renames the records of each run that is not done, `run-0007.incomplete-1.jsonl`, so that it can be repeated and no
    /// measurement is lost; returns the new paths.
    pub fn set_aside(&mut self) -> Result<Vec<PathBuf>, Error> {
        let mut kept = Vec::new();
        while let Some(run) = self.incomplete.front() {
            kept.extend(rename(&self.results_dir, run, "incomplete")?);
            self.incomplete.pop_front();
        }
        Ok(kept)
    }
}

impl<'p> FoundRecords<'p> {
    fn of(results_dir: &Path, run: &'p PlannedRun, sha256: &str) -> Result<Self, Error> {
        let mut complete = 0;
        let mut found = Vec::new();
        for stem in stems(run) {
            let path = results_dir.join(format!("{stem}.jsonl"));
            match path.try_exists() {
                Ok(true) => {}
                Ok(false) => continue,
                Err(source) => return Err(Error::io("read", &path, source)),
            }
            complete += usize::from(is_complete(&path, run, sha256)?);
            found.push(stem);
        }
        Ok(Self {
            run,
            stems: found,
            is_complete: complete == run.loads.len(),
        })
    }
}

/// The sessions of a plan side by side that have to be repeated. The slices of one combination are compared with those that
/// the others had at the same time, so that a session is measured as a whole.
fn interrupted_sessions(plan: &Plan, found: &[FoundRecords<'_>]) -> BTreeSet<u32> {
    match plan.design {
        Design::Classical => BTreeSet::new(),
        Design::SideBySide(_) => {
            let incomplete = found.iter().filter(|records| !records.is_complete);
            incomplete.map(|records| records.run.block).collect()
        }
    }
}

/// Renames the records of a run, `run-0007.WHY-1.jsonl`, so that it can be repeated and no measurement is lost; returns
/// the new paths, one for each load.
pub fn set_aside(results_dir: &Path, run: &PlannedRun, why: &str) -> Result<Vec<PathBuf>, Error> {
    rename(results_dir, &stems(run).collect::<Vec<_>>(), why)
}

/// Renames the records of one run; all get the same number.
fn rename(results_dir: &Path, stems: &[String], why: &str) -> Result<Vec<PathBuf>, Error> {
    let kept =
        |stem: &String, number: u32| results_dir.join(format!("{stem}.{why}-{number}.jsonl"));
    let number = (1..)
        .find(|number| !stems.iter().any(|stem| kept(stem, *number).exists()))
        .expect("a directory does not hold every number");
    let renamed = stems.iter().map(|stem| {
        let (from, to) = (
            results_dir.join(format!("{stem}.jsonl")),
            kept(stem, number),
        );
        fs::rename(&from, &to).map_err(|source| Error::io("rename", &from, source))?;
        Ok(to)
    });
    renamed.collect()
}

/// True for a complete record of this run; false for a truncated one; an error for a record of another run.
fn is_complete(path: &Path, run: &PlannedRun, sha256: &str) -> Result<bool, Error> {
    let damaged = |cause: String| {
        Err(Error::Damaged {
            path: path.to_owned(),
            cause,
        })
    };
    match Record::open(path) {
        Ok(record) if record.header.experiment_sha256 != sha256 => {
            damaged("it is the record of another experiment".to_owned())
        }
        Ok(record) if (record.header.run, record.header.block) != (run.run, run.block) => {
            damaged(format!("it is the record of run {}", record.header.run))
        }
        Ok(record) => Ok(record.is_complete()),
        Err(ReadError::Line { .. } | ReadError::NoHeader) => Ok(false),
        Err(ReadError::Io { source, .. }) => Err(Error::io("read", path, source)),
        Err(error @ ReadError::Format { .. }) => damaged(error.to_string()),
    }
}
