//! `dbdyno ab` of servers that are there: two null servers.

use std::fs;

use crate::{null_server::null_server, scene::Scene};

#[test]
fn servers_that_are_there_are_compared() {
    let scene = Scene::new();
    // The answers take a time, so that 8 connections do not fill the machine; that of `SELECT 1` would take none.
    let (_one, first) = null_server(&scene, &["--delay=10ms"]);
    let other = Scene::new();
    let (_other, second) = null_server(&other, &["--delay=10ms"]);
    scene.file("one.sql", "SELECT c FROM t WHERE id = 1;\n");
    let hosts = format!("{},{}", first.display(), second.display());
    let times = ["--duration", "1s", "--warmup", "0", "--budget", "13s"];
    let servers = ["ab", "--host", &hosts, "--user", "bench"];
    let load = ["script", "one.sql"];
    let compared = scene.dbdyno([&servers[..], &times, &load].concat());
    compared.exits(0).prints("server: ").prints(&format!(
        "server {} against {}",
        second.display(),
        first.display()
    ));
    let written = fs::read_to_string(scene.path().join("results/ab-1/ab.toml")).unwrap();
    for line in [
        "[server] # each exists, and is not changed\naddress = \"{server}\"\nuser = \"bench\"\n",
        "[load]\nscript = ",
    ] {
        assert!(written.contains(line), "{written}");
    }
    assert!(!written.contains("[data]"), "{written}");

    // The same script alone, by the short form of its command.
    let alone = [
        "script",
        "one.sql",
        "--duration",
        "1s",
        "--no-defaults",
        "--user",
        "bench",
    ];
    let socket = first.display().to_string();
    scene
        .dbdyno([&alone[..], &["--socket", &socket]].concat())
        .exits(0)
        .prints("next      dbdyno audit ");

    for (args, said) in [
        (&["--set", "sync_binlog=0,1"][..], "cannot be used with"),
        (&["--password-file", "none"], "none: No such file"),
        (&["--server", "one"], "no such server"),
    ] {
        scene
            .dbdyno([&servers[..], args, &load].concat())
            .exits(2)
            .says(said);
    }
    scene
        .dbdyno(["ab", "--server", "none,one", "script", "one.sql"])
        .exits(2)
        .says("none");
}
