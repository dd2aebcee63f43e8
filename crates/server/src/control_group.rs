//! Control groups of dbdyno's own, by which the kernel holds limits: a disk's requests and bytes per second, CPUs, memory.
//!
//! A group is named `dbdyno-PID-N`. It is removed with its value. Where dbdyno is killed, a guard process removes it; one that
//! was left all the same is removed at the next start, recognised by its name and by a process that no longer runs.

mod controller;
mod device;
mod hierarchy;
mod obstacle;
mod version;

use std::{
    fs::{self, File, OpenOptions},
    io,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
    thread,
    time::Duration,
};

use blame::{Blame, Blamed};
use controller::{Controller, Setting};
use device::device_of;
use hierarchy::{Hierarchy, Tables};
use obstacle::{HINT, Obstacle, refused};
use settings::{DiskLimits, GroupLimits};
pub use version::CgroupVersion;

/// Begin of the names of dbdyno's groups.
const NAME: &str = "dbdyno-";
const PROCESSES: &str = "cgroup.procs";
/// A group is busy until the kernel has cleared away its last process.
const REMOVAL_TRIES: u32 = 400;
const REMOVAL_PAUSE: Duration = Duration::from_millis(25);

#[derive(Debug, thiserror::Error)]
#[error("cannot limit {what}: {why}")]
pub struct LimitError {
    what: String,
    why: String,
    hint: String,
}

impl LimitError {
    pub fn hint(&self) -> &str {
        &self.hint
    }
}

impl From<LimitError> for Blamed {
    fn from(error: LimitError) -> Self {
        let hint = error.hint().to_owned();
        Self::new(Blame::Input, error).hint(hint)
    }
}

/// A control group with limits on one disk, and on CPUs and memory. It is removed with this value.
///
/// In version 1 each controller has a tree of its own, so that a group is a directory in each of them.
#[derive(Debug)]
pub struct Cgroup {
    /// What is limited, in words.
    what: String,
    parts: Vec<Part>,
    /// The disk by its numbers; `None` where no disk is limited.
    device: Option<String>,
}

/// The group's directory in one tree.
#[derive(Debug)]
struct Part {
    hierarchy: Hierarchy,
    path: PathBuf,
}

impl Cgroup {
    /// Makes a group whose processes are limited on the disk of `directory`.
    pub fn create(directory: &Path, limits: DiskLimits) -> Result<Self, LimitError> {
        let what = format!("the disk of {}", directory.display());
        let all = GroupLimits {
            disk: limits,
            ..GroupLimits::default()
        };
        let group = Self::of_kinds(what, directory, &all)?;
        group.limit_disk(limits)?;
        Ok(group)
    }

    /// Makes a group that can hold limits of these kinds for the private server in `directory`; none is in force yet.
    pub fn of_server(directory: &Path, kinds: &GroupLimits) -> Result<Self, LimitError> {
        let what = format!("the private server in {}", directory.display());
        Self::of_kinds(what, directory, kinds)
    }

    fn of_kinds(what: String, directory: &Path, kinds: &GroupLimits) -> Result<Self, LimitError> {
        let wanted = Controller::wanted(kinds);
        let made = || {
            let device = wanted
                .contains(&Controller::Disk)
                .then(|| device_of(directory, Path::new("/sys/dev/block")))
                .transpose()?;
            let hierarchies = Tables::read()?.hierarchies(&wanted)?;
            Self::create_in(what.clone(), hierarchies, device)
        };
        made().map_err(|obstacle| failed(&what, obstacle))
    }

    fn create_in(
        what: String,
        hierarchies: Vec<Hierarchy>,
        device: Option<String>,
    ) -> Result<Self, Obstacle> {
        static NUMBER: AtomicU32 = AtomicU32::new(1);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("{NAME}{}-{number}", std::process::id());
        // From here on, dropping it removes the directories.
        let mut group = Self {
            what,
            parts: Vec::new(),
            device,
        };
        for hierarchy in hierarchies {
            remove_left_over(&hierarchy.parent);
            let path = hierarchy.parent.join(&name);
            fs::create_dir(&path).map_err(|error| refused("make", &path, &error))?;
            group.parts.push(Part { hierarchy, path });
        }
        Ok(group)
    }

    /// The interface that holds the limits; that of the disk where one is limited.
    pub fn version(&self) -> CgroupVersion {
        let first = self.parts.first();
        let part = self.part(Controller::Disk).or(first);
        part.map_or(CgroupVersion::V2, |part| part.hierarchy.version)
    }

    /// The interface that holds the limits of CPUs and memory.
    pub fn version_of_processes(&self) -> CgroupVersion {
        let parts = self.part(Controller::Cpu).or(self.part(Controller::Memory));
        parts.map_or(CgroupVersion::V2, |part| part.hierarchy.version)
    }

    /// The disk by its numbers: `254:0`; empty where no disk is limited.
    pub fn device(&self) -> &str {
        self.device.as_deref().unwrap_or_default()
    }

    /// Replaces the limits of the disk; the default lifts them.
    pub fn limit_disk(&self, limits: DiskLimits) -> Result<(), LimitError> {
        let Some(device) = &self.device else {
            return Ok(());
        };
        self.set(Controller::Disk, |version| {
            controller::of_disk(version, device, limits)
        })
    }

    /// Replaces the limits of CPUs and memory; those of the disk stay.
    pub fn limit_processes(&self, limits: &GroupLimits) -> Result<(), LimitError> {
        self.set(Controller::Cpu, |version| {
            controller::of_cpus(version, limits.cpus)
        })?;
        self.set(Controller::Memory, |version| {
            controller::of_memory(version, limits.memory_bytes)
        })
    }

    /// Moves dbdyno itself with all its threads into the group, until the returned value is dropped.
    pub fn enter(&self) -> Result<GroupMembership, LimitError> {
        let mut entered = GroupMembership { back: Vec::new() };
        for part in &self.parts {
            let moved = move_to(&part.path);
            moved.map_err(|error| LimitError {
                what: self.what.clone(),
                why: format!("cannot move dbdyno to {}: {error}", part.path.display()),
                hint: HINT.to_owned(),
            })?;
            entered.back.push(part.hierarchy.own.clone());
        }
        Ok(entered)
    }

    /// Its directories: one in each tree.
    pub fn directories(&self) -> impl Iterator<Item = &Path> {
        self.parts.iter().map(|part| &*part.path)
    }

    /// The files by which a process joins: it writes a 0 to each.
    pub(crate) fn processes(&self) -> io::Result<Vec<File>> {
        let open = |part: &Part| {
            OpenOptions::new()
                .write(true)
                .open(part.path.join(PROCESSES))
        };
        self.parts.iter().map(open).collect()
    }

    fn part(&self, controller: Controller) -> Option<&Part> {
        self.parts
            .iter()
            .find(|part| part.hierarchy.controllers.contains(&controller))
    }

    /// Writes the settings of a controller, and reads them back; nothing where the group does not have it.
    fn set(
        &self,
        controller: Controller,
        settings: impl FnOnce(CgroupVersion) -> Vec<Setting>,
    ) -> Result<(), LimitError> {
        let Some(part) = self.part(controller) else {
            return Ok(());
        };
        let settings = settings(part.hierarchy.version).into_iter();
        let mut write = settings.map(|setting| setting.write(&part.path));
        write
            .try_for_each(|written| written)
            .map_err(|obstacle| failed(&self.what, obstacle))
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        for part in &self.parts {
            remove_group(&part.path);
        }
    }
}

/// Removes the directory of a group, as soon as its last process has ended.
pub fn remove_group(directory: &Path) {
    for _ in 0..REMOVAL_TRIES {
        match fs::remove_dir(directory) {
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {
                thread::sleep(REMOVAL_PAUSE);
            }
            // What cannot be removed now is removed at the next start.
            _ => return,
        }
    }
}

fn failed(what: &str, Obstacle { why, hint }: Obstacle) -> LimitError {
    LimitError {
        what: what.to_owned(),
        why,
        hint: hint.to_owned(),
    }
}

/// While this value lives, dbdyno itself is in a group.
#[derive(Debug)]
#[must_use]
pub struct GroupMembership {
    back: Vec<PathBuf>,
}

impl Drop for GroupMembership {
    fn drop(&mut self) {
        for group in &self.back {
            // Its own group is gone only if an administrator removed it; then dbdyno ends in the limited one.
            let _ = move_to(group);
        }
    }
}

fn move_to(group: &Path) -> io::Result<()> {
    fs::write(group.join(PROCESSES), std::process::id().to_string())
}

/// Removes what killed dbdynos left in any tree of this machine.
pub(crate) fn sweep_groups() {
    let Ok(tables) = Tables::read() else {
        return;
    };
    for controller in Controller::ALL {
        for hierarchy in tables.hierarchies(&[controller]).into_iter().flatten() {
            remove_left_over(&hierarchy.parent);
        }
    }
}

/// Removes the groups of dbdynos that no longer run. The kernel removes no group with a process in it.
fn remove_left_over(parent: &Path) {
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    for entry in entries {
        let name = entry.file_name();
        let pid = name.to_str().and_then(owner);
        if pid.is_some_and(|pid| !Path::new(&format!("/proc/{pid}")).exists()) {
            let _ = fs::remove_dir(entry.path());
        }
    }
}

/// The process that made a group of this name; `None` of another's.
fn owner(name: &str) -> Option<u32> {
    let (pid, number) = name.strip_prefix(NAME)?.split_once('-')?;
    let _: u32 = number.parse().ok()?;
    pid.parse().ok()
}

#[cfg(test)]
mod tests;
