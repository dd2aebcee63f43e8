//! Measurements under a limit of the disk.

use std::{fs, os::unix::fs::MetadataExt, path::Path};

use super::*;

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

pub(crate) const GROUPS: &str = "/sys/fs/cgroup/blkio";

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
            .contains("describe the throttle")
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
        .says("cpus is not a limit of a disk");
    assert_eq!(names_in(disk.path()).len(), 0);
}
