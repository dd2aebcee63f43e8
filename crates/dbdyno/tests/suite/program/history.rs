//! `dbdyno history` and `dbdyno rerun` without a server of their own: single runs and `quick` are done again, and
//! what cannot be repeated or shown is refused.

use std::{fs, path::Path};

use rustix::process::Signal;
use samples::Record;

use crate::{
    null_server::null_server,
    results::{Results, names_in},
    scene::Scene,
};

#[test]
fn what_cannot_be_done_again_or_shown() {
    let scene = Scene::new();
    scene.dbdyno(["history"]).exits(0).prints("no results yet");
    scene
        .dbdyno(["history", "--of", "trial"])
        .exits(2)
        .says("no results of \"trial\"");
    scene
        .dbdyno(["rerun", "nowhere"])
        .exits(2)
        .says("nowhere: no such results");
    fs::create_dir(scene.path().join("empty")).unwrap();
    scene
        .dbdyno(["rerun", "empty"])
        .exits(2)
        .says("contains no run record");
    scene
        .dbdyno(["history", "--dir", "empty"])
        .exits(2)
        .says("empty: no results in it");
    fs::create_dir_all(scene.path().join("disks/storage-quick-1")).unwrap();
    scene.file(
        "disks/storage-quick-1/storage.jsonl",
        include_str!("../../../../audit/fixtures/storage/quick.jsonl"),
    );
    scene
        .dbdyno(["history", "--dir", "disks"])
        .exits(2)
        .says("disks: no results in it");
    scene
        .dbdyno(["history", "--of", "trial", "--metric", "speed"])
        .exits(2)
        .says("no such metric or cost; available: throughput");
    scene
        .dbdyno(["history", "--metric", "p50"])
        .exits(2)
        .says("--of");
    // The header of a single run contains its options and no experiment.
    let header = r#"{"line":"run","format":1,"dbdyno_version":"0.1.0","experiment":"oltp point_select","experiment_sha256":"","seed":1,"run":1,"block":1,"combination":{"connections":"2"},"started_at":"2026-11-21T10:14:24Z","connections":2,"loops":2,"io":"epoll","transport":"unix socket"}"#;
    scene.file("empty/record.jsonl", &format!("{header}\n"));
    scene
        .dbdyno(["rerun", "empty"])
        .exits(2)
        .says("the command of this run of `oltp point_select` was not kept: its server, duration")
        .hints("connections 2");
    let of_an_experiment = header.replace("sha256\":\"\"", "sha256\":\"ab\"");
    scene.file("empty/record.jsonl", &format!("{of_an_experiment}\n"));
    scene
        .dbdyno(["rerun", "empty"])
        .exits(2)
        .says("results without origin.json");
    assert_eq!(names_in(Path::new(&scene.path().join("empty"))).len(), 1);
}

#[test]
fn a_single_run_is_done_again_by_its_command() {
    let scene = Scene::new();
    let (server, socket) = null_server(&scene, &["--delay=2ms"]);
    let then = ["oltp", "point_select", "run", "--threads=2", "--events=40"];
    let place = ["--password=hare", "--record=a/record.jsonl", "--socket"];
    let line = then.iter().chain(&place).copied();
    scene.dbdyno(line.chain(socket.to_str())).exits(0);
    let record = |name: &str| Record::open(&scene.path().join(name).join("record.jsonl")).unwrap();
    assert!(!format!("{:?}", record("a").command).contains("hare"));
    scene
        .dbdyno(["rerun", "a"])
        .exits(2)
        .says("its password was not kept")
        .hints("--password-file");
    scene.file("secret", "hare\n");
    let again = ["--password-file", "secret", "--results", "b"];
    let rerun = |more: &[&str]| scene.dbdyno(["rerun", "a"].iter().chain(&again).chain(more));
    rerun(&["--keep"])
        .exits(2)
        .says("--keep is for experiments");
    rerun(&[])
        .exits(0)
        .says("again: dbdyno oltp point_select run --threads=2 --events=40 --socket ")
        .prints("then (A) and now (B)")
        .prints("A  a\nB  b");
    rerun(&[]).exits(2).says("b: already contains results");
    assert_eq!(record("a").header.seed, record("b").header.seed);
    scene
        .dbdyno([
            "rerun",
            "a/record.jsonl",
            "--results",
            "c",
            "--password-file",
            "secret",
        ])
        .exits(0)
        .prints("A  a/record.jsonl\nB  c");
    server.signal(Signal::TERM);
    server.finish().exits(0);
    // Without a server the command ends with the error of the connection.
    scene
        .dbdyno(["rerun", "a", "--results", "d", "--password-file", "secret"])
        .exits(3)
        .says("null.sock");
}

/// The text for two results of the same server that differ only in time.
const NOTHING_DIFFERS: &str = "differs   nothing recorded about server, machine, data or method";

/// `dbdyno quick` on an existing server, interrupted after the first of its three runs.
#[test]
fn quick_is_done_again_on_the_server_that_is_there() {
    let scene = Scene::new();
    // Eight clients have 400 answers a second on any machine.
    let (server, socket) = null_server(&scene, &["--delay=20ms"]);
    let line = format!("quick --socket={}", socket.display());
    let mut then = scene.start(line.split(' '));
    let results = Results::at(scene.path().join("results/quick-1"));
    then.wait_until("its second run measures", || results.measured_so_far(2) > 0);
    then.signal(Signal::INT);
    then.finish().exits(130);
    scene
        .dbdyno(["rerun", "results/quick-1", "--results", "again"])
        .exits(0)
        .says(&format!("again: dbdyno {line}"))
        .prints("measured  3 of 3 runs")
        .prints("then (A) and now (B):\n\nA  results/quick-1\nB  again")
        .prints(NOTHING_DIFFERS)
        .prints("connections 8: inconclusive: throughput");
    let (then, now) = (
        results.record(1),
        Results::at(scene.path().join("again")).record(1),
    );
    assert_eq!(then.one("run")["seed"], now.one("run")["seed"]);
    server.signal(Signal::TERM);
    server.finish().exits(0);
}
