//! The run records of results: all in a directory, or one file.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use blame::{Blame, Blamed};
use samples::{ReadError, Record};

use crate::storage_results;

/// The experiment of a results directory.
const EXPERIMENT: &str = "experiment.toml";
/// The hint where nothing better is known.
const HISTORY: &str = "dbdyno history lists past results";
/// File name extension of run records.
const RECORD: &str = ".jsonl";

/// Records that a hint names at most.
const NAMED_MAX: usize = 5;

/// Part of the name of records of disturbed runs: `run-0007.disturbed-1.jsonl`.
pub(crate) const DISTURBED: &str = "disturbed";

/// The run records in a directory, each list in order of names.
#[derive(Debug, Default)]
pub(crate) struct RecordFiles {
    /// Valid records.
    pub counted: Vec<PathBuf>,
    /// Records that were set aside because other work disturbed their runs.
    pub disturbed: Vec<PathBuf>,
    /// Records that were set aside because their runs were incomplete.
    pub incomplete: Vec<PathBuf>,
}

impl RecordFiles {
    /// True if there is no record of any kind.
    pub(crate) fn is_empty(&self) -> bool {
        let kinds = [&self.counted, &self.disturbed, &self.incomplete];
        kinds.iter().all(|kind| kind.is_empty())
    }

    /// The records of disturbed runs, one for each run: `run-0007-batch.disturbed-1.jsonl` is another load of the run of
    /// `run-0007-oltp.disturbed-1.jsonl`.
    pub(crate) fn disturbed_runs(&self) -> impl Iterator<Item = &Path> {
        one_per_run(&self.disturbed)
    }

    /// The same of incomplete runs.
    pub(crate) fn incomplete_runs(&self) -> impl Iterator<Item = &Path> {
        one_per_run(&self.incomplete)
    }

    pub(crate) fn of(directory: &Path) -> Result<Self, Blamed> {
        let failed = Blamed::io(Blame::Input, directory);
        let middle = format!(".{DISTURBED}-");
        let mut files = Self::default();
        for entry in std::fs::read_dir(directory).map_err(failed)? {
            let file = entry.map_err(failed)?;
            let name = file.file_name();
            let name = name.to_string_lossy();
            let Some(stem) = name.strip_suffix(RECORD) else {
                continue;
            };
            // It can be beside run records.
            if name == storage_results::RECORD {
                continue;
            }
            let kind = match stem.contains('.') {
                false => &mut files.counted,
                true if stem.contains(&middle) => &mut files.disturbed,
                true => &mut files.incomplete,
            };
            kind.push(file.path());
        }
        for kind in [
            &mut files.counted,
            &mut files.disturbed,
            &mut files.incomplete,
        ] {
            kind.sort();
        }
        Ok(files)
    }
}

/// One of these records for each run that was set aside.
fn one_per_run(records: &[PathBuf]) -> impl Iterator<Item = &Path> {
    let mut known = BTreeSet::new();
    let records = records.iter().map(PathBuf::as_path);
    records.filter(move |path| known.insert(attempt(path)))
}

/// The number of the run and of the attempt at it: `0007` and `disturbed-1`.
fn attempt(path: &Path) -> (String, String) {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let stem = name.strip_suffix(RECORD).unwrap_or(&name);
    let (run, attempt) = stem.split_once('.').unwrap_or((stem, ""));
    let number = run.split('-').nth(1).unwrap_or(run);
    (number.to_owned(), attempt.to_owned())
}

/// The records in a directory, in order of their names, or the one file; without those that were set aside. An error if
/// there is none.
pub fn record_files(path: &Path) -> Result<Vec<PathBuf>, Blamed> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let files = RecordFiles::of(path)?.counted;
    if files.is_empty() {
        Err(no_record(path))
    } else {
        Ok(files)
    }
}

pub(crate) fn no_record(directory: &Path) -> Blamed {
    if storage_results::record_file(directory).is_some() {
        return storage_measurement(
            directory,
            "contains a storage measurement and no run record",
        );
    }
    let message = format!("{}: contains no run record", directory.display());
    let hint = if directory.join(EXPERIMENT).exists() {
        "no run is complete, or its records were removed: run the experiment with --resume and these --results to \
         measure the missing runs"
    } else {
        HISTORY
    };
    Blamed::new(Blame::Input, message).hint(hint.to_owned())
}

/// An error for a storage measurement in the place of runs of a server.
fn storage_measurement(path: &Path, what: &str) -> Blamed {
    let message = format!("{}: {what}", path.display());
    let hint = "dbdyno report shows a storage measurement; dbdyno storage compare measures and compares two volumes";
    Blamed::new(Blame::Input, message).hint(hint.to_owned())
}

/// How to find a record that is not where it was named; `None` for one that is.
pub(crate) fn hint_to_missing(path: &Path) -> Option<String> {
    if path.exists() {
        return None;
    }
    let directory = match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    let beside = RecordFiles::of(directory).unwrap_or_default().counted;
    let names = beside.iter().filter_map(|it| it.file_name());
    let mut names: Vec<String> = names.map(|it| it.to_string_lossy().into_owned()).collect();
    if names.is_empty() {
        return Some(HISTORY.to_owned());
    }
    let more = names.len().saturating_sub(NAMED_MAX);
    names.truncate(NAMED_MAX);
    let more = match more {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let resume = if directory.join(EXPERIMENT).exists() {
        "; run the experiment with --resume to measure the missing runs"
    } else {
        ""
    };
    Some(format!(
        "its directory has {}{more}{resume}",
        names.join(", ")
    ))
}

/// Reads a record; an error names the file.
pub fn read_record(path: &Path) -> Result<Record, Blamed> {
    Record::open(path).map_err(|error| {
        if storage_results::read(path).is_ok() {
            storage_measurement(path, "is a storage measurement, not a run record")
        } else {
            record_error(path, &error)
        }
    })
}

/// Reads the records in a directory, in order of their names, or the one file.
pub fn read_records(path: &Path) -> Result<Vec<Record>, Blamed> {
    let files = record_files(path)?;
    files.iter().map(|file| read_record(file)).collect()
}

/// An error that names the record once.
pub fn record_error(path: &Path, error: &ReadError) -> Blamed {
    let named = match error {
        // It names the file itself.
        ReadError::Io { .. } => error.to_string(),
        ReadError::Line { .. } | ReadError::NoHeader | ReadError::Format { .. } => {
            format!("{}: {error}", path.display())
        }
    };
    Blamed::new(Blame::Input, named).hint(hint_to_missing(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_that_were_set_aside_are_told_apart() {
        let directory = tempfile::tempdir().unwrap();
        for name in [
            "run-0002.jsonl",
            "run-0001.jsonl",
            "run-0002.disturbed-1.jsonl",
            "run-0003.incomplete-1.jsonl",
            "run-0004-batch.jsonl",
            "run-0004-batch.disturbed-1.jsonl",
            "run-0004-oltp-1.disturbed-1.jsonl",
            "run-0004-oltp-1.disturbed-2.jsonl",
            "experiment.toml",
        ] {
            std::fs::write(directory.path().join(name), "").unwrap();
        }
        let files = RecordFiles::of(directory.path()).unwrap();
        let names = |paths: &[PathBuf]| -> Vec<String> {
            let names = paths.iter().map(|path| path.file_name().unwrap());
            names.map(|it| it.to_string_lossy().into()).collect()
        };
        assert_eq!(
            names(&files.counted),
            ["run-0001.jsonl", "run-0002.jsonl", "run-0004-batch.jsonl"]
        );
        assert_eq!(files.disturbed.len(), 4);
        let disturbed: Vec<PathBuf> = files.disturbed_runs().map(Path::to_owned).collect();
        assert_eq!(
            names(&disturbed),
            [
                "run-0002.disturbed-1.jsonl",
                "run-0004-batch.disturbed-1.jsonl",
                "run-0004-oltp-1.disturbed-2.jsonl"
            ]
        );
        assert_eq!(names(&files.incomplete), ["run-0003.incomplete-1.jsonl"]);
        assert!(RecordFiles::of(&directory.path().join("nowhere")).is_err());
    }

    #[test]
    fn a_record_that_was_removed_has_a_hint() {
        let directory = tempfile::tempdir().unwrap();
        let record = directory.path().join("run-0002.jsonl");
        let hints = |path: &Path| read_record(path).unwrap_err().hints;
        assert_eq!(hints(&record), [HISTORY]);
        for run in [1, 3] {
            let name = format!("run-000{run}.jsonl");
            std::fs::write(directory.path().join(name), "").unwrap();
        }
        assert_eq!(
            hints(&record),
            ["its directory has run-0001.jsonl, run-0003.jsonl"]
        );
        for run in 4..9 {
            let name = format!("run-000{run}.jsonl");
            std::fs::write(directory.path().join(name), "").unwrap();
        }
        std::fs::write(directory.path().join(EXPERIMENT), "").unwrap();
        assert_eq!(
            hints(&record),
            [
                "its directory has run-0001.jsonl, run-0003.jsonl, run-0004.jsonl, run-0005.jsonl, run-0006.jsonl \
                 and 2 more; run the experiment with --resume to measure the missing runs"
            ]
        );
        // One that is there, and broken, has another error.
        assert!(hints(&directory.path().join("run-0001.jsonl")).is_empty());
    }

    #[test]
    fn a_storage_measurement_is_no_run_record() {
        const QUICK: &str = include_str!("../../audit/fixtures/storage/quick.jsonl");
        let directory = tempfile::tempdir().unwrap();
        let record = directory.path().join(storage_results::RECORD);
        std::fs::write(&record, QUICK).unwrap();
        let copied = directory.path().join("copied.disk.jsonl");
        std::fs::write(&copied, QUICK).unwrap();
        for error in [
            record_files(directory.path()).unwrap_err(),
            read_record(&record).unwrap_err(),
            read_record(&copied).unwrap_err(),
        ] {
            let says = |text: &str| error.message.contains(text);
            assert!(
                says("a storage measurement") && says("run record"),
                "{error}"
            );
            assert!(error.hints[0].contains("dbdyno storage compare"));
        }
        // Beside run records it is ignored.
        let run = directory.path().join("run-0001.jsonl");
        std::fs::write(&run, "").unwrap();
        assert_eq!(record_files(directory.path()).unwrap(), [run]);
    }

    #[test]
    fn a_directory_without_records_has_a_hint() {
        let directory = tempfile::tempdir().unwrap();
        let hints = || record_files(directory.path()).unwrap_err().hints;
        assert_eq!(hints(), [HISTORY]);
        std::fs::write(directory.path().join(EXPERIMENT), "").unwrap();
        assert!(hints()[0].contains("with --resume"));
    }
}
