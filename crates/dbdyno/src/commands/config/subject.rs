//! What a command of `dbdyno config` is about: files, a version, and a machine.

use std::{
    path::{Path, PathBuf},
    thread::available_parallelism,
};

use blame::{Blame, Blamed};
use mycnf::{Machine, OptionFile, Target, parse_size_bytes, shown_line};
use runs::named_server;
use server::Installation;
use telemetry::{Directory, storage_behind, usable_memory_bytes};

pub(super) use crate::output::Format;

/// The version that files are judged for.
#[derive(Debug, clap::Args)]
pub(super) struct VersionArgs {
    /// Server version, such as mysql-8.0.33 or mariadb-10.11. A name without a number, such as mariadb, means the
    /// installed version [default: the version of the server found on this machine]
    #[arg(long = "for", value_name = "VERSION", value_parser = target)]
    version: Option<Target>,
    /// Name of a private server whose version is used instead of --for
    #[arg(long, value_name = "NAME", conflicts_with = "version")]
    server: Option<String>,
}

impl VersionArgs {
    /// A version by name, or that of a private server.
    pub(super) fn of(version: Option<Target>, server: Option<String>) -> Self {
        Self { version, server }
    }

    /// The version, and its installation on this machine if there is one.
    pub(super) fn resolve(&self) -> Result<(Target, Option<Installation>), Blamed> {
        if let Some(name) = &self.server {
            let installation = named_server::open(name)?.installation()?;
            return Ok((installation.target(), Some(installation)));
        }
        if let Some(target) = &self.version {
            let found = Installation::find(Some(&target.to_string()), None);
            return Ok((target.clone(), found.ok()));
        }
        let found = Installation::find(None, None).map_err(|error| {
            let hint = "name the version with --for: mysql-8.0, mariadb-10.11".to_owned();
            Blamed::from(error).hint(hint)
        })?;
        Ok((found.target(), Some(found)))
    }

    /// The version that the command line names.
    pub(super) fn given(&self) -> Option<Target> {
        self.version.clone()
    }

    /// Whether the server is one of this machine's by name.
    pub(super) fn is_here(&self) -> bool {
        self.server.is_some()
    }
}

/// The machine that the server runs on.
#[derive(Debug, clap::Args)]
pub(super) struct MachineArgs {
    /// Memory of the server's machine [default: unknown; rules about memory are not checked]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    memory: Option<u64>,
    /// Number of CPUs in the server's machine [default: unknown; rules about CPUs are not checked]
    #[arg(long, value_name = "N")]
    cpus: Option<usize>,
    /// Size of the disk that contains the data directory [default: unknown; rules about the disk's size are not
    /// checked]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    disk: Option<u64>,
    /// File system of the data directory, such as ext4, xfs, zfs or tmpfs [default: unknown; rules about the file
    /// system are not checked]
    #[arg(long, value_name = "TYPE")]
    file_system: Option<String>,
    /// Use the memory, CPUs, disk and file system of this machine, because the server runs on it
    #[arg(long)]
    here: bool,
}

impl MachineArgs {
    /// What is known; `is_here` also without `--here`.
    pub(super) fn machine(&self, is_here: bool, file: &OptionFile) -> Machine {
        self.instead_of(if self.here || is_here {
            this_machine(file)
        } else {
            Machine::default()
        })
    }

    /// Whether the command line says that the server runs on this machine.
    pub(super) fn is_here(&self) -> bool {
        self.here
    }

    /// A machine with what these options say otherwise.
    pub(super) fn instead_of(&self, mut machine: Machine) -> Machine {
        machine.memory_bytes = self.memory.or(machine.memory_bytes);
        machine.cpus = self.cpus.or(machine.cpus);
        machine.disk_bytes = self.disk.or(machine.disk_bytes);
        machine.file_system = self.file_system.clone().or(machine.file_system);
        machine
    }
}

/// This machine, with the disk of the data directory that the file names, if it exists.
pub(super) fn this_machine(file: &OptionFile) -> Machine {
    let datadir = file
        .entries()
        .iter()
        .rev()
        .find(|entry| entry.name.base() == "datadir");
    let datadir = datadir
        .and_then(|entry| entry.value.as_deref())
        .map(PathBuf::from);
    let datadir = datadir.filter(|path| path.is_absolute() && path.is_dir());
    let storage = datadir.map(|path| {
        storage_behind(Directory {
            holds: "data".to_owned(),
            path,
        })
    });
    let place = storage.and_then(|storage| storage.places.into_iter().next());
    Machine {
        memory_bytes: usable_memory_bytes(),
        cpus: available_parallelism().ok().map(usize::from),
        disk_bytes: place
            .as_ref()
            .map(|place| place.size_bytes)
            .filter(|size| *size > 0),
        file_system: place
            .map(|place| place.filesystem)
            .filter(|name| !name.is_empty()),
    }
}

/// Reads option files in order for a review; a later one takes precedence.
pub(super) fn read_files(paths: &[PathBuf]) -> Result<OptionFile, Blamed> {
    let mut all = OptionFile::default();
    for path in paths {
        all.append(OptionFile::read_for_review(path)?);
    }
    Ok(all)
}

/// Reads one option file with its includes, and notes on standard error those that are not on this machine.
pub(super) fn read_file(path: &Path) -> Result<OptionFile, Blamed> {
    let file = OptionFile::read_for_elsewhere(path)?;
    for fault in file.faults() {
        eprintln!("note: {}: {}", fault.at, fault.what);
    }
    Ok(file)
}

/// Says on standard error that the catalogue is of another series than asked for, or from documentation.
pub(super) fn note_catalogue(target: &Target) {
    if let Some(note) = target.catalogue_note() {
        eprintln!("note: {note}");
    }
}

/// The same as a line of an answer; empty where there is nothing to say.
pub(super) fn catalogue_line(target: &Target) -> String {
    let note = target.catalogue_note();
    note.map(|note| format!("{note}\n")).unwrap_or_default()
}

/// A version on the command line; a bare family is the installed server of it, or its newest catalogue.
pub(super) fn target(text: &str) -> Result<Target, String> {
    let is_family = ["mysql", "mariadb", "percona"].contains(&text.to_ascii_lowercase().as_str());
    if is_family && let Ok(found) = Installation::find(Some(text), None) {
        return Ok(found.target());
    }
    let known = Target::parse(text).and_then(Target::released);
    known.map_err(|error| match error.hint() {
        Some(hint) => format!("{error}; {hint}"),
        None => error.to_string(),
    })
}

/// A size on the command line: `8G`.
pub(super) fn size(text: &str) -> Result<u64, String> {
    let bytes = parse_size_bytes(text).filter(|bytes| *bytes > 0);
    bytes.ok_or_else(|| "a size above 0, such as 512M or 8G".to_owned())
}

/// Largest option file that is rewritten, bytes.
const BYTES_MAX: u64 = 16 << 20;

/// The bytes of an option file.
pub(super) fn read_bytes(path: &Path) -> Result<Vec<u8>, Blamed> {
    files::read_regular(path, BYTES_MAX).map_err(|error| {
        Blamed::new(
            Blame::Input,
            format!("{}: cannot read: {error}", path.display()),
        )
    })
}

/// Writes a file that does not exist yet.
pub(super) fn write_new(path: &Path, content: &[u8]) -> Result<(), Blamed> {
    if path.symlink_metadata().is_ok() {
        let message = format!("{} exists already", path.display());
        return Err(Blamed::new(Blame::Input, message).hint("name a new file".to_owned()));
    }
    let written = files::replace(path, content);
    written.map_err(|error| {
        Blamed::new(
            Blame::Machine,
            format!("{}: cannot write: {error}", path.display()),
        )
    })
}

/// The difference of two option files as a patch, without their secrets.
pub(super) fn difference(old_path: &Path, old: &[u8], new_path: &Path, new: &[u8]) -> String {
    let shown = |text: &[u8]| -> String {
        let text = String::from_utf8_lossy(text);
        let lines = text.split('\n').map(shown_line);
        lines.collect::<Vec<_>>().join("\n")
    };
    let (old, new) = (shown(old), shown(new));
    let (old_path, new_path) = (
        old_path.display().to_string(),
        new_path.display().to_string(),
    );
    similar::TextDiff::from_lines(&old, &new)
        .unified_diff()
        .context_radius(1)
        .header(&old_path, &new_path)
        .to_string()
}
