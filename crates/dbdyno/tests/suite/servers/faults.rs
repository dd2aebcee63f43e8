//! Failures of a run with a real server: one clear message, no process left running, and `--resume` completes the plan.

use std::fs;

use rustix::process::{Signal, kill_process};

use crate::{
    disturbed::{Disturbed, two_runs},
    experiment::{Experiment, SMACK},
    mariadb::MariaDb,
    results::{Results, names_in},
    scene::{Scene, wait_until},
};

#[test]
fn the_server_is_killed() {
    let (disturbed, running) = Disturbed::start(Scene::for_servers(), &two_runs());
    let servers = disturbed.scene.servers();
    assert_eq!(servers.len(), 1, "one private server runs: {servers:?}");
    kill_process(servers[0], Signal::KILL).unwrap();
    running
        .finish()
        .exits(3)
        .says("the server went away")
        .hints("--resume");
    disturbed.scene.nothing_is_left();
    disturbed.keeps_what_was_measured();
    let end = disturbed.results.record(2);
    let why = end.one("end")["why"].as_str().unwrap();
    assert!(why.contains("the server went away"), "{why}");
    assert!(disturbed.results.file("report.html").exists());
    disturbed.resumes();
}

#[test]
fn a_private_server_ends_with_a_killed_dbdyno_and_its_directory_with_the_next() {
    let (disturbed, running) = Disturbed::start(Scene::for_servers(), &two_runs());
    running.signal(Signal::KILL);
    running.finish().was_killed_by(Signal::KILL);
    wait_until("the kernel has ended its server", || {
        disturbed.scene.servers().is_empty()
    });
    disturbed.keeps_what_was_measured();
    assert_eq!(disturbed.results.record(2).all("end").count(), 0);
    // Among other things, `--resume` removes the directory of the dead dbdyno's server.
    assert!(
        fs::read_dir(disturbed.scene.servers_directory())
            .unwrap()
            .count()
            > 0
    );
    disturbed.resumes();
}

#[test]
fn ctrl_c_while_a_server_is_made() {
    let scene = Scene::for_servers().with_own_cache();
    Experiment {
        load: "connections = \"{connections}\"\nwarmup = \"200ms\"\nduration = \"2s\"".to_owned(),
        ..two_runs()
    }
    .write(&scene);
    let mut running = scene.start(["run", "trial.toml", "--results", "out"]);
    running.wait_until("its server is made", || !scene.servers().is_empty());
    running.signal(Signal::INT);
    running.finish().exits(130);
    scene.nothing_is_left();
    scene
        .dbdyno(["run", "trial.toml", "--results", "out", "--resume"])
        .exits(0);
}

/// A .smack file whose select fails with error 1054.
fn with_a_failing_select(scene: &Scene, on_error: &str) {
    let mariadb = MariaDb::shared(scene);
    Experiment {
        server: format!(
            "{}\ndatabase = \"{}\"",
            mariadb.as_experiment(),
            mariadb.database()
        ),
        load: format!(
            "mix = \"1:1\"\nconnections = 2\nwarmup = \"200ms\"\nduration = \"2s\"\nrate = 200\n\
             on_error = \"{on_error}\""
        ),
        ..Experiment::default()
    }
    .write(scene);
    scene.file(
        "hp-sizing.smack",
        &SMACK.replace("select * from", "select nosuch from"),
    );
}

#[test]
fn a_failed_statement_ends_the_run() {
    let scene = Scene::for_servers();
    with_a_failing_select(&scene, "stop");
    scene
        .dbdyno(["run", "trial.toml", "--results", "out"])
        .exits(3)
        .says("select_index: error 1054")
        .says("Unknown column 'nosuch'")
        .hints("on_error");
    scene.nothing_is_left();
    let record = Results::at(scene.path().join("out")).record(1);
    assert!(!record.is_complete());
    assert_eq!(record.one("error")["number"], 1054);
    assert_eq!(record.one("error")["operation"], "select_index");
}

#[test]
fn failed_statements_are_counted_by_number() {
    let scene = Scene::for_servers();
    with_a_failing_select(&scene, "count");
    scene
        .dbdyno(["run", "trial.toml", "--results", "out"])
        .exits(3)
        .says("with error 1054");
    let results = Results::at(scene.path().join("out"));
    let record = results.record(1);
    assert!(record.is_complete());
    let error = record.one("error");
    assert_eq!(
        (&error["operation"], &error["number"]),
        (&"select_index".into(), &1054.into())
    );
    assert_eq!(
        (&error["sqlstate"], &error["retried"]),
        (&"42S22".into(), &0.into())
    );
    // Over the whole run, warm-up included.
    assert!(error["count"].as_u64().unwrap() >= record.errors());
    // Each barrel has one of each: the operations counted as done are the updates.
    let (done, failed) = (record.count(), record.errors());
    assert!(
        failed > 0 && done.abs_diff(failed) <= 4,
        "{done} done, {failed} failed"
    );
    let summary = results.sql("SELECT operation, number, count FROM errors");
    let count = error["count"].as_i64().unwrap();
    assert_eq!(
        summary,
        [["select_index".to_owned().into(), 1054.into(), count.into()]]
    );
}

#[test]
fn ctrl_c_while_rows_are_loaded() {
    let scene = Scene::for_servers();
    Experiment {
        data: "rows = \"100k\"",
        ..two_runs()
    }
    .write(&scene);
    let mut running = scene.start(["run", "trial.toml", "--results", "out"]);
    running.wait_until("it loads", || {
        let servers = names_in(&scene.servers_directory());
        servers.iter().any(|server| {
            let table = scene
                .servers_directory()
                .join(server)
                .join("data/test/http_auth.ibd");
            fs::metadata(table).is_ok_and(|table| table.len() > 1 << 20)
        })
    });
    running.signal(Signal::INT);
    // It does not wait for the remaining rows.
    running
        .finish()
        .exits(130)
        .conceals("keeping a copy of the data");
    scene.nothing_is_left();
}
