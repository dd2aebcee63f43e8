//! A control group of version 1 or 2 that lives as long as a case.

use std::{
    fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

const ROOT: &str = "/sys/fs/cgroup";

/// A group with a limit; who is in it goes back to where it came from with the group's end.
pub(crate) struct Cgroup {
    directory: PathBuf,
    /// The group that a process came from.
    moved: Option<(u32, PathBuf)>,
}

impl Cgroup {
    /// One that may use this share of one CPU; the error says why it cannot be.
    pub(crate) fn of_cpu(share: f64) -> Result<Self, String> {
        let quota = (share * 100_000.0).round();
        match version_1("cpu") {
            Some(root) => Self::make(&root, "cpu.cfs_quota_us", &quota.to_string()),
            None => Self::make_2("cpu", "cpu.max", &format!("{quota} 100000")),
        }
    }

    /// One that may read so often per second from the disk below `directory`.
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
        // From here on its end removes it.
        let group = Self {
            directory,
            moved: None,
        };
        write(&group.directory.join(file), limit)?;
        Ok(group)
    }

    /// Puts a process into it.
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

    /// Words that run a program in it.
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
        // Those that ended in it may still be on their way out.
        for _ in 0..50 {
            if fs::remove_dir(&self.directory).is_ok() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }
}

/// Where a controller of version 1 is mounted under its own name.
fn version_1(controller: &str) -> Option<PathBuf> {
    let root = Path::new(ROOT).join(controller);
    root.join("cgroup.procs").exists().then_some(root)
}

/// Major and minor number of the disk below a directory.
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
