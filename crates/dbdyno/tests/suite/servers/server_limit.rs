//! `[server] limit` of an experiment: held by the kernel, recorded, reported, and gone afterwards.

use std::{
    fs,
    path::{Path, PathBuf},
};

use rustix::process::Signal;
use tempfile::TempDir;

use crate::{
    experiment::Experiment,
    program::storage::{disk, limits::lacks_limits},
    results::Results,
    scene::{Scene, wait_until},
};

const CGROUPS: &str = "/sys/fs/cgroup";

/// The groups of a dbdyno, in all trees.
fn groups_of(pid: u32) -> Vec<PathBuf> {
    let prefix = format!("dbdyno-{pid}-");
    let (mut found, mut left) = (Vec::new(), vec![PathBuf::from(CGROUPS)]);
    while let Some(directory) = left.pop() {
        let entries = fs::read_dir(directory).into_iter().flatten().flatten();
        for entry in entries.filter(|it| it.file_type().is_ok_and(|kind| kind.is_dir())) {
            if entry.file_name().to_string_lossy().starts_with(&prefix) {
                found.push(entry.path());
            } else {
                left.push(entry.path());
            }
        }
    }
    found
}

/// A limit with every kind of value, on this disk.
fn server(disk: &TempDir, iops: &str) -> String {
    format!(
        "datadir = \"{}\"\nlimit = {{ read_iops = \"{iops}\", write_iops = \"{iops}\", cpus = 1, memory = \"1G\" }}\n\
         set = {{ innodb_buffer_pool_size = \"16M\" }}",
        disk.path().display()
    )
}

#[test]
fn a_limit_is_held_recorded_and_reported() {
    let (scene, disk) = (Scene::for_servers(), disk());
    if lacks_limits(disk.path()) {
        return;
    }
    let trial = Experiment {
        top: "seed = 3\norder = \"file\"",
        matrix: "iops = [\"300\", \"none\"]".to_owned(),
        server: server(&disk, "{iops}"),
        ..Experiment::default()
    };
    trial.write(&scene);
    let running = scene.start(["run", "trial.toml", "--results", "results"]);
    let pid = running.pid();
    running
        .finish()
        .exits(0)
        .prints("throttled 1 of 2 runs had a limited disk")
        .says("not limited by cgroup v1");
    let left = groups_of(pid);
    assert!(left.is_empty(), "{left:?}");
    scene.nothing_is_left();

    let results = Results::at(scene.path().join("results"));
    let limited = results.record(1);
    let limit = limited.one("limit");
    assert_eq!(limit["disk"]["read_iops"], 300);
    assert_eq!(limit["disk"]["cgroup_version"], 1);
    assert_eq!(limit["cpus"], 1.0);
    assert_eq!(limit["memory_bytes"], 1 << 30);
    let sum = |of: &dyn Fn(&serde_json::Value) -> Option<f64>| -> f64 {
        let samples = limited.all("telemetry");
        samples.map(|it| of(it).expect("it is there")).sum()
    };
    let writes = sum(&|it| it["cgroup"]["limited"]["writes"].as_f64());
    let per_s = writes / sum(&|it| it["length_s"].as_f64());
    // A throttle grants in slices, and the kernel counts requests that still wait.
    assert!(per_s < 600.0, "{per_s} writes/s");
    let group = &limited.one("machine")["cgroups"][0];
    assert_eq!(
        (&group["cpu_limit"], &group["io_limited"]),
        (&1.0.into(), &true.into())
    );

    let free = results.record(2);
    assert!(free.one("limit")["disk"].is_null());
    assert_eq!(free.one("machine")["cgroups"][0]["io_limited"], false);
    let page = results.text("report.html");
    assert!(page.contains("describe the throttle, not a slower disk"));
    scene
        .dbdyno(["report", "results", "--format", "json"])
        .exits(0)
        .prints("\"limits_set\"");
}

#[test]
fn no_group_outlives_an_interruption_or_a_kill() {
    let (scene, disk) = (Scene::for_servers(), disk());
    if lacks_limits(disk.path()) {
        return;
    }
    let trial = Experiment {
        server: server(&disk, "300"),
        load: "connections = 2\nwarmup = \"500ms\"\nduration = \"10m\"".to_owned(),
        ..Experiment::default()
    };
    trial.write(&scene);
    let begun = |name: &str| {
        let mut running = scene.start(["run", "trial.toml", "--results", name]);
        let results = Results::at(scene.path().join(name));
        running.wait_until("it measures", || results.measured_so_far(1) > 0);
        assert!(!groups_of(running.pid()).is_empty());
        running
    };
    let running = begun("killed");
    let pid = running.pid();
    running.signal(Signal::KILL);
    running.finish().was_killed_by(Signal::KILL);
    wait_until("its groups are gone", || groups_of(pid).is_empty());

    // The remains of the killed one hinder no other run.
    let running = begun("interrupted");
    let pid = running.pid();
    running.signal(Signal::INT);
    running.finish();
    assert_eq!(groups_of(pid), [] as [PathBuf; 0]);
    scene.nothing_is_left();
}

#[test]
fn a_limit_that_cannot_be_held_is_refused_before_anything_is_made() {
    let scene = Scene::for_servers();
    let memory = Path::new("/dev/shm");
    if !memory.is_dir() {
        eprintln!("skipped: it takes a file system in memory, /dev/shm");
        return;
    }
    let trial = Experiment {
        server: "datadir = \"/dev/shm\"\nlimit = { read_iops = 100 }".to_owned(),
        ..Experiment::default()
    };
    trial.write(&scene);
    scene
        .dbdyno(["run", "trial.toml"])
        .exits(2)
        .says("cannot limit the private server in /dev/shm: its file system (device")
        .hints("a directory on a file system of one disk");
    assert!(!scene.path().join("results").exists(), "nothing was begun");
    scene.nothing_is_left();
}
