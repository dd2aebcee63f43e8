//! A results directory that this process writes to: marked as dbdyno's by a file, and locked.
//!
//! The marker is `dbdyno-results.json`, for example `{"format":1,"dbdyno_version":"0.1.0"}`. Results of earlier
//! versions have no marker and receive one when they are resumed.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use blame::{Blame, Blamed};
use files::{Created, Lock};
use serde::{Deserialize, Serialize};

const MARKER: &str = "dbdyno-results.json";
/// Lock file of a process that writes results; it contains the process id and is removed with the lock.
const LOCK: &str = "dbdyno-results.lock";
/// Version of the marker's format.
const FORMAT: u32 = 1;
/// Files beside the marker that a dbdyno killed before its first run leaves.
const BEFORE_THE_FIRST_RUN: [&str; 6] = [
    "experiment.toml",
    "files",
    "quick.toml",
    "quick.smack",
    LOCK,
    MARKER,
];
/// Parent of results directories, unless the user names a directory.
const RESULTS: &str = "results";

/// The marker of a results directory.
#[derive(Debug, Serialize, Deserialize)]
struct Marker {
    format: u32,
    dbdyno_version: String,
}

/// A results directory that only this process may write to.
#[derive(Debug)]
pub struct ClaimedDirectory {
    path: PathBuf,
    created: Created,
    lock: Option<Lock>,
}

/// Whether a process is writing results into the directory, or is between two runs of an experiment there.
pub fn is_claimed(directory: &Path) -> bool {
    files::holder(&directory.join(LOCK)).is_some()
}

impl ClaimedDirectory {
    /// A directory for new results: one that does not exist yet, or an empty one. Any other is refused before anything
    /// is written.
    pub fn new(path: &Path) -> Result<Self, Blamed> {
        let mut created = Created::default();
        if path.symlink_metadata().is_err() {
            // Another process may make it at the same moment; then it is judged like any other.
            created.make_dir(path).map_err(Blamed::machine)?;
        }
        if !created.holds(path) {
            refuse_unless_free(path)?;
        }
        let claimed = Self::locked(path, created)?;
        // A second check, for files that another process wrote before this one had the lock.
        refuse_unless_free(path)?;
        claimed.marked()
    }

    /// `results/NAME-1`, or the next unused number.
    pub fn numbered(name: &str) -> Result<Self, Blamed> {
        loop {
            let path = unused_path(name);
            let mut created = Created::default();
            let made = created.make_dir(&path);
            if made.map_err(Blamed::machine)? {
                return Self::locked(&path, created)?.marked();
            }
        }
    }

    /// A directory of existing results, to be continued; the caller must check which experiment they belong to.
    pub fn again(path: &Path) -> Result<Self, Blamed> {
        Self::locked(path, Created::default())
    }

    fn locked(path: &Path, created: Created) -> Result<Self, Blamed> {
        let mut claimed = Self {
            path: path.to_owned(),
            created,
            lock: None,
        };
        match Lock::take(&path.join(LOCK)) {
            Ok(lock) => claimed.lock = Some(lock),
            Err(files::Error::Held { pid, .. }) => {
                let holder =
                    pid.map_or("another process".to_owned(), |pid| format!("process {pid}"));
                let message = format!("{}: {holder} is writing results there", path.display());
                let hint = "wait until it ends, or interrupt it".to_owned();
                return Err(Blamed::new(Blame::Input, message).hint(hint));
            }
            Err(error) => {
                claimed.discard();
                return Err(Blamed::new(Blame::Machine, error));
            }
        }
        Ok(claimed)
    }

    /// Writes the marker into the directory.
    pub fn marked(mut self) -> Result<Self, Blamed> {
        if !is_marked(&self.path) {
            let marker = Marker {
                format: FORMAT,
                dbdyno_version: env!("CARGO_PKG_VERSION").to_owned(),
            };
            let text = serde_json::to_string(&marker).expect("plain fields always serialise");
            if let Err(error) = self.write(MARKER, (text + "\n").as_bytes()) {
                self.discard();
                return Err(error);
            }
        }
        Ok(self)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The files that this process created for it.
    pub fn created(&mut self) -> &mut Created {
        &mut self.created
    }

    /// Writes a small file into it.
    pub fn write(&mut self, name: &str, content: &[u8]) -> Result<(), Blamed> {
        let written = self.created.write(&self.path.join(name), content);
        written.map_err(Blamed::machine)
    }

    /// Removes the files that this process created, if no others were added to the directory; older files are kept.
    pub fn discard(&mut self) {
        let lock = self.path.join(LOCK);
        let entries = fs::read_dir(&self.path).into_iter().flatten().flatten();
        let is_made_here = |path: PathBuf| path == lock || self.created.holds(&path);
        if entries.map(|entry| entry.path()).all(is_made_here) {
            self.lock = None;
            self.created.remove();
        }
    }
}

fn is_marked(path: &Path) -> bool {
    let marker = path.join(MARKER);
    let is_file = marker.symlink_metadata().is_ok_and(|it| it.is_file());
    let text = files::read_regular(&marker, experiment::TEXT_BYTES_MAX).ok();
    let text = text.filter(|_| is_file);
    text.is_some_and(|text| serde_json::from_slice::<Marker>(&text).is_ok())
}

/// An error unless an existing directory is free for new results.
fn refuse_unless_free(path: &Path) -> Result<(), Blamed> {
    let refused = |why: &str, hint: &str| {
        let message = format!("{}: {why}", path.display());
        Err(Blamed::new(Blame::Input, message).hint(hint.to_owned()))
    };
    let names = match names_in(path) {
        Ok(names) => names,
        Err(error) => return refused(&error.to_string(), "name another directory with --results"),
    };
    let is_free = if is_marked(path) {
        names
            .iter()
            .all(|name| BEFORE_THE_FIRST_RUN.contains(&name.as_str()))
    } else {
        names.iter().all(|name| name == LOCK)
    };
    if is_free {
        return Ok(());
    }
    let is_result = |name: &String| {
        [
            "experiment.json",
            "origin.json",
            "record.jsonl",
            "run-0001.jsonl",
        ]
        .contains(&name.as_str())
    };
    if is_marked(path) || names.iter().any(is_result) {
        refused(
            "already contains results",
            "use --resume to continue them, or name another directory with --results",
        )
    } else {
        refused(
            "is not empty, and contains no dbdyno results",
            "name a new or an empty directory with --results",
        )
    }
}

/// The names in a directory, without leftovers of a killed replacement of a small file.
fn names_in(path: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(path)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if !(name.starts_with('.') && name.ends_with(".dbdyno-new")) {
            names.push(name);
        }
    }
    Ok(names)
}

/// `results/NAME-1`, or the next unused number.
pub fn unused_path(name: &str) -> PathBuf {
    (1..)
        .map(|number| Path::new(RESULTS).join(format!("{name}-{number}")))
        .find(|path| path.symlink_metadata().is_err())
        .expect("a directory does not hold every number")
}

/// `results/NAME-N` with the highest number; `None` if there is none.
pub fn last_path(name: &str) -> Option<PathBuf> {
    let mut last = None;
    for number in 1.. {
        let path = Path::new(RESULTS).join(format!("{name}-{number}"));
        if !path.exists() {
            break;
        }
        last = Some(path);
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_free_directory_is_claimed() {
        let root = tempfile::tempdir().unwrap();
        let claim = |name: &str| ClaimedDirectory::new(&root.path().join(name));
        let make = |name: &str, files: &[&str]| {
            for file in files {
                let path = root.path().join(name).join(file);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, "mine").unwrap();
            }
        };
        make("theirs", &["files/thesis.txt"]);
        make("old", &["experiment.json", "run-0001.jsonl"]);
        make("named", &[MARKER]);
        fs::write(root.path().join("file"), "mine").unwrap();
        for (name, why) in [
            ("theirs", "contains no dbdyno results"),
            ("old", "already contains results"),
            ("named", "contains no dbdyno results"),
            ("file", "file"),
        ] {
            let refused = claim(name).unwrap_err();
            assert_eq!(refused.blame, Blame::Input);
            assert!(refused.message.contains(why), "{name}: {refused}");
        }
        let theirs = fs::read(root.path().join("theirs/files/thesis.txt"));
        assert_eq!(theirs.unwrap(), b"mine");
        assert_eq!(fs::read_dir(root.path().join("theirs")).unwrap().count(), 1);

        let mut claimed = claim("a/new").unwrap();
        let held = claim("a/new").unwrap_err();
        let pid = std::process::id().to_string();
        assert!(held.message.contains(&pid), "{held}");
        claimed.write("quick.toml", b"x").unwrap();
        claimed.discard();
        assert!(!root.path().join("a").exists(), "nothing is left");
        fs::create_dir(root.path().join("empty")).unwrap();
        let mut claimed = claim("empty").unwrap();
        claimed.discard();
        assert!(root.path().join("empty").is_dir(), "it was there before");
    }

    #[test]
    fn what_came_meanwhile_stays_with_all_around_it() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("new");
        let mut claimed = ClaimedDirectory::new(&path).unwrap();
        fs::write(path.join("notes.txt"), "mine").unwrap();
        claimed.discard();
        assert!(path.join("notes.txt").exists() && is_marked(&path));
        drop(claimed);
        let refused = ClaimedDirectory::new(&path).unwrap_err();
        assert!(
            refused.message.contains("already contains results"),
            "{refused}"
        );
        fs::remove_file(path.join("notes.txt")).unwrap();
        // A killed process left the marker and nothing else.
        ClaimedDirectory::new(&path).unwrap();
    }
}
