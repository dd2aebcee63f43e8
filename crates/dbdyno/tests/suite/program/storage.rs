//! `dbdyno storage`: measures a directory, leaves nothing in it, continues after an interruption and a kill, and refuses
//! what it may not measure.

use std::{collections::BTreeSet, fs, path::Path, process::Command};

use samples::StorageRecord;
use tempfile::TempDir;

use self::held_fio::HeldFio;
use crate::scene::Scene;

mod guard_rails;
pub(crate) mod held_fio;
pub(crate) mod limits;
pub(crate) mod loop_disk;
mod resume;

const PATTERNS: &str = "\
[[pattern]]\nname = \"a\"\nblock = \"16k\"\nreads = 100\ndepth = 1\n
[[pattern]]\nname = \"b\"\nblock = \"16k\"\nreads = 50\ndepth = 4\n
[[pattern]]\nname = \"c\"\nblock = \"1M\"\nreads = 0\ndepth = 1\naccess = \"sequential\"\n";

/// A directory on a disk: the temporary directory may be memory.
pub(crate) fn disk() -> TempDir {
    // Cargo makes it when it compiles the tests, and not again after a clean-up.
    let directory = env!("CARGO_TARGET_TMPDIR");
    std::fs::create_dir_all(directory).expect("the target directory is writable");
    tempfile::tempdir_in(directory).expect("the target directory is writable")
}

fn names_in(directory: &Path) -> Vec<String> {
    let names: BTreeSet<String> = crate::results::names_in(directory);
    names.into_iter().collect()
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

/// Without fio its tests are skipped.
pub(crate) fn lacks_fio() -> bool {
    let lacks = Command::new("fio").arg("--version").output().is_err();
    if lacks {
        eprintln!("skipped: fio is not installed (scripts/install-packages.sh test)");
    }
    lacks
}

fn record(scene: &Scene, results: &str) -> StorageRecord {
    StorageRecord::read(&scene.path().join(results).join("storage.jsonl")).unwrap()
}

fn suite(disk: &Path, patterns: &Path, more: &[&str]) -> Vec<String> {
    let (path, patterns) = (text(disk), text(patterns));
    let fixed = ["storage", "suite", &path, "--size", "16M", "--seconds", "1"];
    let named = ["--patterns", &patterns];
    let all = fixed.iter().chain(&named).chain(more);
    all.map(|word| (*word).to_owned()).collect()
}

#[test]
fn commits_are_measured() {
    let (scene, disk) = (Scene::new(), disk());
    let path = text(disk.path());
    scene
        .dbdyno([
            "storage",
            "commit",
            &path,
            "--writers",
            "1,4",
            "--duration",
            "1s",
        ])
        .exits(0)
        .prints("durable with 1 writer")
        .prints("durable commits: ")
        .prints("page      results/storage-commit-1/storage.html");
    let record = record(&scene, "results/storage-commit-1");
    assert!(record.is_complete);
    let [one, four] = &record.commits[..] else {
        panic!("{record:?}");
    };
    assert_eq!((one.writers, four.writers), (1, 4));
    assert_eq!(one.groups, one.commits);
    let cpus = record.commits.iter().map(|it| it.machine_cpu.as_ref());
    for cpu in cpus.map(|it| it.expect("this is Linux")) {
        assert!(cpu.machine.capacity_s() > 0.0, "{record:?}");
    }
    // A disk that others keep busy may end one flush in the second.
    let are_few = four.commits <= 4;
    assert!(are_few || four.groups < four.commits, "they share flushes");
    assert_eq!(names_in(disk.path()).len(), 0, "nothing is left");
    let mysql = ["--server", "mysql", "--writers", "1", "--seconds", "1"];
    let commit = ["storage", "commit", &path];
    scene
        .dbdyno(commit.iter().chain(&mysql))
        .exits(0)
        .prints_sentence("durable with 1 writer by MySQL's calls");
    let other = self::record(&scene, "results/storage-commit-2");
    assert_eq!(other.commits[0].sequence, samples::CommitSequence::Mysql);
    assert!(!other.commits[0].redo_direct, "through the page cache");
    let page = scene.path().join("results/storage-commit-1/storage.html");
    assert!(
        fs::read_to_string(page)
            .unwrap()
            .contains("Durable commits")
    );
}

#[test]
fn rounds_and_courses() {
    if lacks_fio() {
        return;
    }
    let (scene, disk) = (Scene::new(), disk());
    let path = text(disk.path());
    let steady = [
        "storage",
        "steady",
        &path,
        "--size",
        "16M",
        "--seconds",
        "1",
        "--rounds",
        "5",
    ];
    let finished = HeldFio::short(&scene).start(&scene, steady).finish();
    let rounds = record(&scene, "results/storage-steady-1").rounds;
    assert_eq!(rounds.len(), 5);
    let answers = [
        ("steady    reached after 5 rounds: ", 0),
        ("steady    NOT REACHED after 5 rounds: ", 1),
        // Other programs used the machine.
        ("steady    undecided after 5 rounds: ", 5),
    ];
    let printed = |it: &&(&str, i32)| finished.text().contains(it.0);
    let answer = answers.iter().find(printed);
    let (_, code) = answer.unwrap_or_else(|| panic!("{}", finished.shown()));
    finished.exits(*code);

    let burst = [
        "storage",
        "burst",
        &path,
        "--sizes",
        "16M",
        "--depths",
        "1,2",
        "--seconds",
        "3",
        "--pause",
        "0",
    ];
    scene.dbdyno(burst).exits(0).prints("none found in 2 cells");
    let cells = record(&scene, "results/storage-burst-1").bursts;
    assert_eq!(cells.len(), 2);
    assert!(cells.iter().all(|it| !it.iops.is_empty()), "{cells:?}");
    assert_eq!(names_in(disk.path()).len(), 0, "nothing is left");
}

#[test]
#[ignore = "a long round: make test-all"]
fn without_fio_quick_says_what_it_leaves_out() {
    let (scene, disk) = (Scene::new(), disk());
    let path = text(disk.path());
    let mut command = Command::new("env");
    command
        .arg("PATH=/nowhere")
        .arg(env!("CARGO_BIN_EXE_dbdyno"));
    let quick = ["storage", "quick", &path];
    scene
        .launch(command, quick)
        .finish()
        .exits(0)
        .says("fio is not installed")
        .prints("left out: sequential and mixed patterns and depths above 16")
        // Left out with a reason where other programs use the machine.
        .prints("innodb_io_capacity")
        .prints("backup and bulk load: not judged");
    let record = record(&scene, "results/storage-quick-1");
    assert_eq!((record.commits.len(), record.patterns.len()), (2, 4));
    assert_eq!(record.header.engine, "native");
    assert_eq!(names_in(disk.path()).len(), 0, "nothing is left");
}

#[test]
fn a_suite_without_fio_says_what_to_install() {
    let (scene, disk) = (Scene::new(), disk());
    let path = text(disk.path());
    let mut command = Command::new("env");
    command
        .arg("PATH=/nowhere")
        .arg(env!("CARGO_BIN_EXE_dbdyno"));
    let suite = ["storage", "suite", &path];
    let refused = scene.launch(command, suite).finish();
    refused
        .exits(2)
        .says("fio is not installed")
        .hints("install the package fio");
}

#[test]
fn what_may_not_be_measured_is_refused() {
    let (scene, disk) = (Scene::new(), disk());
    let commit = |path: &Path| scene.dbdyno(["storage", "commit", &text(path), "--seconds", "1"]);
    commit(Path::new("/dev/null"))
        .exits(2)
        .says("not a raw block device");
    commit(&disk.path().join("none"))
        .exits(2)
        .says("No such file");
    let datadir = disk.path().join("datadir");
    fs::create_dir(&datadir).unwrap();
    fs::write(datadir.join("ibdata1"), "").unwrap();
    commit(&datadir).exits(2).hints("a directory beside it");
    assert_eq!(names_in(&datadir), ["ibdata1"]);
    let memory = Path::new("/dev/shm");
    if memory.exists() {
        commit(memory).exits(2).says("is memory, not a disk");
    }
    let theirs = disk.path().join("dbdyno-storage-test");
    fs::create_dir(&theirs).unwrap();
    fs::write(theirs.join("thesis"), "x").unwrap();
    commit(disk.path()).exits(2).says("no marker");
    assert!(theirs.join("thesis").exists());
    fs::remove_dir_all(&theirs).unwrap();
    if !lacks_fio() {
        let path = text(disk.path());
        let large = ["storage", "suite", &path, "--size", "1000000G"];
        scene.dbdyno(large).exits(4).hints("--size");
    }
    assert_eq!(names_in(disk.path()), ["datadir"]);
    assert!(!scene.path().join("results").exists(), "nothing was begun");
}

/// What fio 3.33 wrote on a virtio disk: JSON+, one job.
const FIO_JSON: &str = include_str!("../../../../storage/fixtures/fio-3.33-randrw.json");

#[test]
fn files_of_fio_are_imported_and_audited() {
    let scene = Scene::new();
    let logging = FIO_JSON.replacen(
        "\"ioengine\"",
        "\"write_iops_log\" : \"course\",\n    \"log_avg_msec\" : \"1000\",\n    \"ioengine\"",
        1,
    );
    scene.file("a.json", &format!("fio: a note before it\n{logging}"));
    let seconds = (1..=60).map(|second| {
        let rate = if second <= 20 { 14_000 } else { 400 };
        format!("{}, {rate}, 0, 0, 0\n", second * 1000)
    });
    scene.file("course_iops.1.log", &seconds.collect::<String>());
    scene
        .dbdyno(["import", "fio", "a.json", "course_iops.1.log"])
        .exits(0)
        .prints_sentence("unknown, not in the files of fio-3.33: device, scheduler, write cache")
        .prints_sentence("ends after 20 s (64.0 MiB, depth 4): 14.0k/s before, 400/s after")
        .prints_sentence("16.0 KiB random: depth 4 16.6k/s p99 reads 553 µs, writes 2.70 ms")
        .prints("page      results/storage-import-1/storage.html");
    let record = record(&scene, "results/storage-import-1");
    assert!(record.is_complete && record.header.storage.devices.is_empty());
    assert_eq!(record.bursts[0].iops.len(), 60);
    for name in ["storage.html", "storage.json", "storage.csv"] {
        let path = scene.path().join("results/storage-import-1").join(name);
        assert!(path.exists(), "{name}");
    }
    scene
        .dbdyno(["audit", "results/storage-import-1"])
        .exits(1)
        .prints("a measurement of storage, no grade")
        .prints_sentence("FAIL H01 the machine or its storage is not recorded")
        .prints_sentence("FAIL M04 the disk became slower")
        .prints_sentence("WARN W01 the storage was measured with a file");
    scene
        .dbdyno([
            "audit",
            "results/storage-import-1/storage.jsonl",
            "--rule",
            "W14",
        ])
        .exits(1)
        .prints_sentence("W14 commits reach the disk: no commits were measured");

    // Its page and charts again, from the record.
    scene
        .dbdyno(["report", "results/storage-import-1", "--charts", "pictures"])
        .exits(0)
        .prints("pictures/heat.svg\npictures/courses.svg\n");
    for (name, part) in [("heat", "16.6k"), ("courses", "ends after 20 s")] {
        let svg = scene
            .path()
            .join("pictures")
            .join(name)
            .with_extension("svg");
        let svg = fs::read_to_string(svg).unwrap();
        assert!(
            svg.starts_with("<svg") && svg.contains(part),
            "{name}: {svg}"
        );
    }
    scene
        .dbdyno(["report", "results/storage-import-1", "--format", "csv"])
        .exits(0)
        .prints("kind,name,part,block_bytes");
    scene
        .dbdyno(["report", "results/storage-import-1", "--format", "markdown"])
        .exits(2)
        .says("a storage measurement has no markdown")
        .hints("html, json, csv, svg and png");
    scene
        .dbdyno(["report", "results/storage-import-1", "--chart", "none"])
        .exits(2)
        .hints("available: heat, courses");

    scene.file("old.json", &FIO_JSON.replacen("fio-3.33", "fio-2.16", 1));
    scene
        .dbdyno(["import", "fio", "old.json"])
        .exits(2)
        .says("fio-2.16 wrote it")
        .hints("measure again with fio 3.0 or later");
    scene.file(
        "clients.json",
        &FIO_JSON.replacen("\"jobs\"", "\"client_stats\"", 1),
    );
    scene
        .dbdyno(["import", "fio", "clients.json"])
        .exits(2)
        .says("client/server mode");
    scene
        .dbdyno(["audit", "results/storage-import-1", "results"])
        .exits(2)
        .hints("name one of them");
}
