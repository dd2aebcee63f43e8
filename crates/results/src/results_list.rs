//! The list of all results written on this machine: one line when they are begun, and another with their summary after
//! they are first read.
//!
//! ```json
//! {"at":"2026-11-22T06:09:46Z","path":"/home/dba/results/trial-1"}
//! ```

use std::{
    fs::{File, OpenOptions},
    io::{self, BufRead, BufReader, Write},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use crate::{origin::now, past_summary::PastSummary};

/// Results in the list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PastResults {
    /// Start time, UTC, RFC 3339.
    pub at: String,
    /// Path of the directory, or of the single record.
    pub path: PathBuf,
    /// Summary at the last reading.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<PastSummary>,
}

/// The list's file: `~/.local/share/dbdyno/history.jsonl`; `None` without a home directory.
pub fn history_file() -> Option<PathBuf> {
    Some(files::data_home()?.join("history.jsonl"))
}

/// Adds results to the list when they are begun; a list that cannot be written only causes a warning, because the
/// results are more important.
pub fn list(path: &Path, warn: &dyn Fn(&str)) {
    let begun = PastResults {
        at: now(),
        path: std::path::absolute(path).unwrap_or(path.to_owned()),
        summary: None,
    };
    append_all(&[begun], warn);
}

/// Adds lines to the list; a list that cannot be written only causes a warning.
pub fn append_all(lines: &[PastResults], warn: &dyn Fn(&str)) {
    let Some(file) = history_file() else {
        return;
    };
    for line in lines {
        if let Err(error) = append(&file, line) {
            let file = file.display();
            warn(&format!("not listed for `dbdyno history`: {file}: {error}"));
            return;
        }
    }
}

fn append(file: &Path, results: &PastResults) -> io::Result<()> {
    std::fs::create_dir_all(file.parent().unwrap_or(Path::new("/")))?;
    let line = serde_json::to_string(results)? + "\n";
    // In one write, so that lines of several processes do not mix.
    locked(file)?.write_all(line.as_bytes())
}

/// The list, opened and locked: no other process can add to it or replace it during this time.
fn locked(path: &Path) -> io::Result<File> {
    loop {
        let file = OpenOptions::new()
            .create(true)
            .read(true)
            .append(true)
            .open(path)?;
        file.lock()?;
        // The previous holder of the lock may have replaced the file.
        let (opened, named) = (file.metadata()?, path.metadata());
        match named {
            Ok(named) if (named.dev(), named.ino()) == (opened.dev(), opened.ino()) => {
                return Ok(file);
            }
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
}

/// The listed results, in order of time, without duplicates; an unreadable line is omitted.
pub fn listed() -> io::Result<Vec<PastResults>> {
    let Some(file) = history_file() else {
        return Ok(Vec::new());
    };
    match File::open(file) {
        Ok(file) => Ok(read(BufReader::new(file))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// Removes results that no longer exist from the list; returns their number.
pub fn forget_gone() -> io::Result<usize> {
    match history_file().filter(|file| file.exists()) {
        Some(file) => forget(&file, |results| !results.path.exists()),
        None => Ok(0),
    }
}

fn forget(file: &Path, is_gone: impl Fn(&PastResults) -> bool) -> io::Result<usize> {
    let list = locked(file)?;
    let all = read(BufReader::new(&list));
    let kept: Vec<&PastResults> = all.iter().filter(|results| !is_gone(results)).collect();
    let forgotten = all.len() - kept.len();
    let lines = kept.into_iter().map(serde_json::to_string);
    let lines = lines.collect::<Result<Vec<_>, _>>()?;
    let text: String = lines.iter().flat_map(|line| [line, "\n"]).collect();
    // The old file stays locked until the new one has its name.
    files::replace(file, text.as_bytes())?;
    Ok(forgotten)
}

/// The last line of each path; a line that only adds a summary does not change the order of time.
fn read(lines: impl BufRead) -> Vec<PastResults> {
    let mut all: Vec<PastResults> = Vec::new();
    // By bytes: an invalid line affects no other line.
    for line in lines.split(b'\n').map_while(Result::ok) {
        let Ok(results) = serde_json::from_slice::<PastResults>(&line) else {
            continue;
        };
        let known = all.iter_mut().find(|known| known.path == results.path);
        match known {
            Some(known) if results.summary.is_some() && known.at == results.at => *known = results,
            _ => {
                all.retain(|known| known.path != results.path);
                all.push(results);
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn results(path: &str, at: &str) -> PastResults {
        PastResults {
            at: at.to_owned(),
            path: PathBuf::from(path),
            summary: None,
        }
    }

    #[test]
    fn what_was_listed_is_read_and_a_torn_line_is_left_out() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("deep/history.jsonl");
        let [a, b, again] =
            [("/a", "1"), ("/b", "2"), ("/a", "3")].map(|(path, at)| results(path, at));
        for results in [&a, &b, &again] {
            append(&file, results).unwrap();
        }
        let text = std::fs::read_to_string(&file).unwrap() + "{\"at\":\"2026";
        assert_eq!(read(text.as_bytes()), [b.clone(), again.clone()]);
        let (first, rest) = text.split_once('\n').unwrap();
        let damaged = [first.as_bytes(), b"\n{\xff\xfe\n", rest.as_bytes()].concat();
        assert_eq!(read(&damaged[..]), [b, again]);
    }

    #[test]
    fn a_summary_moves_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("history.jsonl");
        let told = PastResults {
            summary: Some(PastSummary::named("trial")),
            ..results("/a", "1")
        };
        for line in [&results("/a", "1"), &results("/b", "2"), &told] {
            append(&file, line).unwrap();
        }
        let text = std::fs::read_to_string(&file).unwrap();
        assert_eq!(read(text.as_bytes()), [told, results("/b", "2")]);
    }

    /// Lines that other processes add at the same time are in the list afterwards, in any order.
    #[test]
    fn nothing_is_lost_while_the_list_is_replaced() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("history.jsonl");
        append(&file, &results("/gone", "0")).unwrap();
        std::thread::scope(|scope| {
            for writer in 0..4 {
                let file = &file;
                scope.spawn(move || {
                    for number in 0..25 {
                        append(file, &results(&format!("/{writer}/{number}"), "1")).unwrap();
                    }
                });
            }
            for _ in 0..20 {
                forget(&file, |results| results.path == Path::new("/gone")).unwrap();
            }
        });
        let text = std::fs::read(&file).unwrap();
        assert_eq!(read(&text[..]).len(), 100);
        assert!(text.ends_with(b"\n"));
        let left: Vec<_> = std::fs::read_dir(directory.path()).unwrap().collect();
        assert_eq!(left.len(), 1, "nothing else stays: {left:?}");
    }

    #[test]
    fn what_is_gone_can_be_forgotten() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("history.jsonl");
        for path in ["/a", "/b", "/c", "/a"] {
            append(&file, &results(path, "1")).unwrap();
        }
        let is_gone = |results: &PastResults| results.path != Path::new("/b");
        assert_eq!(forget(&file, is_gone).unwrap(), 2);
        append(&file, &results("/d", "2")).unwrap();
        let text = std::fs::read_to_string(&file).unwrap();
        assert_eq!(text.lines().count(), 2);
        assert_eq!(
            read(text.as_bytes()),
            [results("/b", "1"), results("/d", "2")]
        );
    }
}
