//! The results directory of a measurement of a disk: the record, and what is written and printed of it.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use audit::{Audit, Subject, audit};
use blame::{Blame, Blamed};
use report::{storage_csv, storage_details, storage_html, storage_json, storage_summary};
use results::{ClaimedDirectory, unused_path};
use samples::{StorageMode, StorageReadError, StorageRecord};

use crate::commands::run::terminal_width;

/// The record in a results directory.
pub(super) const RECORD: &str = "storage.jsonl";
const PAGE: &str = "storage.html";

/// fio's job file of the patterns beside it.
pub(crate) const JOB_FILE: &str = "patterns.fio";

/// The record of `dbdyno storage` in a directory, or the file itself if it is one.
pub(crate) fn record_file(path: &Path) -> Option<PathBuf> {
    if path.is_dir() {
        let file = path.join(RECORD);
        return file.exists().then_some(file);
    }
    let is_of_storage = path.file_name().is_some_and(|name| name == RECORD);
    is_of_storage.then(|| path.to_owned())
}

/// A record with one result for each pattern, and what the rules of the audit say of it.
pub(super) struct Judged {
    record: StorageRecord,
    audit: Audit,
}

pub(super) fn write(results: &Path, name: &str, text: &str) -> Result<(), Blamed> {
    let written = files::replace(&results.join(name), text.as_bytes());
    written.map_err(|error| Blamed::new(Blame::Machine, error))
}

/// Writes the page and the files for programs; returns what they show.
pub(super) fn write_outputs(
    results: &Path,
    record: &StorageRecord,
    job_file: Option<&str>,
) -> Result<Judged, Blamed> {
    let record = record.over_repeats();
    let audit = audit(&Subject::of_storage(&record));
    write(results, PAGE, &storage_html(&record, &audit, job_file))?;
    write(results, "storage.json", &storage_json(&record, &audit))?;
    write(results, "storage.csv", &storage_csv(&record))?;
    Ok(Judged { record, audit })
}

/// Prints the answer, and what it rests on.
pub(super) fn answer(results: &Path, shown: &Judged) {
    let page = results.join(PAGE).display().to_string();
    let Judged { record, audit } = shown;
    let summary = storage_summary(record, audit, &page, terminal_width());
    print!("{summary}");
    let details = storage_details(record);
    if !details.is_empty() {
        print!("\n{details}");
    }
}

/// Writes new results of a record that is whole, and prints the answer.
pub(crate) fn keep(record: &StorageRecord, results: Option<&Path>) -> anyhow::Result<ExitCode> {
    let results = claim(record.header.mode, results)?;
    write(results.path(), RECORD, &record.to_lines())?;
    let shown = write_outputs(results.path(), record, None)?;
    answer(results.path(), &shown);
    Ok(ExitCode::SUCCESS)
}

pub(super) fn claim(mode: StorageMode, results: Option<&Path>) -> Result<ClaimedDirectory, Blamed> {
    match results {
        Some(path) => ClaimedDirectory::new(path),
        None => ClaimedDirectory::numbered(&results_name(mode)),
    }
}

/// `storage-suite`.
fn results_name(mode: StorageMode) -> String {
    format!("storage-{}", mode.name())
}

/// The results directory with the highest number.
pub(super) fn last_results(mode: StorageMode) -> Result<PathBuf, Blamed> {
    let name = results_name(mode);
    let free = unused_path(&name);
    let number = free.to_string_lossy();
    let number = number
        .rsplit('-')
        .next()
        .and_then(|it| it.parse::<u64>().ok());
    match number.map(|number| number - 1) {
        Some(number) if number > 0 => Ok(free.with_file_name(format!("{name}-{number}"))),
        _ => {
            let message = format!("no results of dbdyno storage {} to resume", mode.name());
            let hint = "name them with --results".to_owned();
            Err(Blamed::new(Blame::Input, message).hint(hint))
        }
    }
}

pub(crate) fn unreadable(path: &Path, error: StorageReadError) -> Blamed {
    Blamed::new(Blame::Input, format!("{}: {error}", path.display()))
}

pub(super) fn unwritten(path: &Path, error: &std::io::Error) -> Blamed {
    Blamed::new(
        Blame::Machine,
        format!("cannot write {}: {error}", path.display()),
    )
}
