//! `dbdyno server snapshot`, `restore` and `snapshots`: snapshots of data, and their restoration.

use std::fs;

use serde_json::Value;

use crate::scene::Scene;

fn sql(scene: &Scene, sql: &str) -> String {
    let client = ["server", "client", "one", "--", "--batch", "-N", "-e", sql];
    scene.dbdyno(client).exits(0).text()
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("it is one JSON value")
}

#[test]
fn data_comes_back_from_a_stopped_and_from_a_running_server() {
    let scene = Scene::for_servers();
    let set = "innodb_buffer_pool_size=16M";
    scene
        .dbdyno(["server", "create", "one", "--set", set])
        .exits(0);
    sql(
        &scene,
        "create table test.t (n int primary key); insert into test.t values (1), (2)",
    );
    scene
        .dbdyno(["server", "snapshot", "one", "base"])
        .exits(0)
        .prints("one: snapshot base: ")
        .prints("the server was down for ");
    assert_eq!(
        sql(&scene, "select count(*) from test.t"),
        "2\n",
        "it runs again"
    );
    scene
        .dbdyno(["server", "snapshot", "one", "base"])
        .exits(2)
        .hints("--remove");
    assert_eq!(
        sql(&scene, "select count(*) from test.t"),
        "2\n",
        "also after a refusal"
    );

    sql(&scene, "drop table test.t; create table test.u (n int)");
    let restored = scene
        .dbdyno(["server", "restore", "one", "base", "--format", "json"])
        .exits(0)
        .says("stopping one");
    let restored = json(&restored.text());
    assert_eq!(
        (&restored["tables"], &restored["running"]),
        (&1.into(), &true.into())
    );
    assert!(restored["took_s"].as_f64().is_some_and(|s| s > 0.0));
    assert_eq!(sql(&scene, "select sum(n) from test.t"), "3\n");

    scene.dbdyno(["server", "stop", "one"]).exits(0);
    let taken = scene.dbdyno(["server", "snapshot", "one", "idle", "--format", "json"]);
    let taken = json(&taken.exits(0).text());
    assert!(taken["tables"].is_null() && taken["stopped_s"].is_null());
    assert!(taken["bytes"].as_u64().is_some_and(|bytes| bytes > 1 << 20));
    scene
        .dbdyno(["server", "restore", "one", "idle"])
        .exits(0)
        .prints("has 1 tables; it is stopped");
    assert_eq!(scene.servers(), []);

    let listed = scene.dbdyno(["server", "snapshots", "one", "--format", "json"]);
    let listed = json(&listed.exits(0).text());
    let names: Vec<_> = listed.as_array().expect("a list").iter().collect();
    assert_eq!(names.len(), 2);
    assert_eq!(names[0]["snapshot"], "base");
    scene
        .dbdyno(["server", "snapshots", "one", "--remove", "base"])
        .exits(0);
    scene
        .dbdyno(["server", "restore", "one", "base"])
        .exits(2)
        .hints("available snapshots: idle");
    scene
        .dbdyno(["server", "snapshots", "one"])
        .exits(0)
        .prints("idle");
    scene.dbdyno(["server", "destroy", "one"]).exits(0);
    scene.nothing_is_left();
}

#[test]
fn a_damaged_snapshot_is_refused_and_a_name_cannot_lead_elsewhere() {
    let scene = Scene::for_servers();
    scene
        .dbdyno(["server", "create", "one", "--no-start"])
        .exits(0);
    scene
        .dbdyno(["server", "snapshot", "one", "../escaped"])
        .exits(2)
        .says("is not a valid name for a snapshot");
    scene
        .dbdyno(["server", "snapshot", "one", "--online"])
        .exits(2)
        .says("not running");
    scene.dbdyno(["server", "snapshot", "one", "base"]).exits(0);
    let data = scene
        .servers_directory()
        .join("one/snapshots/base/data/ibdata1");
    fs::write(&data, "not what it was").expect("it is ours");
    scene
        .dbdyno(["server", "restore", "one", "base"])
        .exits(4)
        .says("ibdata1 has 15 bytes")
        .hints("take a new one");
    scene
        .dbdyno(["server", "start", "one"])
        .exits(0)
        .prints("running");
    scene.dbdyno(["server", "destroy", "one"]).exits(0);
}

/// Needs mariadb-backup; without it the test expects that message.
#[test]
fn a_running_server_is_copied_while_it_goes_on() {
    let scene = Scene::for_servers();
    let set = "innodb_buffer_pool_size=16M";
    scene
        .dbdyno(["server", "create", "one", "--set", set])
        .exits(0);
    sql(
        &scene,
        "create table test.t (n int primary key); insert into test.t values (1), (2)",
    );
    let running = scene.servers();
    let taken = scene.dbdyno(["server", "snapshot", "one", "hot", "--online"]);
    if taken.stderr.contains("mariadb-backup 1") {
        taken.exits(2).hints("apt-get install mariadb-backup");
        scene.dbdyno(["server", "destroy", "one"]).exits(0);
        return;
    }
    taken.exits(0).prints("copied by mariadb-backup");
    assert_eq!(scene.servers(), running, "it went on");
    sql(&scene, "insert into test.t values (3)");
    scene
        .dbdyno(["server", "restore", "one", "hot"])
        .exits(0)
        .prints("has 1 tables");
    assert_eq!(sql(&scene, "select sum(n) from test.t"), "3\n");
    scene.dbdyno(["server", "destroy", "one"]).exits(0);
}
