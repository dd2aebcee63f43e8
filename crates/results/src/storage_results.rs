//! Results of `dbdyno storage`: the record in its directory, and the page and the files for programs made from it.

use std::path::{Path, PathBuf};

use audit::{Audit, Subject, audit};
use blame::{Blame, Blamed};
use report::{storage_csv, storage_html, storage_json};
use samples::{StorageMode, StorageRecord};

use crate::claimed_directory::{ClaimedDirectory, unused_path};

/// The record in a results directory.
pub const RECORD: &str = "storage.jsonl";
/// fio's job file of the patterns beside it.
pub const JOB_FILE: &str = "patterns.fio";
const PAGE: &str = "storage.html";

/// A record with one result for each pattern, and what the rules of the audit say of it.
pub struct AuditedStorage {
    /// The record.
    pub record: StorageRecord,
    /// Its audit.
    pub audit: Audit,
}

impl AuditedStorage {
    /// Merges the repeats of each pattern, and audits the result.
    pub fn of(record: &StorageRecord) -> Self {
        let record = record.over_repeats();
        let audit = audit(&Subject::of_storage(&record));
        Self { record, audit }
    }
}

/// Results whose page and files for programs are written.
pub struct WrittenStorage {
    /// What they show.
    pub audited: AuditedStorage,
    /// Path of the page.
    pub page: PathBuf,
}

/// The record of `dbdyno storage` in a directory, or the file itself if it is one.
pub fn record_file(path: &Path) -> Option<PathBuf> {
    if path.is_dir() {
        let file = path.join(RECORD);
        return file.exists().then_some(file);
    }
    let is_of_storage = path.file_name().is_some_and(|name| name == RECORD);
    is_of_storage.then(|| path.to_owned())
}

/// Reads a record from its file.
pub fn read(file: &Path) -> Result<StorageRecord, Blamed> {
    StorageRecord::read(file)
        .map_err(|error| Blamed::new(Blame::Input, format!("{}: {error}", file.display())))
}

/// Replaces a file of the results.
pub fn write(results: &Path, name: &str, text: &str) -> Result<(), Blamed> {
    let written = files::replace(&results.join(name), text.as_bytes());
    written.map_err(|error| Blamed::new(Blame::Machine, error))
}

/// Writes the page and the files for programs.
pub fn write_views(
    results: &Path,
    record: &StorageRecord,
    job_file: Option<&str>,
) -> Result<WrittenStorage, Blamed> {
    let audited = AuditedStorage::of(record);
    let AuditedStorage { record, audit } = &audited;
    write(results, PAGE, &storage_html(record, audit, job_file))?;
    write(results, "storage.json", &storage_json(record, audit))?;
    write(results, "storage.csv", &storage_csv(record))?;
    Ok(WrittenStorage {
        page: results.join(PAGE),
        audited,
    })
}

/// Writes new results of a complete record.
pub fn create(record: &StorageRecord, results: Option<&Path>) -> Result<WrittenStorage, Blamed> {
    let results = claim(record.header.mode, results)?;
    write(results.path(), RECORD, &record.to_lines())?;
    write_views(results.path(), record, None)
}

/// Claims a directory for new results: the named one, or `results/storage-suite-1` and so on.
pub fn claim(mode: StorageMode, results: Option<&Path>) -> Result<ClaimedDirectory, Blamed> {
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
pub fn last_results(mode: StorageMode) -> Result<PathBuf, Blamed> {
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
