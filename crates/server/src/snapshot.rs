//! Snapshots: a stopped server's data directory, kept aside and put back.
//!
//! A snapshot is a directory with the copied data and `dbdyno-snapshot.json`, which says what the data depends
//! on. A data directory that moves to another build may be upgraded without a word, or read wrongly.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use rustix::fs::syncfs;
use serde::{Deserialize, Serialize};

use crate::copy::{OWN_FILES, copy_directory};
use crate::error::Error;
use crate::layout::make_private_dir;
use crate::lock::Lock;
use crate::marker::{parse, write_private};
use crate::server::Server;
use crate::version::Flavour;

/// The version of the manifest's format.
const FORMAT: u32 = 1;

/// The manifest's name.
const MANIFEST: &str = "dbdyno-snapshot.json";

/// What the data of a snapshot depends on.
#[derive(Debug, Serialize, Deserialize)]
struct Manifest {
    format: u32,
    flavour: Flavour,
    version: String,
    /// Options that the data directory keeps for life; no value is the server's default.
    options: BTreeMap<String, Option<String>>,
}

impl Server {
    /// Copies the data directory of a cleanly stopped server into a directory that does not exist yet.
    pub fn snapshot(&self, to: &Path) -> Result<(), Error> {
        let _lock = Lock::take(&self.layout)?;
        self.refuse_if_running()?;
        if !self.marker.stopped_cleanly {
            return Err(Error::NotStoppedCleanly {
                dir: self.layout.dir.clone(),
            });
        }
        make_private_dir(to).map_err(Error::io("make the snapshot", to))?;
        let written = copy_directory(&self.layout.data, &to.join("data"), &OWN_FILES)
            .and_then(|()| self.write_manifest(to));
        if written.is_err() {
            // Half a snapshot is none, and its blocks may be what is missing.
            fs::remove_dir_all(to).map_err(Error::io("remove", to))?;
        }
        written
    }

    /// Puts a snapshot in the place of the data directory and waits until it is on disk, so that its writing
    /// does not fall into a measurement.
    pub fn restore(&mut self, from: &Path) -> Result<(), Error> {
        let _lock = Lock::take(&self.layout)?;
        self.refresh()?;
        self.refuse_if_running()?;
        self.check_manifest(from)?;
        let data = &self.layout.data;
        let partial = data.with_extension("partial");
        for old in [data, &partial] {
            if old.exists() {
                fs::remove_dir_all(old).map_err(Error::io("remove", old))?;
            }
        }
        // Until the copy is whole there is no data directory that a start could take for one.
        copy_directory(&from.join("data"), &partial, &OWN_FILES)?;
        fs::rename(&partial, data).map_err(Error::io("rename to", data))?;
        let opened = File::open(data).map_err(Error::io("open", data))?;
        syncfs(opened).map_err(|error| Error::io("write to disk", data)(error.into()))?;
        self.marker.stopped_cleanly = true;
        self.marker.write(&self.layout)
    }

    fn write_manifest(&self, to: &Path) -> Result<(), Error> {
        let text = serde_json::to_vec_pretty(&self.manifest()?)
            .expect("a manifest has only keys that are strings");
        write_private(&manifest_path(to), &text)
    }

    fn manifest(&self) -> Result<Manifest, Error> {
        let options = mycnf::fixed_at_creation(&self.options()?);
        Ok(Manifest {
            format: FORMAT,
            flavour: self.marker.flavour,
            version: self.marker.version.clone(),
            options: options
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value))
                .collect(),
        })
    }

    /// Refuses a snapshot of another build, or of one with other options for life.
    fn check_manifest(&self, from: &Path) -> Result<(), Error> {
        let path = manifest_path(from);
        let bytes = fs::read(&path).map_err(Error::io("read the snapshot", &path))?;
        let snapshot: Manifest = parse(&bytes, FORMAT, &path)?;
        let own = self.manifest()?;
        let build = |manifest: &Manifest| format!("{} {}", manifest.flavour, manifest.version);
        let mismatch = |what: String, snapshot: String, server: String| Error::SnapshotMismatch {
            path: from.to_owned(),
            what,
            snapshot,
            server,
        };
        if build(&snapshot) != build(&own) {
            return Err(mismatch("server".to_owned(), build(&snapshot), build(&own)));
        }
        let shown = |manifest: &Manifest, option: &String| match manifest.options.get(option) {
            Some(Some(value)) => value.clone(),
            Some(None) | None => "(default)".to_owned(),
        };
        for option in snapshot.options.keys().chain(own.options.keys()) {
            let (theirs, ours) = (shown(&snapshot, option), shown(&own, option));
            if theirs != ours {
                return Err(mismatch(option.clone(), theirs, ours));
            }
        }
        Ok(())
    }
}

fn manifest_path(snapshot: &Path) -> PathBuf {
    snapshot.join(MANIFEST)
}
