//! What is refused, and what ends while it is measured: read-only and full file systems.

use std::{
    fs::{self, File},
    io::{Read, Write},
};

use super::{loop_disk::LoopDisk, *};

#[test]
fn a_read_only_file_system_is_refused() {
    let Some(mut disk) = LoopDisk::ext4(64) else {
        return;
    };
    disk.unmount();
    disk.mount(&["-o", "ro"]);
    let scene = Scene::new();
    let path = text(disk.path());
    scene
        .dbdyno(["storage", "commit", &path, "--seconds", "1"])
        .exits(2)
        .says("its file system is read-only")
        .hints("mounted read-write");
    assert!(!scene.path().join("results").exists(), "nothing was begun");
}

/// An overlay in memory takes requests past the page cache, as a disk does.
#[test]
fn an_overlay_in_memory_is_refused() {
    let memory = tempfile::tempdir_in("/dev/shm").unwrap();
    let place = disk();
    let at = |name: &str| {
        let path = memory.path().join(name);
        fs::create_dir(&path).unwrap();
        text(&path)
    };
    let (lower, upper, work) = (at("lower"), at("upper"), at("work"));
    let options = format!("lowerdir={lower},upperdir={upper},workdir={work}");
    let mount = ["-t", "overlay", "overlay", "-o", &options];
    let mounted = Command::new("mount").args(mount).arg(place.path()).output();
    if !mounted.is_ok_and(|it| it.status.success()) {
        eprintln!("skipped: an overlay takes root, and a kernel that has it");
        return;
    }
    let scene = Scene::new();
    let path = text(place.path());
    let finished = scene.dbdyno(["storage", "commit", &path, "--seconds", "1"]);
    let unmounted = Command::new("umount").arg(place.path()).status();
    assert!(unmounted.is_ok_and(|it| it.success()));
    finished
        .exits(2)
        .says("where the overlay keeps its files, is memory");
}

#[test]
fn a_disk_that_others_fill_ends_the_measurement_and_is_cleaned_up() {
    let Some(disk) = LoopDisk::ext4(400) else {
        return;
    };
    let scene = Scene::new();
    let path = text(disk.path());
    let commits = [
        "storage",
        "commit",
        &path,
        "--writers",
        "4",
        "--seconds",
        "600",
    ];
    let mut running = scene.start(commits);
    let binlog = disk.path().join("dbdyno-storage-test/binlog.dat");
    running.wait_until("commits are made", || {
        fs::metadata(&binlog).is_ok_and(|it| it.len() > 0)
    });
    // Another program takes the rest, block by block at the end.
    let mut filler = File::create(disk.path().join("others")).unwrap();
    for size in [1 << 20, 4096] {
        let block = vec![1; size];
        while filler
            .write_all(&block)
            .and_then(|()| filler.sync_data())
            .is_ok()
        {}
    }
    running.finish().exits(4).says("No space left on device");
    let left = names_in(disk.path());
    assert_eq!(left, ["lost+found", "others"], "dbdyno's files are gone");
    let results = scene.path().join("results/storage-commit-1");
    assert!(!record(&scene, "results/storage-commit-1").is_complete);
    assert!(results.join("storage.html").exists());
}

#[test]
fn a_raw_device_is_destroyed_only_by_its_name() {
    let Some(mut disk) = LoopDisk::ext4(64) else {
        return;
    };
    if lacks_fio() {
        return;
    }
    let scene = Scene::new();
    let patterns = scene.file("mine.toml", PATTERNS);
    let device = disk.device().to_owned();
    let suite = |more: &[&str]| suite(&device, &patterns, more);
    let named = format!("--destroy={}", device.display());
    scene
        .dbdyno(suite(&[]))
        .exits(2)
        .says("is a raw device")
        .hints("--destroy");
    let refused = scene.dbdyno(suite(&[&named])).exits(2);
    refused.says(&format!("is mounted on {}", disk.path().display()));
    disk.unmount();
    let begin = || {
        let mut bytes = vec![0; 4096];
        File::open(&device).unwrap().read_exact(&mut bytes).unwrap();
        bytes
    };
    let before = begin();
    scene
        .dbdyno(suite(&["--destroy"]))
        .exits(2)
        .says("on a terminal, but there is none")
        .hints(&named);
    scene
        .dbdyno(suite(&["--destroy=/dev/loop"]))
        .exits(2)
        .says("nothing was written");
    let directory = disk.path().to_owned();
    scene
        .dbdyno(["storage", "suite", &text(&directory), "--destroy"])
        .exits(2)
        .says("is not a block device");
    let large = ["storage", "steady", &text(&device), "--size", "1G", &named];
    scene
        .dbdyno(large)
        .exits(2)
        .says("the device has 64.0 MiB")
        .hints("--size");
    assert!(begin() == before, "the file system is as it was");
    assert!(!scene.path().join("results").exists(), "nothing was begun");

    HeldFio::short(&scene)
        .start(&scene, suite(&[&named]))
        .finish()
        .exits(0)
        .prints_sentence("; raw device")
        .prints("requests/s, depth");
    assert!(begin() != before, "it was written");
    let record = record(&scene, "results/storage-suite-1");
    assert!(record.is_complete && record.header.storage.places[0].is_raw_device());
    assert_eq!(record.header.directory, text(&device));
    assert!(!record.header.storage.devices.is_empty());
}

#[test]
fn the_name_is_asked_for_on_a_terminal() {
    let Some(disk) = LoopDisk::raw(64) else {
        return;
    };
    if lacks_fio() || Command::new("script").arg("--version").output().is_err() {
        eprintln!("skipped: a terminal takes the program script");
        return;
    }
    let scene = Scene::new();
    let fio = HeldFio::short(&scene);
    let answered = |answer: &str| {
        let device = text(disk.device());
        let measured = "--size 16M --seconds 1 --rounds 5 --destroy";
        let steady = format!(
            "{} storage steady {device} {measured}",
            env!("CARGO_BIN_EXE_dbdyno")
        );
        let line = format!("echo {answer} | script -qec '{steady}' /dev/null");
        fio.start_program(&scene, "sh", ["-c", &line]).finish()
    };
    answered("/dev/sda")
        .exits(2)
        .prints("Type its name to continue")
        .prints("nothing was written");
    assert!(!scene.path().join("results").exists(), "nothing was begun");
    let finished = answered(&text(disk.device()));
    finished.prints("raw device").prints("after 5 rounds");
}
