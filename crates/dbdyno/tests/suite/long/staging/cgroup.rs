//! A control group of version 1 or 2 that exists for the duration of a case.

use std::{
    fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

const ROOT: &str = "/sys/fs/cgroup";

/// A group with a limit; when it is dropped, its process returns to its previous group.
pub(crate) struct Cgroup {
    directory: PathBuf,
    /// The process in the group, and its previous group.
    moved: Option<(u32, PathBuf)>,
}

impl Cgroup {
    /// A group that may use this share of one CPU; an error if it cannot be created.
    pub(crate) fn of_cpu(share: f64) -> Result<Self, String> {
        let quota = (share * 100_000.0).round();
        match version_1("cpu") {
            Some(root) => Self::make(&root, "cpu.cfs_quota_us", &quota.to_string()),
            None => Self::make_2("cpu", "cpu.max", &format!("{quota} 100000")),
        }
    }

    /// A group limited to this number of reads per second from the disk of `directory`.
    pub(crate) fn of_reads(directory: &Path, per_s: u32) -> Result<Self, String> {
        let disk = disk_below(directory)?;
        match version_1("blkio") {
            Some(root) => Self::make(
                &root,
                "blkio.throttle.read_iops_device",
                &format!("{disk} {per_s}"),
            ),
            None => Self::make_2("io", "io.max", &format!("{disk} riops={per_s}")),
        }
    }

    fn make_2(controller: &str, file: &str, limit: &str) -> Result<Self, String> {
        let root = Path::new(ROOT);
        write(
            &root.join("cgroup.subtree_control"),
            &format!("+{controller}"),
        )?;
        Self::make(root, file, limit)
    }

    fn make(root: &Path, file: &str, limit: &str) -> Result<Self, String> {
        let directory = root.join(format!("dbdyno-{}", std::process::id()));
        fs::create_dir(&directory).map_err(|error| format!("{}: {error}", directory.display()))?;
        // From here on, dropping it removes the group.
        let group = Self {
            directory,
            moved: None,
        };
        write(&group.directory.join(file), limit)?;
        Ok(group)
    }

    /// Moves a process into the group.
    pub(crate) fn take(mut self, pid: u32) -> Result<Self, String> {
        let groups = fs::read_to_string(format!("/proc/{pid}/cgroup")).unwrap();
        let root = self.directory.parent().expect("it was made below one");
        let controller = root.file_name().and_then(|name| name.to_str());
        // A line is `4:memory:/of/it`; that of version 2 is `0::/of/it`.
        let before = groups.lines().find_map(|line| {
            let mut parts = line.splitn(3, ':').skip(1);
            let (names, path) = (parts.next()?, parts.next()?);
            let is_it = if root == Path::new(ROOT) {
                names.is_empty()
            } else {
                names.split(',').any(|name| Some(name) == controller)
            };
            is_it.then(|| root.join(path.trim_start_matches('/')))
        });
        let before = before.ok_or_else(|| format!("process {pid} is in no such group"))?;
        write(&self.directory.join("cgroup.procs"), &pid.to_string())?;
        self.moved = Some((pid, before));
        Ok(self)
    }

    /// Command-line words that run a program in the group.
    pub(crate) fn words(&self) -> Vec<String> {
        let processes = self.directory.join("cgroup.procs");
        let script = format!("echo $$ > {} && exec \"$0\" \"$@\"", processes.display());
        vec!["sh".to_owned(), "-c".to_owned(), script]
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        if let Some((pid, before)) = self.moved.take() {
            // The process may have ended.
            let _ = write(&before.join("cgroup.procs"), &pid.to_string());
        }
        // Ended processes may remain in the group for a moment.
        for _ in 0..50 {
            if fs::remove_dir(&self.directory).is_ok() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }
}

/// Mount point of a version 1 controller.
fn version_1(controller: &str) -> Option<PathBuf> {
    let root = Path::new(ROOT).join(controller);
    root.join("cgroup.procs").exists().then_some(root)
}

/// Major and minor number of the disk that contains a directory.
fn disk_below(directory: &Path) -> Result<String, String> {
    let device = fs::metadata(directory)
        .map_err(|error| error.to_string())?
        .dev();
    let numbers = format!(
        "{}:{}",
        rustix::fs::major(device),
        rustix::fs::minor(device)
    );
    let of_device = PathBuf::from(format!("/sys/dev/block/{numbers}"));
    if !of_device.exists() {
        return Err(format!("no disk below {}", directory.display()));
    }
    let disk = if of_device.join("partition").exists() {
        of_device.join("../dev")
    } else {
        of_device.join("dev")
    };
    let numbers = fs::read_to_string(&disk).map_err(|error| error.to_string())?;
    Ok(numbers.trim().to_owned())
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    fs::write(path, text)
        .map_err(|error| format!("cannot write {text} to {}: {error}", path.display()))
}
