//! `on_this_server`: values of a variable take turns on one null server, and every ending puts the original value back.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use protocol::{Address, Connection, Endpoint};
use rustix::process::Signal;

use crate::{
    audited::Audited,
    null_server::null_server,
    results::Results,
    scene::{Running, Scene, wait_until},
    turns::{slices, take_turns, two_records},
};

const RUN: [&str; 4] = ["run", "trial.toml", "--results", "out"];

/// A null server with the variable `sync_binlog`, whose value is 1.
fn server(scene: &Scene) -> (Running, PathBuf) {
    let options = ["--delay", "2ms", "--variable", "sync_binlog=1"];
    null_server(scene, &options)
}

/// The value of `sync_binlog` on the null server.
fn value(socket: &Path) -> String {
    let address = Address::Unix(socket.to_owned());
    let endpoint = Endpoint::plain(address, "u", Duration::from_secs(60));
    let sets = reactor::block_on(async {
        let mut connection = Connection::open(&endpoint).await?;
        let sets = connection
            .rows("SHOW GLOBAL VARIABLES LIKE 'sync_binlog'")
            .await?;
        connection.close().await?;
        Ok::<_, protocol::Error>(sets)
    });
    let sets = sets.unwrap().unwrap();
    let value = sets[0].rows[0][1].clone();
    String::from_utf8(value.unwrap()).unwrap()
}

/// Writes an experiment that compares two values of this variable, each of which is measured for this time.
fn write(scene: &Scene, socket: &Path, variable: &str, duration: &str) {
    let text = format!(
        "format = 1\nseed = 3\ndesign = \"side by side\"\nslice = \"100ms\"\nsettle = \"0s\"\n\
         [matrix]\nlevel = [0, 100]\n\
         [server]\naddress = {socket:?}\nuser = \"u\"\non_this_server = true\nset = {{ {variable} = \"{{level}}\" }}\n\
         [load]\nslap = {{ query = \"SELECT c FROM t WHERE id = 1\" }}\nconnections = 2\nwarmup = \"0s\"\n\
         duration = \"{duration}\"\n\
         [verdict]\nbaseline = {{ level = 0 }}\n"
    );
    scene.file("trial.toml", &text);
}

#[test]
fn values_take_turns_and_the_record_has_them() {
    let scene = Scene::new();
    let (_server, socket) = server(&scene);
    write(&scene, &socket, "sync-binlog", "3s");
    scene
        .dbdyno(RUN.iter().chain(&["-v"]))
        .prints("measured  2 of 2 runs")
        .prints_sentence("on one server, by SET GLOBAL, without waiting for a steady state");
    assert_eq!(value(&socket), "1");
    let records = two_records(&Results::at(scene.path().join("out")));
    take_turns(&records);
    for record in &records {
        assert!(record.is_complete(), "{:?}", record.end);
        assert_eq!(slices(record).len(), 30);
        let level = record.header.combination.get("level");
        let turns = record.side_by_side.as_ref().unwrap();
        assert!(turns.on_one_server);
        assert_eq!(turns.set_global.get("sync_binlog"), level);
        assert_eq!(record.servers.len(), 2);
        for server in &record.servers {
            assert_eq!(server.variables.get("sync_binlog"), level);
        }
    }
    // Runs of one session overlap, and the server counts the statements of both.
    let audit = Audited::of(&scene, &["out"]);
    for rule in ["T04", "T06"] {
        let level = audit.rule(rule)["level"].as_str().unwrap_or_default();
        assert!(
            !["fail", "invalid"].contains(&level),
            "{:#}",
            audit.rule(rule)
        );
    }
}

/// Starts a long session, and waits until both values are measured.
fn start_long(scene: &Scene, socket: &Path) -> Running {
    write(scene, socket, "sync_binlog", "30m");
    let mut running = scene.start(RUN);
    let results = Results::at(scene.path().join("out"));
    running.wait_until("slices of both values are measured", || {
        [1, 2].iter().all(|run| results.measured_so_far(*run) > 1)
    });
    assert_ne!(value(socket), "1");
    running
}

#[test]
fn an_interrupted_session_puts_the_original_value_back() {
    let scene = Scene::new();
    let (_server, socket) = server(&scene);
    let running = start_long(&scene, &socket);
    running.signal(Signal::INT);
    running.finish().exits(130);
    assert_eq!(value(&socket), "1");
}

#[test]
fn a_guard_puts_the_original_value_back_when_dbdyno_is_killed() {
    let scene = Scene::new();
    let (_server, socket) = server(&scene);
    let running = start_long(&scene, &socket);
    running.signal(Signal::KILL);
    running
        .finish()
        .was_killed_by(Signal::KILL)
        .says("note: the variables of the server have their original values again");
    assert_eq!(value(&socket), "1");
}

#[test]
fn a_server_that_dies_gets_the_original_value_when_it_is_back() {
    let scene = Scene::new();
    let (server, socket) = server(&scene);
    let running = start_long(&scene, &socket);
    server.signal(Signal::KILL);
    server.finish().was_killed_by(Signal::KILL);
    fs::remove_file(&socket).unwrap();
    let (_server, socket) = null_server(&scene, &["--variable", "sync_binlog=5"]);
    running.finish().exits(3);
    // By the session or, if the server came too late for it, by the guard.
    wait_until("the original value is back", || value(&socket) == "1");
}

#[test]
fn variables_that_no_slice_can_measure_are_refused() {
    let scene = Scene::new();
    let (_server, socket) = server(&scene);
    for (variable, why) in [
        ("sql_mode", "when it is opened"),
        ("innodb_buffer_pool_size", "resizes memory"),
        ("lower_case_table_names", "when the server starts"),
        ("max_connections", "new connections"),
        ("no_such_variable", "no global variable of this name"),
    ] {
        write(&scene, &socket, variable, "3s");
        scene
            .dbdyno(["run", "trial.toml", "--results", variable])
            .exits(2)
            .says(&format!("{variable} cannot be compared by SET GLOBAL"))
            .says(why)
            .hints("on private servers");
    }
}

#[test]
fn ab_writes_an_experiment_on_one_server() {
    let scene = Scene::new();
    scene.file("one.sql", "SELECT 1;\n");
    let words = "ab --plan --host db1 --on-this-server --set sync_binlog=0,100 script one.sql";
    scene
        .dbdyno(words.split_whitespace())
        .exits(0)
        .prints("side by side");
    let words = "ab --plan --host db1 --set sync_binlog=0,100 script one.sql";
    scene
        .dbdyno(words.split_whitespace())
        .exits(2)
        .says("--set sync_binlog cannot be used with --host")
        .hints("add --on-this-server");
}
