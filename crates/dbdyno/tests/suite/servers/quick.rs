//! `dbdyno quick`: a first figure from a private or an existing server, which is left unchanged.

use rustix::process::Signal;

use crate::{
    mariadb::{MariaDb, PASSWORD},
    results::Results,
    scene::Scene,
    servers::{
        proxy::{backend, end, proxy},
        secrets::{asked, files_with},
    },
};

const IS_THERE: &str =
    "select count(*) from information_schema.schemata where schema_name = 'dbdyno_quick'";

/// It is ended in the first of its three runs, which the next test has all of, with the usual number of connections.
#[test]
fn a_private_server() {
    let scene = Scene::for_servers();
    let mut running = scene.start(["quick", "--connections=1"]);
    let results = Results::at(scene.path().join("results/quick-1"));
    running.wait_until("it measures", || results.measured_so_far(1) > 0);
    running.signal(Signal::INT);
    running.finish().exits(130);
    scene.nothing_is_left();
    let record = results.record(1);
    assert!(record.count() > 0);
    assert_eq!(record.errors(), 0);
    assert_eq!(record.one("server")["private"], true);
}

#[test]
#[ignore = "a long round: make test-all"]
fn a_private_server_to_the_end() {
    let scene = Scene::for_servers();
    scene
        .dbdyno(["quick"])
        .exits(0)
        .prints("operations/s")
        .prints("page      results/quick-1/report.html");
    scene.nothing_is_left();
    let results = Results::at(scene.path().join("results/quick-1"));
    for run in 1..=3 {
        let record = results.record(run);
        assert!(record.is_complete() && record.count() > 0);
        assert_eq!(record.errors(), 0);
        assert_eq!(record.one("server")["private"], true);
    }
}

#[test]
fn a_server_that_is_there() {
    let scene = Scene::for_servers();
    let mariadb = MariaDb::start(&scene, &[]);
    // A proxy makes the clients wait, which are few, so that they cost the machine little.
    let slow = [backend(&mariadb), "--add-delay=20ms".to_owned()];
    let (proxy, port) = proxy(&scene, &slow);
    let quick = format!(
        "quick --connections=2 --duration=2s --host=127.0.0.1 --port={port} --user=trial --password-file=password"
    );
    let finished = asked(&scene, &quick, &[], PASSWORD).exits(0);
    finished.conceals(PASSWORD);
    finished
        .prints("operations/s")
        .prints("page      results/quick-1/report.html");
    let results = scene.path().join("results/quick-1");
    assert_eq!(files_with(&results, PASSWORD), [""; 0]);
    let results = Results::at(results);
    for run in 1..=3 {
        let record = results.record(run);
        assert!(record.is_complete() && record.count() > 0);
        assert_eq!(record.errors(), 0);
        assert_eq!(record.one("run")["transport"], "tcp loopback");
        assert_eq!(record.one("server")["private"], false);
    }
    assert_eq!(
        mariadb.rows(IS_THERE),
        [["0"]],
        "its database is gone again"
    );
    assert_eq!(mariadb.rows("show tables in test").len(), 0);

    // Unchanged also after an interruption.
    let mut running = scene.start(quick.split(' '));
    let results = Results::at(scene.path().join("results/quick-2"));
    running.wait_until("it measures", || results.measured_so_far(1) > 0);
    assert_eq!(mariadb.rows(IS_THERE), [["1"]]);
    running.signal(Signal::INT);
    let finished = running.finish().exits(130);
    // A server that is too busy to drop it in the time that an interruption has is no fault of dbdyno, which says so.
    if !finished.stderr.contains("dbdyno_quick may still be on") {
        assert_eq!(
            mariadb.rows(IS_THERE),
            [["0"]],
            "its database is gone again"
        );
    }
    end(proxy);
}

#[test]
fn a_database_of_its_name_is_somebody_elses() {
    let scene = Scene::for_servers();
    let mariadb = MariaDb::start(&scene, &[]);
    mariadb.rows("create database dbdyno_quick");
    mariadb.rows("create table dbdyno_quick.dbdyno_quick as select 7 as n");
    let quick = [vec!["quick".to_owned()], mariadb.by_socket()].concat();
    scene
        .dbdyno(quick)
        .exits(2)
        .says("dbdyno_quick")
        .hints("dbdyno_quick");
    let rows = mariadb.rows("select n from dbdyno_quick.dbdyno_quick");
    assert_eq!(rows, [["7"]]);
}
