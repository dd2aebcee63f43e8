//! The experiments in `experiments/`: every one has a plan, and those of storage run, for which no server is needed.

use std::{fs, path::Path};

use tempfile::TempDir;

use crate::{
    program::storage::{disk, lacks_fio},
    scene::Scene,
    shipped::{experiments, is_full, on_one_disk, run},
};

/// Moves the measured directory of an experiment without a server to this one: the scene's own may be memory.
fn on_disk(scene: &Scene, name: &str, disk: &TempDir) {
    let file = scene.path().join(format!("experiments/{name}.toml"));
    let text = fs::read_to_string(&file).unwrap();
    let here = text.replace("/var/tmp", &disk.path().display().to_string());
    assert_ne!(here, text);
    fs::write(&file, here).unwrap();
}

#[test]
#[ignore = "a long round: make test-all"]
fn direct_buffered() {
    if lacks_fio() {
        return;
    }
    let (scene, disk) = (Scene::new(), disk());
    experiments(&scene);
    on_disk(&scene, "direct-buffered", &disk);
    let smaller = [
        "--scale",
        "0.02",
        "--repeats",
        "1",
        "--only",
        "limit=none",
        "--only",
        "direct=off",
    ];
    let results = run(&scene, "direct-buffered", &smaller);
    if is_full() {
        return;
    }
    let jobs = (1..=3).map(|run| {
        let load = results.record(run).one("disk_load")["job_file"].clone();
        load.as_str().unwrap().to_owned()
    });
    let jobs: Vec<String> = jobs.collect();
    for line in ["sync=dsync", "fsync=8192"] {
        let having = jobs.iter().filter(|job| job.contains(line));
        assert_eq!(having.count(), 1, "{line}: {jobs:?}");
    }
}

#[test]
fn burst_grid() {
    if lacks_fio() {
        return;
    }
    let (scene, disk) = (Scene::new(), disk());
    experiments(&scene);
    on_disk(&scene, "burst-grid", &disk);
    let smaller = ["--scale", "0.01", "--only", "size=1G", "--only", "depth=8"];
    let results = run(&scene, "burst-grid", &smaller);
    assert!(results.text("report.html").contains("keep its rate"));
}

/// Combinations, repeats and runs of every experiment there is.
const PLANS: [(&str, &str); 30] = [
    ("auto-increment", "120 combinations x 3 repeats = 360 runs"),
    ("batch-beside-oltp", "3 combinations x 5 repeats = 15 runs"),
    ("buffer-pool", "14 combinations x 3 repeats = 42 runs"),
    ("bulk-load", "9 combinations x 5 repeats = 45 runs"),
    (
        "bulk-load/as-published",
        "9 combinations x 1 repeat = 9 runs",
    ),
    ("burst-grid", "16 combinations x 1 repeat = 16 runs"),
    ("direct-buffered", "10 combinations x 3 repeats = 30 runs"),
    ("engines", "24 combinations x 3 repeats = 72 runs"),
    ("flush-log", "6 combinations x 5 repeats = 30 runs"),
    ("group-commit", "96 combinations x 3 repeats = 288 runs"),
    ("hp-sizing", "140 combinations x 1 repeat = 140 runs"),
    (
        "hp-sizing/as-published",
        "140 combinations x 1 repeat = 140 runs",
    ),
    ("iops-limits", "4 combinations x 3 repeats = 12 runs"),
    ("library", "4 combinations x 3 repeats = 12 runs"),
    ("load-types", "27 combinations x 3 repeats = 81 runs"),
    ("local-and-remote", "20 combinations x 3 repeats = 60 runs"),
    (
        "max-rate",
        "1 combination x at most 40 repeats, until decided within 5 min 0 s = at most 40 runs",
    ),
    ("online-alter", "11 combinations x 2 repeats = 22 runs"),
    ("quickstart", "8 combinations x 3 repeats = 24 runs"),
    ("self-test", "2 combinations x 10 repeats = 20 runs"),
    ("shop", "4 combinations x 3 repeats = 12 runs"),
    ("size-hp", "8 combinations x 3 repeats = 24 runs"),
    ("ssd-mycnf", "4 combinations x 5 repeats = 20 runs"),
    (
        "ssd-mycnf/as-published",
        "4 combinations x 1 repeat = 4 runs",
    ),
    ("stored-procedure", "12 combinations x 3 repeats = 36 runs"),
    ("thread-pool", "2 combinations x 5 repeats = 10 runs"),
    (
        "tuningathon-proxy-cold",
        "8 combinations x 3 repeats = 24 runs",
    ),
    ("tuningathon-proxy", "32 combinations x 3 repeats = 96 runs"),
    ("tuningathon", "7 combinations x 3 repeats = 21 runs"),
    ("versions", "22 combinations x 3 repeats = 66 runs"),
];

#[test]
fn every_published_experiment_has_its_plan() {
    let scene = Scene::new();
    experiments(&scene);
    for name in ["ssd-mycnf", "ssd-mycnf/as-published"] {
        on_one_disk(&scene, name);
    }
    for (name, plan) in PLANS {
        let file = format!("experiments/{name}.toml");
        scene.dbdyno(["run", &file, "--plan"]).exits(0).prints(plan);
    }
    let files = walk(&scene.path().join("experiments"));
    assert_eq!(
        files,
        PLANS.len(),
        "each file of experiments/ is in the list"
    );
}

/// Number of experiment files in a directory and those in it.
fn walk(directory: &Path) -> usize {
    let entries = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    entries
        .map(|path| match path.extension() {
            _ if path.is_dir() => walk(&path),
            Some(extension) => usize::from(extension == "toml"),
            None => 0,
        })
        .sum()
}
