//! The list of all results that were written on this machine: one line each, only ever appended to.
//!
//! ```json
//! {"at":"2026-11-22T06:09:46Z","path":"/home/dba/results/trial-1"}
//! ```

use std::{
    fs::{File, OpenOptions},
    io::{self, BufRead, BufReader, Write},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::origin::now;

/// Results that were written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PastResults {
    /// When they were begun, UTC, RFC 3339.
    pub(crate) at: String,
    /// Their directory, or the one record.
    pub(crate) path: PathBuf,
}

/// Lists results; where the list cannot be written that is said and nothing else, for the results are what counts.
pub(crate) fn list(path: &Path) {
    let Some(file) = server::history_file() else {
        return;
    };
    let path = std::path::absolute(path).unwrap_or(path.to_owned());
    if let Err(error) = append(&file, &PastResults { at: now(), path }) {
        eprintln!(
            "warning: not listed for `dbdyno history`: {}: {error}",
            file.display()
        );
    }
}

fn append(file: &Path, results: &PastResults) -> io::Result<()> {
    std::fs::create_dir_all(file.parent().unwrap_or(Path::new("/")))?;
    let line = serde_json::to_string(results)? + "\n";
    let mut file = OpenOptions::new().create(true).append(true).open(file)?;
    // In one piece, so that lines of several processes do not mix.
    file.write_all(line.as_bytes())
}

/// What is listed, in order of time, results that are listed twice once; a line that cannot be read is left out.
pub(crate) fn listed() -> io::Result<Vec<PastResults>> {
    let Some(file) = server::history_file() else {
        return Ok(Vec::new());
    };
    match File::open(file) {
        Ok(file) => Ok(read(BufReader::new(file))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

fn read(lines: impl BufRead) -> Vec<PastResults> {
    let mut all: Vec<PastResults> = Vec::new();
    for line in lines.lines().map_while(Result::ok) {
        let Ok(results) = serde_json::from_str::<PastResults>(&line) else {
            continue;
        };
        all.retain(|known| known.path != results.path);
        all.push(results);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_listed_is_read_and_a_torn_line_is_left_out() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("deep/history.jsonl");
        let results = |path: &str| PastResults {
            at: "2026-11-22T06:09:46Z".to_owned(),
            path: PathBuf::from(path),
        };
        for path in ["/a", "/b", "/a"] {
            append(&file, &results(path)).unwrap();
        }
        let text = std::fs::read_to_string(&file).unwrap() + "{\"at\":\"2026";
        assert_eq!(read(text.as_bytes()), [results("/b"), results("/a")]);
    }
}
