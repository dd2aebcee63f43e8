//! The records that `dbdyno size` reads, one after the other.

use std::path::{Path, PathBuf};

use blame::{Blame, Blamed};
use results::{read_record, record_files};
use samples::Record;

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
