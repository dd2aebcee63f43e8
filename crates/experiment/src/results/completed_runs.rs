//! The completed part of a plan: the run records in a results directory.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use samples::{ReadError, Record};

use crate::{
    error::Error,
    plan::{Plan, PlannedRun},
};

/// The name of a run's record in the results directory: `run-0007.jsonl`.
pub fn record_file_name(run: u32) -> String {
    format!("run-{run:04}.jsonl")
}

/// The completed part of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    results_dir: PathBuf,
    done: BTreeSet<u32>,
    incomplete: Vec<u32>,
}

impl Progress {
    /// Reads the plan's run records in a results directory; an error when it contains another experiment.
    pub fn scan(results_dir: &Path, plan: &Plan) -> Result<Self, Error> {
        plan.identity.check(results_dir)?;
        let mut progress = Self {
            results_dir: results_dir.to_owned(),
            done: BTreeSet::new(),
            incomplete: Vec::new(),
        };
        let sha256 = plan.identity.sha256();
        for run in &plan.runs {
            let path = results_dir.join(record_file_name(run.run));
            match path.try_exists() {
                Ok(true) => {}
                Ok(false) => continue,
                Err(source) => return Err(Error::io("read", &path, source)),
            }
            if is_complete(&path, run, &sha256)? {
                progress.done.insert(run.run);
            } else {
                progress.incomplete.push(run.run);
            }
        }
        Ok(progress)
    }

    /// True when the run has a complete record.
    pub fn is_done(&self, run: &PlannedRun) -> bool {
        self.done.contains(&run.run)
    }

    /// Number of runs with a complete record.
    pub fn done(&self) -> usize {
        self.done.len()
    }

    /// Renames each incomplete record, `run-0007.incomplete-1.jsonl`, so that its run can be repeated and no
    /// measurement is lost; returns the new paths.
    pub fn set_aside(&mut self) -> Result<Vec<PathBuf>, Error> {
        let mut kept = Vec::new();
        while let Some(run) = self.incomplete.last() {
            kept.push(set_aside(&self.results_dir, *run, "incomplete")?);
            self.incomplete.pop();
        }
        kept.reverse();
        Ok(kept)
    }
}

/// Renames the record of a run, `run-0007.WHY-1.jsonl`, so that its run can be repeated and no measurement is lost;
/// returns the new path.
pub fn set_aside(results_dir: &Path, run: u32, why: &str) -> Result<PathBuf, Error> {
    let from = results_dir.join(record_file_name(run));
    let to = (1..)
        .map(|number| format!("run-{run:04}.{why}-{number}.jsonl"))
        .map(|name| results_dir.join(name))
        .find(|path| !path.exists())
        .expect("a directory does not hold every number");
    fs::rename(&from, &to).map_err(|source| Error::io("rename", &from, source))?;
    Ok(to)
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
