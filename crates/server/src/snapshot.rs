//! Snapshots: copies of a server's data directory that can be restored.
//!
//! A snapshot is a directory with the copied data and `dbdyno-snapshot.json`, which records the properties that the
//! data depends on and the list of files. Another build may upgrade a data directory without notice or read it wrongly.
//! Named snapshots are in the server's own directory, below `snapshots/`: they are removed with the server, and they
//! are on the file system that can share its blocks.

pub(crate) mod backup;
pub(crate) mod binary_logs;
pub(crate) mod copy;
pub(crate) mod digest;
pub(crate) mod manifest;
pub(crate) mod page_cache;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::syncfs;

use crate::directory::contents::{contents, difference};
use crate::directory::lock::Lock;
use crate::directory::marker::remove_tree;
use crate::directory::unfinished;
use crate::error::Error;
use crate::redo_log;
use crate::server::{Server, unix_time_s};
use crate::snapshot::binary_logs::binary_logs;
use crate::snapshot::copy::{Copied, OWN_FILES, allocated_bytes, copy_directory};
use crate::snapshot::manifest::{FORMAT, Manifest, Method};

/// Directory of the named snapshots, in the server's directory.
const NAMED: &str = "snapshots";
/// Suffix of the name of an unfinished snapshot; the name begins with a dot.
const PARTIAL: &str = ".partial";

/// A complete snapshot.
#[derive(Debug, Clone)]
pub struct Snapshot {
    path: PathBuf,
    manifest: Manifest,
}

impl Snapshot {
    /// Opens a snapshot; its files are checked when it is restored.
    pub fn open(path: &Path) -> Result<Self, Error> {
        Ok(Self {
            manifest: Manifest::read(path)?,
            path: path.to_owned(),
        })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The server build that it was taken from: `mariadb 10.11.19-MariaDB`.
    pub fn build(&self) -> String {
        self.manifest.build()
    }

    /// The time when it was taken, seconds since 1970.
    pub fn taken_unix_s(&self) -> u64 {
        self.manifest.taken_unix_s
    }

    pub fn method(&self) -> Method {
        self.manifest.method
    }

    /// Number of tables outside of the server's own schemas; `None` when the server was not queried.
    pub fn tables(&self) -> Option<u64> {
        self.manifest.tables
    }

    /// The plugin that was installed in the server for the copy: the data contains it, and it has to be removed after a
    /// restore.
    pub fn borrowed_plugin(&self) -> Option<&str> {
        self.manifest.borrowed_plugin.as_deref()
    }

    pub fn files(&self) -> usize {
        self.manifest.files.len()
    }

    /// Sum of the files' lengths, bytes.
    pub fn bytes(&self) -> u64 {
        self.manifest.files.values().map(|file| file.bytes).sum()
    }

    /// Disk space used, bytes; blocks that it shares with others are counted in full.
    pub fn disk_bytes(&self) -> Result<u64, Error> {
        allocated_bytes(&self.data())
    }

    fn data(&self) -> PathBuf {
        self.path.join("data")
    }
}

#[derive(Debug)]
pub struct NamedSnapshot {
    pub name: String,
    /// The snapshot, or why it cannot be opened.
    pub snapshot: Result<Snapshot, Error>,
}

/// An unfinished snapshot; it is removed unless it is finished.
#[derive(Debug)]
pub struct Draft {
    partial: PathBuf,
    to: PathBuf,
    build: Manifest,
    /// Other processes must not stop, restore or remove the server meanwhile.
    _lock: Lock,
}

impl Draft {
    /// The target directory of the data, which does not exist yet.
    pub fn data(&self) -> PathBuf {
        self.partial.join("data")
    }

    pub(crate) fn path(&self) -> &Path {
        &self.partial
    }

    /// Records a plugin that was installed in the server for the copy.
    pub fn borrow_plugin(&mut self, name: &str) {
        self.build.borrowed_plugin = Some(name.to_owned());
    }

    /// Completes the snapshot: lists its files and waits until it is on disk.
    pub fn finish(self, method: Method, tables: Option<u64>) -> Result<Snapshot, Error> {
        let manifest = Manifest {
            method,
            tables,
            files: contents(&self.data())?,
            ..self.build.clone()
        };
        manifest.write(&self.partial)?;
        unfinished::unmark(&self.partial)?;
        sync(&self.partial)?;
        fs::rename(&self.partial, &self.to).map_err(Error::io("rename to", &self.to))?;
        Ok(Snapshot {
            path: self.to.clone(),
            manifest,
        })
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        // An unfinished snapshot is useless, and it may be what fills the disk. If it cannot be removed now, it is
        // removed before the next one is taken; a finished one has been moved away.
        let _ = remove_partial(&self.partial);
    }
}

impl Server {
    /// The path of a named snapshot, whether it exists or not.
    pub fn named_snapshot(&self, name: &str) -> PathBuf {
        self.layout.dir.join(NAMED).join(name)
    }

    /// The named snapshots, the oldest first.
    pub fn snapshots(&self) -> Result<Vec<NamedSnapshot>, Error> {
        let root = self.layout.dir.join(NAMED);
        let mut found = Vec::new();
        for name in names(&root)? {
            if !name.to_string_lossy().starts_with('.') {
                found.push(NamedSnapshot {
                    snapshot: Snapshot::open(&root.join(&name)),
                    name: name.to_string_lossy().into_owned(),
                });
            }
        }
        found.sort_by_cached_key(|named| {
            let taken = named.snapshot.as_ref().map_or(0, Snapshot::taken_unix_s);
            (taken, named.name.clone())
        });
        Ok(found)
    }

    pub fn remove_snapshot(&self, name: &str) -> Result<(), Error> {
        let _lock = Lock::take(&self.layout)?;
        let path = self.existing_snapshot(name)?;
        if Manifest::is_in(&path) {
            remove_tree(&path)
        } else {
            Err(Error::Foreign { dir: path })
        }
    }

    /// The directory of a named snapshot that exists.
    pub fn existing_snapshot(&self, name: &str) -> Result<PathBuf, Error> {
        let path = self.named_snapshot(name);
        if path.is_dir() {
            Ok(path)
        } else {
            Err(Error::NoSnapshot {
                path,
                there: self
                    .snapshots()?
                    .into_iter()
                    .map(|named| named.name)
                    .collect(),
            })
        }
    }

    /// Begins a snapshot in a directory that does not exist yet.
    pub fn draft_snapshot(&self, to: &Path) -> Result<Draft, Error> {
        let lock = Lock::take(&self.layout)?;
        let (Some(root), Some(name)) = (to.parent(), to.file_name()) else {
            let none = io::Error::from(io::ErrorKind::InvalidFilename);
            return Err(Error::io("create the snapshot", to)(none));
        };
        if to.exists() {
            return Err(Error::SnapshotExists {
                path: to.to_owned(),
            });
        }
        fs::create_dir_all(root).map_err(Error::io("create the directory", root))?;
        for name in names(root)? {
            let text = name.to_string_lossy();
            if text.starts_with('.') && text.ends_with(PARTIAL) {
                remove_partial(&root.join(&name))?;
            }
        }
        let partial = root.join(format!(".{}{PARTIAL}", name.to_string_lossy()));
        unfinished::make(&partial)?;
        Ok(Draft {
            partial,
            to: to.to_owned(),
            build: Manifest {
                format: FORMAT,
                flavour: self.marker.flavour,
                version: self.marker.version.clone(),
                options: self.fixed_options()?,
                taken_unix_s: unix_time_s(),
                method: Method::Copy,
                tables: None,
                borrowed_plugin: None,
                files: BTreeMap::new(),
            },
            _lock: lock,
        })
    }

    /// Copies the data directory of a cleanly stopped server into a directory that does not exist yet, without the
    /// binary logs. `tables` is the number of tables that the server reported before it was stopped.
    pub fn snapshot(&self, to: &Path, tables: Option<u64>) -> Result<Snapshot, Error> {
        let draft = self.draft_snapshot(to)?;
        self.refuse_if_running()?;
        let dir = || self.layout.dir.clone();
        if !self.marker.stopped_cleanly {
            return Err(Error::NotStoppedCleanly { dir: dir() });
        }
        if redo_log::is_off(&self.layout.data) {
            return Err(Error::RedoLogOff { dir: dir() });
        }
        let mut left_out = binary_logs(&self.layout.data)?;
        left_out.extend(OWN_FILES.map(OsString::from));
        let copied = copy_directory(&self.layout.data, &draft.data(), &left_out)?;
        draft.finish(method(copied), tables)
    }

    /// Replaces the data directory by a snapshot, compares it with its manifest and waits until it is on disk, so that
    /// the writes do not fall into a measurement. Returns the copy method.
    pub fn restore(&mut self, from: &Path) -> Result<Method, Error> {
        let _lock = Lock::take(&self.layout)?;
        self.refresh()?;
        self.refuse_if_running()?;
        let snapshot = Snapshot::open(from)?;
        let own = format!("{} {}", self.marker.flavour, self.marker.version);
        let mismatch = snapshot.manifest.mismatch(&own, &self.fixed_options()?);
        if let Some((what, snapshot, server)) = mismatch {
            return Err(Error::SnapshotMismatch {
                path: from.to_owned(),
                what,
                snapshot,
                server,
            });
        }
        // A damaged snapshot is detected while the present data still exists.
        compare(&snapshot, &snapshot.data())?;
        let data = &self.layout.data;
        let partial = data.with_extension("partial");
        for old in [data, &partial] {
            remove_tree(old)?;
        }
        // Until the copy is complete, there is no data directory that the server could start with.
        let copied = copy_directory(&snapshot.data(), &partial, &OWN_FILES)?;
        compare(&snapshot, &partial)?;
        fs::rename(&partial, data).map_err(Error::io("rename to", data))?;
        sync(data)?;
        // The data of a clone or a backup is complete, but was not written by a clean stop.
        self.marker.stopped_cleanly = !is_online(snapshot.method());
        self.marker.write(&self.layout)?;
        Ok(method(copied))
    }

    fn fixed_options(&self) -> Result<BTreeMap<String, Option<String>>, Error> {
        let options = mycnf::fixed_at_creation(&self.options()?);
        Ok(options
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect())
    }
}

/// Removes the remains of an unfinished snapshot. A directory that dbdyno did not begin is kept.
fn remove_partial(partial: &Path) -> Result<(), Error> {
    let is_ours = unfinished::is_marked(partial) || Manifest::is_in(partial);
    if is_ours {
        remove_tree(partial)
    } else {
        Ok(())
    }
}

/// Whether a snapshot was taken from a running server.
fn is_online(method: Method) -> bool {
    matches!(method, Method::MariadbBackup | Method::Clone)
}

fn method(copied: Copied) -> Method {
    match copied.written {
        0 => Method::SharedBlocks,
        _ => Method::Copy,
    }
}

/// Checks that a directory holds the files of the snapshot.
fn compare(snapshot: &Snapshot, data: &Path) -> Result<(), Error> {
    match difference(&snapshot.manifest.files, &contents(data)?) {
        None => Ok(()),
        Some(why) => Err(Error::SnapshotDamaged {
            path: data.to_owned(),
            why,
        }),
    }
}

/// Waits until everything written to a directory's file system is on disk.
fn sync(directory: &Path) -> Result<(), Error> {
    let opened = File::open(directory).map_err(Error::io("open", directory))?;
    syncfs(opened).map_err(|error| Error::io("write to disk", directory)(error.into()))
}

/// The names in a directory; none where there is no such directory.
fn names(directory: &Path) -> Result<Vec<OsString>, Error> {
    match fs::read_dir(directory) {
        Ok(entries) => Ok(entries.flatten().map(|entry| entry.file_name()).collect()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(Error::io("read the directory", directory)(error)),
    }
}
