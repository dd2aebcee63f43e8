//! A burst of a disk, staged by a limit that falls while a course is measured.

use std::{
    fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    process::Command,
    thread,
    time::Duration,
};

use reactor::system_now;
use samples::StorageRecord;

use crate::{
    program::storage::{
        lacks_fio,
        limits::{GROUPS, lacks_limits},
        loop_disk::LoopDisk,
    },
    scene::Scene,
};

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
#[ignore = "a long round: make test-all"]
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
    let path = disk.display().to_string();
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
