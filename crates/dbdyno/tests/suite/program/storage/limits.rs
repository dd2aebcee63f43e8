//! Measurements under a limit of the disk, and one that is switched while a course runs.

use std::{
    fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    process::Command,
    thread,
    time::Duration,
};

use reactor::system_now;

use super::{loop_disk::LoopDisk, *};

/// Why no limit of this disk can be set here.
pub(crate) fn lacks_limits(disk: &Path) -> bool {
    let device = fs::metadata(disk).unwrap().dev();
    let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
    let lacking = if !rustix::process::geteuid().is_root() {
        "root"
    } else if !Path::new(GROUPS)
        .join("blkio.throttle.read_iops_device")
        .exists()
    {
        "the controller blkio of cgroup v1"
    } else if !Path::new(&format!("/sys/dev/block/{major}:{minor}")).exists() {
        "a disk below the target directory"
    } else {
        return false;
    };
    eprintln!("skipped: a limit takes {lacking}");
    true
}

const GROUPS: &str = "/sys/fs/cgroup/blkio";

#[test]
fn a_limit_is_in_force_and_leaves_no_group() {
    let (scene, disk) = (Scene::new(), disk());
    if lacks_fio() || lacks_limits(disk.path()) {
        return;
    }
    let patterns = "[[pattern]]\nname = \"reads\"\nblock = \"4k\"\nreads = 100\ndepth = 16\n
[[pattern]]\nname = \"half\"\nblock = \"4k\"\nreads = 50\ndepth = 16\n";
    let patterns = scene.file("mine.toml", patterns);
    let limit = ["--limit", "read_iops=100,write_iops=100"];
    // A dbdyno that was killed left a group; the number is above the largest one of a process.
    let dead = Path::new(GROUPS).join("dbdyno-4194999-1");
    fs::create_dir(&dead).unwrap();
    scene
        .dbdyno(suite(disk.path(), &patterns, &limit))
        .exits(0)
        .prints("limit     reads 100/s, writes 100/s on disk ")
        .prints("not limited by cgroup v1");
    assert!(!dead.exists());
    let record = record(&scene, "results/storage-suite-1");
    let limit = record.header.limit.as_ref().unwrap();
    assert_eq!((limit.read_iops, limit.cgroup_version), (Some(100), 1));
    // Of one second: a throttle grants in slices. Without a limit these are thousands.
    let rates: Vec<f64> = record.patterns.iter().map(|it| it.iops()).collect();
    assert!(rates[0] < 150.0 && rates[1] < 300.0, "{rates:?}");
    let page = scene.path().join("results/storage-suite-1/storage.html");
    assert!(
        fs::read_to_string(page)
            .unwrap()
            .contains("those of the throttle")
    );
    scene
        .dbdyno(suite(
            disk.path(),
            &patterns,
            &["--resume", "--limit", "read_iops=99"],
        ))
        .exits(2)
        .says("its limit is ");

    // The commit probe is dbdyno's own threads.
    let path = text(disk.path());
    let commits = [
        "storage",
        "commit",
        &path,
        "--writers",
        "1",
        "--seconds",
        "1",
    ];
    let limited = commits.iter().chain(&["--limit", "write_iops=50"]);
    scene.dbdyno(limited.copied()).exits(0);
    let record = self::record(&scene, "results/storage-commit-1");
    assert!(record.commits[0].commits_per_s() < 60.0, "{record:?}");
}

#[test]
fn a_limit_that_cannot_be_set_is_refused() {
    let (scene, disk) = (Scene::new(), disk());
    let path = text(disk.path());
    scene
        .dbdyno(["storage", "commit", &path, "--limit", "cpus=1"])
        .exits(2)
        .says("cpus is no limit of a disk");
    assert_eq!(names_in(disk.path()).len(), 0);
}

/// A control group of this test, which goes away with this value.
struct Group(PathBuf);

impl Group {
    fn new() -> Self {
        let path = Path::new(GROUPS).join(format!("test-burst-{}", std::process::id()));
        fs::create_dir(&path).unwrap();
        Self(path)
    }

    fn limit_reads(&self, disk: &Path, per_s: u64) {
        let device = fs::metadata(disk).unwrap().dev();
        let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
        let file = self.0.join("blkio.throttle.read_iops_device");
        fs::write(file, format!("{major}:{minor} {per_s}")).unwrap();
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // Its processes are gone when the test waited for them; a second passes until the kernel knows it.
        for _ in 0..50 {
            if fs::remove_dir(&self.0).is_ok() {
                return;
            }
            thread::sleep(Duration::from_millis(50));
        }
    }
}

/// Whether a process runs a section of fio for this dbdyno.
fn runs_fio(dbdyno: u32) -> bool {
    let tasks = fs::read_dir(format!("/proc/{dbdyno}/task"))
        .into_iter()
        .flatten()
        .flatten();
    let children = tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    children
        .flat_map(|pids| pids.split(' ').map(str::to_owned).collect::<Vec<_>>())
        .filter_map(|pid| fs::read_to_string(format!("/proc/{pid}/cmdline")).ok())
        .any(|line| line.starts_with("fio\0") && line.contains("\0--section="))
}

/// Reads per second of a staged burst and after it: few, so that a busy machine reaches them.
const BURST: u64 = 400;
const AFTER: u64 = 80;

#[test]
fn a_limit_that_falls_while_a_course_runs_is_the_end_of_a_burst() {
    let Some(disk) = LoopDisk::ext4(256) else {
        return;
    };
    if lacks_fio() || lacks_limits(disk.path()) {
        return;
    }
    // A machine that stands still for seconds has an end of its own: one more chance.
    if let Err(first) = staged_burst(disk.path()) {
        eprintln!("second chance: {first}");
        staged_burst(disk.path()).unwrap();
    }
}

/// An error where the end was not found within two seconds, or a level not within 15 %.
fn staged_burst(disk: &Path) -> Result<(), String> {
    let scene = Scene::new();
    let group = Group::new();
    group.limit_reads(disk, BURST);
    let mut command = Command::new("sh");
    command
        .args(["-c", "echo $$ > \"$0\" && exec \"$@\""])
        .arg(group.0.join("cgroup.procs"))
        .arg(env!("CARGO_BIN_EXE_dbdyno"));
    let path = text(disk);
    let burst = ["storage", "burst", &path, "--sizes", "64M", "--depths", "8"];
    let timed = ["--seconds", "24", "--pause", "0"];
    let mut running = scene.launch(command, burst.iter().chain(&timed));
    let pid = running.pid();
    running.wait_until("fio runs", || runs_fio(pid));
    let begun = system_now();
    thread::sleep(Duration::from_secs(10));
    group.limit_reads(disk, AFTER);
    let fell_s = (system_now() - begun).as_secs_f64();
    let results = scene.path().join("results/storage-burst-1/storage.jsonl");
    running.wait_until("the course is measured", || {
        StorageRecord::read(&results).is_ok_and(|it| !it.bursts.is_empty())
    });
    // As a volume that earned credit in a pause.
    group.limit_reads(disk, BURST);
    let finished = running.finish().exits(0);
    let record = StorageRecord::read(&results).unwrap();
    let rates = &record.bursts[0].iops;
    let end = stats::burst(rates).ok_or_else(|| format!("no end in {rates:?}"))?;
    let is_level = |rate: f64, level: u64| (rate / level as f64 - 1.0).abs() < 0.15;
    let is_found = (end.end as f64 - fell_s).abs() <= 2.0;
    if !(is_found && is_level(end.before, BURST) && is_level(end.after, AFTER)) {
        return Err(format!("{end:?} in {rates:?}, fell at {fell_s} s"));
    }
    let told = format!(
        "ends after {} (64.0 MiB, depth 8)",
        units::moment(end.end as f64)
    );
    finished.prints_sentence(&told);
    assert!(record.bursts[1].is_recovery);
    Ok(())
}
