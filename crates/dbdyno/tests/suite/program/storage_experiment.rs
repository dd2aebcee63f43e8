//! An experiment whose load is a disk's: it needs no server and has none in its outputs.

use std::{collections::BTreeSet, fs, path::Path};

use rustix::process::Signal;
use samples::Record;
use tempfile::TempDir;

use crate::{
    program::storage::{disk, held_fio::HeldFio, lacks_fio},
    results::Results,
    scene::Scene,
};

fn experiment(disks: [&TempDir; 2], load: &str) -> String {
    let [one, other] = disks.map(|it| it.path().display().to_string());
    format!(
        "format = 1\nquestion = \"Which volume?\"\n[matrix]\nvolume = [{one:?}, {other:?}]\n\
         [load]\n{load}\nwarmup = \"200ms\"\nduration = \"1s\"\n[verdict]\nbaseline = {{ volume = {one:?} }}\n"
    )
}

fn record(scene: &Scene, results: &str, run: u32) -> Record {
    let path = scene.path().join(results);
    Record::open(&path.join(format!("run-{run:04}.jsonl"))).unwrap()
}

#[test]
fn two_volumes_are_compared_without_a_server() {
    let (scene, one, other) = (Scene::new(), disk(), disk());
    if lacks_fio() {
        return;
    }
    let load =
        "storage = { dir = \"{volume}\", block = \"4k\", reads = 70, depth = 4, size = \"16M\" }";
    let file = scene.file("volumes.toml", &experiment([&one, &other], load));
    let file = file.display().to_string();
    scene.dbdyno(["run", &file]).exits(0).prints("4 in flight");
    let record = record(&scene, "results/volumes-1", 1);
    assert!(record.is_complete());
    assert!(record.servers.is_empty() && record.server_status.is_empty());
    let load = record.disk_load.as_ref().unwrap();
    assert_eq!((load.requests_in_flight(), load.direct), (4, true));
    assert_eq!(load.file_bytes, Some(16 << 20));
    let totals = record.totals();
    let counts: Vec<(&str, u64)> = totals
        .operations
        .iter()
        .map(|((_, name), total)| (name.as_str(), total.back))
        .collect();
    assert!(
        matches!(counts[..], [("read", 1..), ("write", 1..)]),
        "{counts:?}"
    );
    assert!(record.telemetry.iter().any(|it| it.disk.is_some()));
    assert!(!record.storage.is_empty());
    for left in [&one, &other] {
        assert_eq!(
            fs::read_dir(left.path()).unwrap().count(),
            0,
            "the files are removed"
        );
    }
    let page = scene.path().join("results/volumes-1/report.html");
    let page = fs::read_to_string(page).unwrap();
    assert!(page.contains("Loads on disks") && page.contains("client and disk"));
    assert!(!page.contains("Machine, server and data"));
    scene
        .dbdyno(["audit", "results/volumes-1", "--rule", "W01"])
        .prints("a file of 16.0 MiB fits");
    scene
        .dbdyno(["audit", "results/volumes-1", "--rule", "C06"])
        .prints("this load uses no server");
}

#[test]
fn an_interrupted_comparison_says_how_it_goes_on() {
    let (scene, one, other) = (Scene::new(), disk(), disk());
    if lacks_fio() {
        return;
    }
    let [first, second] = [&one, &other].map(|it| it.path().display().to_string());
    let compare = ["storage", "compare", &first, &second, "--depths", "1"];
    let small = ["--reads", "100", "--size", "16M", "--seconds", "1"];
    let fio = HeldFio::new(&scene);
    fio.allow(1);
    let mut running = fio.start(&scene, [&compare[..], &small, &["--repeats", "1"]].concat());
    running.wait_until("the second run begins", || fio.begun() == 2);
    running.signal(Signal::INT);
    let (file, results) = (
        "results/storage-compare-1/storage-compare.toml",
        "results/storage-compare-1",
    );
    running.finish().exits(130).hints(&format!(
        "dbdyno run {file} --results {results} --resume continues"
    ));
    let again = ["run", file, "--results", results, "--resume"];
    scene.dbdyno(again).exits(0).prints("2 of 2 runs");
}

#[test]
fn a_job_file_is_a_load() {
    let (scene, one, other) = (Scene::new(), disk(), disk());
    if lacks_fio() {
        return;
    }
    let jobs =
        "[global]\nbs=4k\nsize=8m\n[pages]\nrw=randread\ndirect=1\n[log]\nrw=write\nfdatasync=1\n";
    scene.file("mine.fio", jobs);
    let load = "storage = { dir = \"{volume}\", job = \"mine.fio\" }";
    let file = scene.file("jobs.toml", &experiment([&one, &other], load));
    let file = file.display().to_string();
    scene.dbdyno(["run", &file]).exits(0);
    let record = Results::at(scene.path().join("results/jobs-1")).record(1);
    // Those of the warm-up, too: a busy disk may end no flush in the second after it.
    let intervals = record.all("interval");
    let operations = intervals.flat_map(|it| it["operations"].as_array().unwrap());
    let names: BTreeSet<&str> = operations
        .map(|it| it["operation"].as_str().unwrap())
        .collect();
    assert_eq!(names, BTreeSet::from(["log write", "pages read"]));
    assert!(Path::new(&scene.path().join("results/jobs-1/files/mine.fio")).exists());

    scene.file("mine.fio", "[a]\nfilename=/dev/null\nrw=write\nsize=8m\n");
    scene
        .dbdyno(["run", &file])
        .exits(2)
        .says("filename=/dev/null is not a plain name");
}

#[test]
fn what_a_load_without_a_server_cannot_have_is_refused() {
    let (scene, one, other) = (Scene::new(), disk(), disk());
    if lacks_fio() {
        return;
    }
    let load = "storage = { dir = \"{volume}\" }";
    let whole = experiment([&one, &other], load);
    for (written, instead, said) in [
        (
            "[load]",
            "[server]\nrun = \"mariadb-10.11\"\n[load]",
            "`server` has no effect",
        ),
        (
            "[load]",
            "[load]\nconnections = 4",
            "`connections` has no effect",
        ),
        (
            "warmup = \"200ms\"",
            "warmup = \"auto\"",
            "`warmup` is \"auto\"",
        ),
        (
            "dir = \"{volume}\"",
            "dir = \"{volume}\", limit = \"iops=5\"",
            "no limit \"iops\"",
        ),
        (
            "dir = \"{volume}\"",
            "dir = \"{volume}/nowhere\"",
            "nowhere",
        ),
    ] {
        assert!(whole.contains(written), "{written}");
        let file = scene.file("bad.toml", &whole.replacen(written, instead, 1));
        let file = file.display().to_string();
        scene.dbdyno(["run", &file]).exits(2).says(said);
    }
    let memory = Path::new("/dev/shm");
    if memory.is_dir() {
        let limited = "format = 1\n[load]\nstorage = { dir = \"/dev/shm\", limit = \"read_iops=100\" }\n\
                       warmup = \"1s\"\nduration = \"1s\"\n";
        let file = scene.file("limited.toml", limited);
        let ran = scene.dbdyno(["run", &file.display().to_string()]);
        ran.exits(2).says("cannot limit the disk of /dev/shm");
    }
    let good = scene.file("good.toml", &whole);
    let good = good.display().to_string();
    scene
        .dbdyno(["run", &good, "--simulate"])
        .exits(2)
        .says("[load] storage needs a server that stores data");
}
