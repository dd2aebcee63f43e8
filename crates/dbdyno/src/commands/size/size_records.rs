//! The records that `dbdyno size` reads, one after the other.

use std::path::{Path, PathBuf};

use benchmarks::VOCABULARY;
use blame::{Blame, Blamed};
use results::{read_record, record_files, results_so_far};
use samples::{RATE, Record};
use sizing::{Error, Executions, ResponseLimit};

/// A record with its place.
pub(super) struct SizeRecord {
    pub(super) path: PathBuf,
    /// Number of the directory in which its block is counted.
    pub(super) results: usize,
    pub(super) record: Record,
}

impl SizeRecord {
    pub(super) fn name(&self) -> String {
        self.path.display().to_string()
    }
}

/// Passes the records of these directories and files to `take`. Blocks are counted by directory: records that are named
/// one by one belong to that of their directory.
pub(super) fn each_record(
    results: &[PathBuf],
    mut take: impl FnMut(SizeRecord) -> Result<(), Blamed>,
) -> Result<(), Blamed> {
    let mut directories: Vec<PathBuf> = Vec::new();
    let mut read: Vec<PathBuf> = Vec::new();
    for path in results {
        for file in record_files(path)? {
            let real = file.canonicalize().unwrap_or_else(|_| file.clone());
            if read.contains(&real) {
                let message = format!("{} is named twice", file.display());
                return Err(Blamed::new(Blame::Input, message));
            }
            let directory = real.parent().unwrap_or(Path::new("")).to_owned();
            let known = directories.iter().position(|it| *it == directory);
            let results = known.unwrap_or_else(|| {
                directories.push(directory);
                directories.len() - 1
            });
            read.push(real);
            let record = read_record(&file)?;
            take(SizeRecord {
                path: file,
                results,
                record,
            })?;
        }
    }
    Ok(())
}

/// The executions of all records; with a limit on the response time, searches for a rate are among them.
pub(super) fn executions(
    results: &[PathBuf],
    response_limit: Option<ResponseLimit>,
) -> Result<Executions, Blamed> {
    let mut executions = Executions::default();
    let mut searches: Vec<PathBuf> = Vec::new();
    each_record(results, |it| {
        if response_limit.is_none() || !is_of_search(&it.record) {
            executions.add(&it.name(), it.results, &it.record)?;
            return Ok(());
        }
        let directory = directory_of(&it.path).to_owned();
        if !searches.contains(&directory) {
            searches.push(directory);
        }
        Ok(())
    })?;
    for directory in searches {
        // The experiment says which limit its runs search for.
        let search = results_so_far(&directory, &VOCABULARY)?;
        let name = directory.display().to_string();
        if search.searches.is_empty() {
            return Err(Error::FixedRate { name }.into());
        }
        for answer in &search.searches {
            let found = &answer.found;
            if search.runs.iter().any(|run| found.question.has(run)) {
                executions.add_search(&name, found, &search.runs)?;
            }
        }
    }
    Ok(executions)
}

fn is_of_search(record: &Record) -> bool {
    let offered = record.offered.as_ref();
    let has_rate = offered.is_some_and(|it| it.rate_per_s.is_some());
    has_rate && record.header.combination.contains_key(RATE)
}

fn directory_of(record: &Path) -> &Path {
    match record.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}
