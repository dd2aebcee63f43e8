//! Limits of one disk's requests and bytes per second, which the kernel holds for the processes of a control group.
//!
//! The group is dbdyno's own, named `dbdyno-PID-N`. It is removed with its value; what a killed dbdyno left is removed at
//! the next start, recognised by its name and by a process that no longer runs.

mod device;
mod hierarchy;
mod obstacle;

use std::{
    fs::{self, File, OpenOptions},
    io,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
    thread,
    time::Duration,
};

use device::device_of;
pub use hierarchy::CgroupVersion;
use hierarchy::Hierarchy;
use obstacle::{HINT, Obstacle, refused};
use settings::DiskLimits;

/// Begin of the names of dbdyno's groups.
const NAME: &str = "dbdyno-";
/// The processes of a group.
const PROCESSES: &str = "cgroup.procs";
/// A group is busy until the kernel has cleared away its last process.
const REMOVAL_TRIES: u32 = 40;
const REMOVAL_PAUSE: Duration = Duration::from_millis(25);

/// Why a limit cannot be set.
#[derive(Debug, thiserror::Error)]
#[error("cannot limit the disk of {}: {why}", directory.display())]
pub struct LimitError {
    directory: PathBuf,
    why: String,
    hint: String,
}

impl LimitError {
    /// What the user can do.
    pub fn hint(&self) -> &str {
        &self.hint
    }
}

/// A control group whose processes are limited on one disk. It is removed with this value.
#[derive(Debug)]
pub struct Cgroup {
    directory: PathBuf,
    path: PathBuf,
    /// The group of dbdyno itself.
    own: PathBuf,
    version: CgroupVersion,
    device: String,
}

impl Cgroup {
    /// Makes a group whose processes are limited on the disk of `directory`.
    pub fn create(directory: &Path, limits: DiskLimits) -> Result<Self, LimitError> {
        let made = device_of(directory, Path::new("/sys/dev/block"))
            .and_then(|device| Self::create_in(Hierarchy::find()?, directory, device, limits));
        made.map_err(|Obstacle { why, hint }| LimitError {
            directory: directory.to_owned(),
            why,
            hint: hint.to_owned(),
        })
    }

    fn create_in(
        hierarchy: Hierarchy,
        directory: &Path,
        device: String,
        limits: DiskLimits,
    ) -> Result<Self, Obstacle> {
        static NUMBER: AtomicU32 = AtomicU32::new(1);
        remove_left_over(&hierarchy.parent);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("{NAME}{}-{number}", std::process::id());
        let path = hierarchy.parent.join(name);
        fs::create_dir(&path).map_err(|error| refused("make", &path, &error))?;
        let group = Self {
            directory: directory.to_owned(),
            path,
            own: hierarchy.own,
            version: hierarchy.version,
            device,
        };
        for (file, line) in lines(group.version, &group.device, limits) {
            let file = group.path.join(file);
            fs::write(&file, &line).map_err(|error| refused("write", &file, &error))?;
            let kept = fs::read_to_string(&file).unwrap_or_default();
            if !line.split(' ').all(|word| kept.contains(word)) {
                return Err(Obstacle {
                    why: format!("{} does not keep {line:?}", file.display()),
                    hint: "choose another limit, or measure without --limit",
                });
            }
        }
        Ok(group)
    }

    /// The interface that holds the limits.
    pub fn version(&self) -> CgroupVersion {
        self.version
    }

    /// The disk by its numbers: `254:0`.
    pub fn device(&self) -> &str {
        &self.device
    }

    /// Moves dbdyno itself with all its threads into the group, until the returned value is dropped.
    pub fn enter(&self) -> Result<Entered, LimitError> {
        let moved = move_to(&self.path);
        moved.map_err(|error| LimitError {
            directory: self.directory.clone(),
            why: format!("cannot move dbdyno to {}: {error}", self.path.display()),
            hint: HINT.to_owned(),
        })?;
        Ok(Entered {
            back: self.own.clone(),
        })
    }

    /// The file by which a process joins: it writes a 0.
    pub(crate) fn processes(&self) -> io::Result<File> {
        OpenOptions::new()
            .write(true)
            .open(self.path.join(PROCESSES))
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        for _ in 0..REMOVAL_TRIES {
            match fs::remove_dir(&self.path) {
                Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {
                    thread::sleep(REMOVAL_PAUSE);
                }
                // What cannot be removed now is removed at the next start.
                _ => return,
            }
        }
    }
}

/// While this value lives, dbdyno itself is in a group.
#[derive(Debug)]
#[must_use]
pub struct Entered {
    back: PathBuf,
}

impl Drop for Entered {
    fn drop(&mut self) {
        // Its own group is gone only if an administrator removed it; then dbdyno ends in the limited one.
        let _ = move_to(&self.back);
    }
}

fn move_to(group: &Path) -> io::Result<()> {
    fs::write(group.join(PROCESSES), std::process::id().to_string())
}

/// The files of a group and what is written to each.
fn lines(version: CgroupVersion, device: &str, limits: DiskLimits) -> Vec<(&'static str, String)> {
    let all = [
        ("blkio.throttle.read_iops_device", "riops", limits.read_iops),
        (
            "blkio.throttle.write_iops_device",
            "wiops",
            limits.write_iops,
        ),
        (
            "blkio.throttle.read_bps_device",
            "rbps",
            limits.read_bytes_per_s,
        ),
        (
            "blkio.throttle.write_bps_device",
            "wbps",
            limits.write_bytes_per_s,
        ),
    ];
    let set = all
        .into_iter()
        .filter_map(|(file, key, value)| Some((file, key, value?)));
    match version {
        CgroupVersion::V1 => set
            .map(|(file, _, value)| (file, format!("{device} {value}")))
            .collect(),
        CgroupVersion::V2 => {
            let keys: Vec<_> = set
                .map(|(_, key, value)| format!("{key}={value}"))
                .collect();
            vec![("io.max", format!("{device} {}", keys.join(" ")))]
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
mod tests {
    use super::*;

    const LIMITS: DiskLimits = DiskLimits {
        read_iops: Some(1000),
        write_iops: Some(500),
        read_bytes_per_s: None,
        write_bytes_per_s: Some(1 << 20),
    };

    fn fabricated(version: CgroupVersion, root: &Path) -> Hierarchy {
        Hierarchy {
            version,
            parent: root.to_owned(),
            own: root.to_owned(),
        }
    }

    #[test]
    fn both_versions_are_written() {
        let root = tempfile::tempdir().unwrap();
        let made = |version| {
            let hierarchy = fabricated(version, root.path());
            Cgroup::create_in(hierarchy, Path::new("/data"), "7:0".to_owned(), LIMITS)
                .ok()
                .unwrap()
        };
        let one = made(CgroupVersion::V1);
        let text = |group: &Cgroup, file: &str| fs::read_to_string(group.path.join(file)).unwrap();
        assert_eq!(text(&one, "blkio.throttle.read_iops_device"), "7:0 1000");
        assert_eq!(text(&one, "blkio.throttle.write_bps_device"), "7:0 1048576");
        let two = made(CgroupVersion::V2);
        assert_eq!(
            text(&two, "io.max"),
            "7:0 riops=1000 wiops=500 wbps=1048576"
        );
        assert_ne!(one.path, two.path);
    }

    #[test]
    fn only_groups_of_dead_dbdynos_are_removed() {
        let root = tempfile::tempdir().unwrap();
        // Above the largest number of a process.
        let dead = "dbdyno-4194999-1";
        let own = format!("dbdyno-{}-1", std::process::id());
        let others = [
            own.as_str(),
            "dbdyno-4194999",
            "dbdyno-4194999-x",
            "4194999-1",
        ];
        for name in others.iter().chain([&dead]) {
            fs::create_dir(root.path().join(name)).unwrap();
        }
        remove_left_over(root.path());
        assert!(!root.path().join(dead).exists());
        assert!(others.iter().all(|name| root.path().join(name).exists()));
    }

    #[test]
    fn a_tree_that_cannot_be_written_is_an_error_with_a_hint() {
        let hierarchy = fabricated(CgroupVersion::V2, Path::new("/proc/self/none"));
        let made = Cgroup::create_in(hierarchy, Path::new("/data"), "7:0".to_owned(), LIMITS);
        let obstacle = made.err().unwrap();
        assert!(
            obstacle
                .why
                .starts_with("cannot make /proc/self/none/dbdyno-")
        );
        assert!(obstacle.hint.contains("as root"));
    }
}
