//! The limit of open files of dbdyno and its servers.

use std::process::Command;

use samples::Record;

use crate::{experiment::Experiment, scene::Scene};

#[test]
fn every_server_of_an_experiment_has_the_same_limit_of_open_files() {
    let scene = Scene::for_servers();
    Experiment {
        top: "repeats = 2",
        server: "restart = \"per-run\"".to_owned(),
        load: "connections = 2\nthink_time = \"20ms\"\nwarmup = \"200ms\"\nduration = \"2s\""
            .to_owned(),
        ..Experiment::default()
    }
    .write(&scene);
    // The usual soft limit of a login; the hard limit is far above it. A server run by root raises its limit on its
    // own, so this test is meaningful for other users only.
    let dbdyno = env!("CARGO_BIN_EXE_dbdyno");
    let line = format!("ulimit -Sn 1024; '{dbdyno}' run trial.toml --results out");
    let bash = Command::new("bash");
    scene.launch(bash, ["-c", &line]).finish().exits(0);
    let records = ["out/run-0001.jsonl", "out/run-0002.jsonl"]
        .map(|path| Record::open(&scene.path().join(path)).unwrap());
    for name in ["open_files_limit", "table_open_cache", "innodb_open_files"] {
        let [first, second] = records
            .each_ref()
            .map(|record| record.servers[0].variables.get(name).cloned());
        assert!(
            first.is_some() && first == second,
            "{name}: {first:?}, {second:?}"
        );
    }
}
