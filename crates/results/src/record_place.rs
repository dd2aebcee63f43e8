//! The location of a single run's record: a file that the user named, or a new results directory.

use std::{
    io::{self, Read},
    path::{Path, PathBuf},
};

use blame::{Blame, Blamed};
use files::Created;

use crate::{claimed_directory::ClaimedDirectory, report_subject::page_of};

/// Number of bytes of a page in which its mark is.
const PAGE_BYTES: u64 = 4096;

/// The location of a record. If no record is written, the location is removed.
#[derive(Debug)]
pub struct RecordPlace {
    path: PathBuf,
    directory: Option<ClaimedDirectory>,
    created: Created,
}

impl RecordPlace {
    /// The file that the user named, which must not exist; or else `record.jsonl` in a new directory `results/NAME-N`.
    pub fn claim(named: Option<&Path>, name: &str) -> Result<Self, Blamed> {
        let mut created = Created::default();
        let Some(path) = named else {
            let directory = ClaimedDirectory::numbered(name)?;
            return Ok(Self {
                path: directory.path().join("record.jsonl"),
                directory: Some(directory),
                created,
            });
        };
        refuse_existing(path)?;
        if let Some(parent) = path.parent().filter(|parent| *parent != Path::new("")) {
            created.make_dir(parent).map_err(Blamed::machine)?;
        }
        Ok(Self {
            path: path.to_owned(),
            directory: None,
            created,
        })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// The file's name followed by one or more numbers: `FILE-2.jsonl`.
pub fn numbered(record: &Path, numbers: &str) -> PathBuf {
    let stem = record.file_stem().unwrap_or_default().to_string_lossy();
    let mut name = format!("{stem}-{numbers}");
    if let Some(extension) = record.extension() {
        name.push('.');
        name.push_str(&extension.to_string_lossy());
    }
    record.with_file_name(name)
}

impl Drop for RecordPlace {
    fn drop(&mut self) {
        if !self.path.exists() {
            if let Some(directory) = &mut self.directory {
                directory.discard();
            }
            self.created.remove();
        }
    }
}

/// An error if the record exists already, or a page beside it that dbdyno did not write.
fn refuse_existing(path: &Path) -> Result<(), Blamed> {
    let refused = |message: String| {
        let hint = "name another file with --record".to_owned();
        Err(Blamed::new(Blame::Input, message).hint(hint))
    };
    if path.symlink_metadata().is_ok() {
        return match files::holder(path) {
            Some(holder) => refused(format!("{}: {holder} is writing it", path.display())),
            None => refused(format!("{} already exists", path.display())),
        };
    }
    let page = page_of(path);
    match beginning(&page) {
        Ok(begin) if is_ours(&begin) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        _ => refused(format!(
            "{}: the report would replace it, and dbdyno did not write it",
            page.display()
        )),
    }
}

fn beginning(page: &Path) -> io::Result<Vec<u8>> {
    let mut begin = Vec::new();
    let file = files::open_regular(page)?;
    file.take(PAGE_BYTES).read_to_end(&mut begin)?;
    Ok(begin)
}

fn is_ours(begin: &[u8]) -> bool {
    begin.is_empty() || String::from_utf8_lossy(begin).contains(report::PAGE_MARK)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn nothing_stays_without_a_record_and_nothing_is_replaced() {
        let root = tempfile::tempdir().unwrap();
        let record = root.path().join("a/b/before.jsonl");
        drop(RecordPlace::claim(Some(&record), "x").unwrap());
        assert!(!root.path().join("a").exists());
        let place = RecordPlace::claim(Some(&record), "x").unwrap();
        fs::write(place.path(), "line").unwrap();
        drop(place);
        assert!(record.exists());
        let refused = RecordPlace::claim(Some(&record), "x").unwrap_err();
        assert!(refused.message.contains("already exists"), "{refused}");
        let live = fs::File::open(&record).unwrap();
        live.lock().unwrap();
        let refused = RecordPlace::claim(Some(&record), "x").unwrap_err();
        let pid = std::process::id().to_string();
        assert!(refused.message.contains(&pid), "{refused}");
        let page = root.path().join("after.html");
        let of_a_run = format!(
            "<!DOCTYPE html><meta charset=\"utf-8\">{}",
            report::PAGE_MARK
        );
        for (text, is_refused) in [
            ("<p>my homepage about dbdyno", true),
            (of_a_run.as_str(), false),
        ] {
            fs::write(&page, text).unwrap();
            let claimed = RecordPlace::claim(Some(&root.path().join("after.jsonl")), "x");
            assert_eq!(claimed.is_err(), is_refused, "{text}");
            assert_eq!(fs::read_to_string(&page).unwrap(), text);
        }
    }
}
