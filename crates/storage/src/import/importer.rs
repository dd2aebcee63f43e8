//! What an importer of another tool's files reads, and the record that it becomes.
//!
//! An importer says what the files say. What they do not say stays absent: the device, its scheduler and its write cache.

use std::path::{Path, PathBuf};

use samples::{
    BurstCell, PatternResult, STORAGE_FORMAT, Storage, StorageHeader, StorageLine, StorageMode,
    StorageRecord,
};

use crate::error::Error;

/// Reads the files of one tool.
pub trait Importer {
    /// The tool, as on the command line.
    fn name(&self) -> &'static str;
    /// What the files say; an error names the file.
    fn read(&self, files: &[ImportFile]) -> Result<Imported, Error>;
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportFile {
    /// As the user named it.
    pub path: PathBuf,
    pub text: String,
}

impl ImportFile {
    pub(super) fn error(&self, why: impl Into<String>, hint: impl Into<String>) -> Error {
        Error::Import {
            path: self.path.clone(),
            why: why.into(),
            hint: hint.into(),
        }
    }

    /// The name of the file without its directory.
    pub(super) fn name(&self) -> String {
        let name = self.path.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }

    /// The same without what follows the last dot.
    pub(super) fn stem(&self) -> String {
        let stem = self.path.file_stem().unwrap_or_default();
        stem.to_string_lossy().into_owned()
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Imported {
    /// Tool and version, `fio-3.33`.
    pub version: String,
    /// When the first file was written, seconds since 1970; `None` where the files do not say it.
    pub unix_s: Option<i64>,
    /// One for each job.
    pub patterns: Vec<PatternResult>,
    /// One for each time series.
    pub bursts: Vec<BurstCell>,
    /// What could not be taken over, each with its reason.
    pub left_out: Vec<String>,
}

/// What no file of another tool says.
const UNKNOWN: [&str; 4] = [
    "the device",
    "its scheduler and write cache",
    "the file system",
    "the machine's memory",
];

impl Imported {
    /// The whole record; `at` is UTC, RFC 3339.
    pub fn into_record(
        mut self,
        files: &[ImportFile],
        at: String,
        dbdyno_version: &str,
    ) -> StorageRecord {
        let jobs = || self.patterns.iter().filter_map(|it| it.imported.as_ref());
        let sizes = jobs().filter_map(|it| it.size_bytes);
        let mut engines: Vec<&str> = jobs()
            .map(|it| it.engine.as_deref().unwrap_or("unknown"))
            .collect();
        engines.sort_unstable();
        engines.dedup();
        self.left_out
            .push(format!("not in the files: {}", UNKNOWN.join(", ")));
        let header = StorageHeader {
            format: STORAGE_FORMAT,
            dbdyno_version: dbdyno_version.to_owned(),
            mode: StorageMode::Import,
            at,
            directory: String::new(),
            storage: Storage {
                not_observed: UNKNOWN.map(str::to_owned).into(),
                ..Storage::default()
            },
            direct: jobs().all(|it| it.direct),
            file_bytes: sizes.min().unwrap_or(0),
            memory_bytes: None,
            each_s: jobs().map(|it| it.elapsed_s).fold(0.0, f64::max),
            engine: engines.join(", "),
            fio_version: Some(self.version.clone()),
            patterns: self.patterns.iter().map(|it| it.pattern.clone()).collect(),
            repeats: 1,
            order_seed: None,
            writers: Vec::new(),
            left_out: self.left_out,
            limit: None,
            imported_from: files.iter().map(|it| shown(&it.path)).collect(),
        };
        let mut record = StorageRecord::new(header);
        let patterns = self.patterns.into_iter().map(StorageLine::Pattern);
        let bursts = self.bursts.into_iter().map(StorageLine::Burst);
        patterns.chain(bursts).for_each(|line| record.add(line));
        record.add(StorageLine::End);
        record
    }
}

pub(super) fn shown(path: &Path) -> String {
    samples::printable(&path.display().to_string()).into_owned()
}
