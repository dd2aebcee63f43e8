//! Initialised data directories, copied for the next server of the same kind.
//!
//! ```text
//! templates/KEY/dbdyno-template.json   its properties and passwords
//!               data/                  the data directory
//! ```
//!
//! Servers of one template share their passwords; only the user can read them, in both locations. Templates only save
//! time: where one cannot be read or written, the server is initialised without it.

use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::directory::marker::{remove_tree, write_private};
use crate::directory::unfinished;
use crate::error::Error;
use crate::initialise::accounts::Accounts;
use crate::installation::{Installation, build::Build};
use crate::process::interruption;
use crate::random::random_name;
use crate::snapshot::copy::{OWN_FILES, copy_directory};
use crate::snapshot::digest::hexadecimal;

/// The version of the template format; with another one no old template matches.
const FORMAT: u32 = 2;

const MARKER: &str = "dbdyno-template.json";

/// Maximum number of templates, those used last; each takes 30 to 200 MB.
const TEMPLATES_MAX: usize = 16;

/// The content of a template's marker.
#[derive(Serialize, Deserialize)]
struct Marker {
    /// The server binary, for information only.
    mysqld: PathBuf,
    accounts: Accounts,
}

/// The path of one template, whether it exists or not.
#[derive(Debug, Clone)]
pub(crate) struct Template {
    root: PathBuf,
    dir: PathBuf,
    mysqld: PathBuf,
}

impl Template {
    /// The template for a server build, initialised with these options; `None` when the build cannot be identified.
    pub(crate) fn of(root: PathBuf, installation: &Installation, options: &str) -> Option<Self> {
        let mut hash = Sha256::new();
        hash.update(FORMAT.to_le_bytes());
        Build::of(&installation.mysqld)?.add_to(&mut hash);
        hash.update(options);
        let key = hexadecimal(&hash.finalize()[..16]);
        Some(Self {
            dir: root.join(key),
            root,
            mysqld: installation.mysqld.clone(),
        })
    }

    /// Copies the template into a data directory that does not exist yet and returns its accounts; `None` when there is
    /// no such template.
    pub(crate) fn copy_to(&self, data: &Path) -> Result<Option<Accounts>, Error> {
        let path = self.dir.join(MARKER);
        let Ok(bytes) = fs::read(&path) else {
            return Ok(None);
        };
        let Ok(marker) = serde_json::from_slice::<Marker>(&bytes) else {
            return Ok(None);
        };
        match copy_directory(&self.dir.join("data"), data, &OWN_FILES) {
            Ok(_) => {}
            Err(error @ Error::DiskFull { .. }) => return Err(error),
            Err(error) if interruption::check().is_err() => return Err(error),
            Err(_) => {
                // Another process has removed it meanwhile; this process began the copy.
                remove_tree(data)?;
                return Ok(None);
            }
        }
        // The time of its last use; without it, the template is only removed a little early.
        let _ = write_private(&path, &bytes);
        Ok(Some(marker.accounts))
    }

    /// Keeps a copy of a data directory that was just initialised. It is optional, so errors are not reported.
    pub(crate) fn keep(&self, data: &Path, accounts: &Accounts) {
        let Ok(name) = random_name() else { return };
        let partial = self.root.join(format!(".{name}"));
        let kept = self.fill(&partial, data, accounts).and_then(|()| {
            // If two processes make the same one, the first is kept.
            fs::rename(&partial, &self.dir).map_err(Error::io("rename to", &self.dir))?;
            unfinished::unmark(&self.dir)
        });
        if kept.is_err() {
            let _ = unfinished::remove(&partial);
        }
        let _ = remove_old(&self.root, &partial);
    }

    fn fill(&self, partial: &Path, data: &Path, accounts: &Accounts) -> Result<(), Error> {
        fs::create_dir_all(&self.root).map_err(Error::io("create the directory", &self.root))?;
        unfinished::make(partial)?;
        copy_directory(data, &partial.join("data"), &OWN_FILES)?;
        let marker = Marker {
            mysqld: self.mysqld.clone(),
            accounts: accounts.clone(),
        };
        let text =
            serde_json::to_vec_pretty(&marker).expect("a marker has only keys that are strings");
        write_private(&partial.join(MARKER), &text)
    }
}

/// Removes the least recently used templates and the remains of an interrupted dbdyno.
fn remove_old(root: &Path, own: &Path) -> io::Result<()> {
    let mut used: Vec<(SystemTime, PathBuf)> = Vec::new();
    for entry in fs::read_dir(root)?.flatten() {
        let path = entry.path();
        let marker = path.join(MARKER);
        match marker.metadata().as_ref().map(Metadata::modified) {
            Ok(Ok(time)) => used.push((time, path)),
            // Without its last file it may still be in progress, but never for an hour. Directories that dbdyno did not
            // begin are kept.
            _ if path != own && unfinished::is_marked(&path) && is_older_than_an_hour(&path) => {
                unfinished::remove(&path).map_err(io::Error::other)?;
            }
            _ => {}
        }
    }
    used.sort();
    for (_, path) in used.iter().rev().skip(TEMPLATES_MAX) {
        // Renamed first, so that no process copies a part of it.
        let away = root.join(format!(
            ".{}",
            path.file_name().unwrap_or_default().to_string_lossy()
        ));
        fs::rename(path, &away)?;
        files::remove_marked(&away, MARKER, None)?;
    }
    Ok(())
}

fn is_older_than_an_hour(path: &Path) -> bool {
    let age = path.metadata().and_then(|metadata| metadata.modified());
    let age = age.ok().and_then(|time| time.elapsed().ok());
    age.is_some_and(|age| age.as_secs() > 3_600)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::launch::Launch;
    use crate::version::Flavour;

    fn template(root: &Path, options: &str) -> Template {
        let mysqld = root.join("mysqld");
        let installation =
            Installation::remembered(&mysqld, root, Flavour::MySql, "8.0.33", &Launch::default());
        Template::of(root.join("templates"), &installation.unwrap(), options).unwrap()
    }

    #[test]
    fn a_copy_has_the_data_and_the_passwords_but_no_identity() {
        let dir = tempfile::tempdir().unwrap();
        let data = dir.path().join("data");
        fs::write(dir.path().join("mysqld"), "binary").unwrap();
        fs::create_dir(&data).unwrap();
        fs::write(data.join("ibdata1"), "rows").unwrap();
        fs::write(data.join("auto.cnf"), "uuid").unwrap();
        let made = template(dir.path(), "a=1");
        assert!(made.copy_to(&dir.path().join("early")).unwrap().is_none());
        let accounts = Accounts::random().unwrap();
        made.keep(&data, &accounts);
        let copy = dir.path().join("copy");
        let again = template(dir.path(), "a=1").copy_to(&copy).unwrap().unwrap();
        assert_eq!(again.bench, accounts.bench);
        assert_eq!(fs::read(copy.join("ibdata1")).unwrap(), b"rows");
        assert!(!copy.join("auto.cnf").exists());
        let other = template(dir.path(), "a=2");
        assert!(other.copy_to(&dir.path().join("other")).unwrap().is_none());
        fs::write(dir.path().join("mysqld"), "upgraded").unwrap();
        let upgraded = template(dir.path(), "a=1");
        assert!(upgraded.copy_to(&dir.path().join("new")).unwrap().is_none());
    }

    #[test]
    fn only_those_used_last_are_kept() {
        let dir = tempfile::tempdir().unwrap();
        let data = dir.path().join("data");
        fs::write(dir.path().join("mysqld"), "binary").unwrap();
        fs::create_dir(&data).unwrap();
        let accounts = Accounts::random().unwrap();
        for number in 0..=TEMPLATES_MAX {
            template(dir.path(), &format!("n={number}")).keep(&data, &accounts);
        }
        let there = |number: usize| template(dir.path(), &format!("n={number}")).dir.exists();
        assert!(!there(0) && there(1) && there(TEMPLATES_MAX));
        let root = dir.path().join("templates");
        assert_eq!(fs::read_dir(root).unwrap().count(), TEMPLATES_MAX);
    }
}
