//! What is refused, and what ends while it is measured: read-only and full file systems.

use std::{fs, fs::File, io::Write};

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
    // Somebody else takes the rest, block by block at the end.
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
