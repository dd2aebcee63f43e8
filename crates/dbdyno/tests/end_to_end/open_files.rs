//! How many files dbdyno and its servers may have open.

use std::process::Command;

use samples::Record;

use crate::{experiment::Experiment, scene::Scene};

#[test]
fn every_server_of_an_experiment_has_the_same_limit_of_open_files() {
    let scene = Scene::new();
    Experiment {
        top: "repeats = 2",
        server: "restart = \"per-run\"".to_owned(),
        ..Experiment::default()
    }
    .write(&scene);
    // What a login has on most systems; the hard limit is far above it. A server of root raises its limit by itself, and
    // this tells something to all other users.
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
