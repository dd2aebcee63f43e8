//! `dbdyno server`: the life cycle of a private server, and refused commands.

use std::fs;

use rustix::process::{Signal, kill_process};
use serde_json::{Value, json};

use crate::scene::{Scene, wait_until};

/// The server's answer to a statement, through the command-line client.
fn answer(scene: &Scene, name: &str, sql: &str) -> String {
    let client = scene.dbdyno([
        "server",
        "client",
        name,
        "--",
        "--batch",
        "--skip-column-names",
        "-e",
        sql,
    ]);
    client.exits(0).text()
}

#[test]
fn a_server_lives_and_goes() {
    let scene = Scene::for_servers();
    let cnf = scene.file(
        "big.cnf",
        "[mysqld]\ninnodb_buffer_pool_size = 48M\nmax_connections = 33\n",
    );
    let cnf = cnf.to_str().unwrap();
    let set = "max_connections=44";
    let create = ["server", "create", "one", "--cnf", cnf, "--set", set];
    scene.dbdyno(create).exits(0).prints("one: running, pid ");
    assert_eq!(scene.servers().len(), 1);

    let variables = "select @@innodb_buffer_pool_size, @@max_connections, @@bind_address";
    assert_eq!(
        answer(&scene, "one", variables),
        "50331648\t44\t127.0.0.1\n"
    );
    answer(
        &scene,
        "one",
        "create table test.kept (n int); insert into test.kept values (7)",
    );
    scene
        .dbdyno(["server", "status", "one"])
        .exits(0)
        .prints("running");
    scene.dbdyno(["server", "list"]).exits(0).prints("one");
    scene
        .dbdyno(["server", "log", "one"])
        .exits(0)
        .prints("ready for connections");

    scene.dbdyno(["server", "restart", "one"]).exits(0);
    assert_eq!(
        answer(&scene, "one", "select n from test.kept"),
        "7\n",
        "data outlives a restart"
    );

    scene.dbdyno(["server", "stop", "one"]).exits(0);
    assert_eq!(scene.servers(), []);
    scene
        .dbdyno(["server", "status", "one"])
        .exits(0)
        .prints("stopped");
    scene
        .dbdyno(["server", "client", "one"])
        .exits(2)
        .says("hint: ");
    scene
        .dbdyno(["server", "start", "one"])
        .exits(0)
        .prints("running");
    assert_eq!(answer(&scene, "one", "select n from test.kept"), "7\n");

    scene.dbdyno(["server", "destroy", "one"]).exits(0);
    assert_eq!(scene.servers(), []);
    scene
        .dbdyno(["server", "status", "one"])
        .exits(2)
        .says("one");
}

#[test]
fn a_server_that_does_not_start_leaves_its_name_free() {
    let scene = Scene::for_servers();
    let create = ["server", "create", "one", "--set", "init_file=/none"];
    scene.dbdyno(create).exits(3).says("/none");
    scene.nothing_is_left();
}

#[test]
fn a_killed_server_starts_again() {
    let scene = Scene::for_servers();
    scene.dbdyno(["server", "create", "one"]).exits(0);
    answer(
        &scene,
        "one",
        "create table test.kept (n int); insert into test.kept values (7)",
    );
    for server in scene.servers() {
        kill_process(server, Signal::KILL).unwrap();
    }
    wait_until("the server is gone", || scene.servers().is_empty());
    scene.dbdyno(["server", "start", "one"]).exits(0);
    assert_eq!(answer(&scene, "one", "select n from test.kept"), "7\n");
    scene.dbdyno(["server", "destroy", "one"]).exits(0);
}

#[test]
fn two_servers_do_not_meet() {
    let scene = Scene::for_servers();
    for name in ["one", "two"] {
        scene.dbdyno(["server", "create", name]).exits(0);
    }
    let port = |name| answer(&scene, name, "select @@port");
    assert_ne!(port("one"), port("two"));
    scene.dbdyno(["server", "destroy", "one"]).exits(0);
    assert_eq!(answer(&scene, "two", "select 1"), "1\n");
    scene.dbdyno(["server", "destroy", "two"]).exits(0);
}

/// A process in the format of the marker in a server's directory.
fn process_in_marker(pid: u32) -> Value {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    // After the name, which may contain blanks, the start time is the twentieth field.
    let (_, fields) = stat.rsplit_once(')').unwrap();
    let start: u64 = fields.split_whitespace().nth(19).unwrap().parse().unwrap();
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    json!({ "pid": pid, "start_ticks": start, "boot": boot.trim() })
}

#[test]
fn a_server_that_is_not_finished_is_being_made_or_broken() {
    let scene = Scene::for_servers();
    scene.dbdyno(["server", "create", "one"]).exits(0);
    scene.dbdyno(["server", "stop", "one"]).exits(0);
    // The state before its creator, here the test, has written its last file.
    let directory = scene.servers_directory().join("one");
    let marker_file = directory.join("dbdyno-server.json");
    let mut marker: Value = serde_json::from_slice(&fs::read(&marker_file).unwrap()).unwrap();
    fs::rename(directory.join("client.cnf"), directory.join("later")).unwrap();
    marker["owner"] = process_in_marker(std::process::id());
    fs::write(&marker_file, marker.to_string()).unwrap();
    let listed = scene.dbdyno(["server", "list"]).exits(0);
    listed.prints("being made").conceals("warning");
    scene
        .dbdyno(["server", "status", "one"])
        .exits(2)
        .says("this server is being created")
        .says("hint: wait until it has finished");
    // After its creation no process works on it, and missing files are lost.
    marker["owner"] = Value::Null;
    fs::write(&marker_file, marker.to_string()).unwrap();
    let listed = scene.dbdyno(["server", "list"]).exits(0);
    listed.prints("broken").says("client.cnf");
    fs::rename(directory.join("later"), directory.join("client.cnf")).unwrap();
    scene.dbdyno(["server", "destroy", "one"]).exits(0);
}

#[test]
fn what_is_not_ours_is_refused() {
    let scene = Scene::for_servers();
    let foreign = scene.path().join("foreign");
    fs::create_dir(&foreign).unwrap();
    fs::write(foreign.join("ibdata1"), "somebody's data").unwrap();
    let dir = foreign.to_str().unwrap();
    scene
        .dbdyno(["server", "create", "one", "--dir", dir])
        .exits(2)
        .says("foreign");
    assert_eq!(
        fs::read(foreign.join("ibdata1")).unwrap(),
        b"somebody's data"
    );
    scene
        .dbdyno(["server", "destroy", "nobody"])
        .exits(2)
        .says("nobody");
    let gone = ["server", "create", "one", "--mysqld", "/nonexistent/mysqld"];
    scene.dbdyno(gone).exits(2).says("/nonexistent/mysqld");
    assert_eq!(scene.servers(), []);
}

#[test]
fn a_taken_port_is_named() {
    let scene = Scene::for_servers();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let create = ["server", "create", "one", "--port", &port];
    scene.dbdyno(create).exits(2).says(&port).says("hint: ");
    assert_eq!(scene.servers(), []);
}
