//! The run records of results: those in a directory, or one file.

use std::path::{Path, PathBuf};

use samples::Record;

use crate::blame::{Blame, Blamed};

/// What a run record's file name ends with.
const EXTENSION: &str = "jsonl";

/// The records in a directory, in the order of their names, or the one file; those that were set aside
/// (`run-0007.disturbed-1.jsonl`) are left out. An error where there is none.
pub(crate) fn record_files(path: &Path) -> Result<Vec<PathBuf>, Blamed> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let failed = |error| Blamed::new(Blame::Input, format!("{}: {error}", path.display()));
    let mut files = Vec::new();
    for entry in std::fs::read_dir(path).map_err(failed)? {
        let file = entry.map_err(failed)?.path();
        let stem = file.file_stem().unwrap_or_default().to_string_lossy();
        let is_set_aside = stem.contains('.');
        if file
            .extension()
            .is_some_and(|extension| extension == EXTENSION)
            && !is_set_aside
        {
            files.push(file);
        }
    }
    files.sort();
    match files.is_empty() {
        true => {
            let message = format!("{}: holds no run record", path.display());
            Err(Blamed::new(Blame::Input, message))
        }
        false => Ok(files),
    }
}

/// Reads a record; an error names its file.
pub(crate) fn read_record(path: &Path) -> Result<Record, Blamed> {
    Record::open(path).map_err(|error| {
        let (error, shown) = (error.to_string(), path.display().to_string());
        let named = match error.contains(&shown) {
            true => error,
            false => format!("{shown}: {error}"),
        };
        Blamed::new(Blame::Input, named)
    })
}
