//! Tests of control groups in fabricated trees.

use super::*;

const DISK: DiskLimits = DiskLimits {
    read_iops: Some(1000),
    write_iops: Some(500),
    read_bytes_per_s: None,
    write_bytes_per_s: Some(1 << 20),
};

const ALL: GroupLimits = GroupLimits {
    disk: DISK,
    cpus: Some(1.5),
    memory_bytes: Some(1 << 30),
};

fn fabricated(version: CgroupVersion, root: &Path, controllers: &[Controller]) -> Hierarchy {
    Hierarchy {
        version,
        controllers: controllers.to_vec(),
        parent: root.to_owned(),
        own: root.to_owned(),
    }
}

fn made(hierarchies: Vec<Hierarchy>) -> Cgroup {
    let made = Cgroup::create_in("x".to_owned(), hierarchies, Some("7:0".to_owned()));
    made.ok().unwrap()
}

fn text(part: &Part, file: &str) -> String {
    fs::read_to_string(part.path.join(file)).unwrap()
}

#[test]
fn version_1_has_a_group_in_each_tree() {
    let roots = [(); 3].map(|()| tempfile::tempdir().unwrap());
    let trees = roots.iter().zip(Controller::ALL);
    let trees = trees.map(|(root, it)| fabricated(CgroupVersion::V1, root.path(), &[it]));
    let group = made(trees.collect());
    group.limit_processes(&ALL).unwrap();
    group.limit_disk(DISK).unwrap();
    let [disk, cpu, memory] = &group.parts[..] else {
        panic!("{group:?}");
    };
    assert_eq!(text(disk, "blkio.throttle.read_iops_device"), "7:0 1000");
    assert_eq!(text(disk, "blkio.throttle.read_bps_device"), "7:0 0");
    assert_eq!(text(disk, "blkio.throttle.write_bps_device"), "7:0 1048576");
    assert_eq!(text(cpu, "cpu.cfs_quota_us"), "150000");
    assert_eq!(text(memory, "memory.limit_in_bytes"), "1073741824");
    group.limit_disk(DiskLimits::default()).unwrap();
    group.limit_processes(&GroupLimits::default()).unwrap();
    assert_eq!(text(disk, "blkio.throttle.read_iops_device"), "7:0 0");
    assert_eq!(text(cpu, "cpu.cfs_quota_us"), "-1");
    assert_eq!(text(memory, "memory.limit_in_bytes"), "-1");
    assert_eq!(group.version(), CgroupVersion::V1);
}

#[test]
fn version_2_has_one_group() {
    let root = tempfile::tempdir().unwrap();
    let tree = fabricated(CgroupVersion::V2, root.path(), &Controller::ALL);
    let group = made(vec![tree]);
    group.limit_processes(&ALL).unwrap();
    group.limit_disk(DISK).unwrap();
    let part = &group.parts[0];
    let io = "7:0 riops=1000 wiops=500 rbps=max wbps=1048576";
    assert_eq!(text(part, "io.max"), io);
    assert_eq!(text(part, "cpu.max"), "150000 100000");
    assert_eq!(text(part, "memory.max"), "1073741824");
    group.limit_disk(DiskLimits::default()).unwrap();
    let io = "7:0 riops=max wiops=max rbps=max wbps=max";
    assert_eq!(text(part, "io.max"), io);
    let other = made(vec![fabricated(CgroupVersion::V2, root.path(), &[])]);
    assert_ne!(other.parts[0].path, part.path);
}

#[test]
fn only_wanted_controllers_are_used() {
    let limits = |text| Controller::wanted(&GroupLimits::parse(text).unwrap());
    assert_eq!(limits("read_mb=5"), [Controller::Disk]);
    assert_eq!(
        limits("cpus=1,memory=1G"),
        [Controller::Cpu, Controller::Memory]
    );
    assert_eq!(limits("cpus=none"), []);
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
    let root = tempfile::tempdir().unwrap();
    let writable = fabricated(CgroupVersion::V1, root.path(), &[Controller::Disk]);
    let other = Path::new("/proc/self/none");
    let other = fabricated(CgroupVersion::V2, other, &[Controller::Cpu]);
    let made = Cgroup::create_in("x".to_owned(), vec![writable, other], None);
    let obstacle = made.err().unwrap();
    assert!(
        obstacle
            .why
            .starts_with("cannot make /proc/self/none/dbdyno-")
    );
    assert!(obstacle.hint.contains("as root"));
    let left = fs::read_dir(root.path()).unwrap().count();
    assert_eq!(left, 0, "the part that was made is removed");
}
