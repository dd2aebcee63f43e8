//! Records written by the front doors, as input to every command that accepts results.

use std::path::Path;

use samples::Record;

use crate::scene::{Finished, Scene};

const SMACK: &str = "query \"one\" { query \"select 1\"; type \"one\"; parsed \"y\"; }\n\
                     client \"c\" { db \"test\"; query_barrel \"1 one\"; }\n\
                     main { c.init(); c.set_num_rounds($2); c.create_threads($1); c.connect(); \
                     c.unload_query_barrel(); c.collect_threads(); c.disconnect(); }\n";

fn with_server() -> Scene {
    let scene = Scene::for_servers();
    scene.dbdyno(["server", "create", "s"]).exits(0);
    scene
}

fn record(path: &Path) -> Record {
    Record::open(path).unwrap()
}

/// Every command that accepts results accepts these, and they can be rerun.
fn is_taken(scene: &Scene, name: &str, operations: u64) {
    let path = scene.path().join(name);
    let then = record(&path);
    assert!(then.end.as_ref().is_some_and(|end| end.complete));
    let done =
        |record: &Record| -> u64 { record.totals().operations.values().map(|it| it.back).sum() };
    assert_eq!(done(&then), operations);
    scene
        .dbdyno(["report", name, "--format", "json"])
        .exits(0)
        .prints("throughput");
    scene.dbdyno(["audit", name]).prints("audit of");
    scene.dbdyno(["top", name]).exits(0);
    scene
        .dbdyno(["rerun", name, "--results", "again"])
        .exits(0)
        .prints("then (A) and now (B):");
    let now = record(&scene.path().join("again/record.jsonl"));
    assert_eq!(
        (now.header.seed, done(&now)),
        (then.header.seed, operations)
    );
    assert_eq!(now.header.combination, then.header.combination);
    scene
        .dbdyno(["compare", name, "again", "--anyway"])
        // The number of operations is fixed, so that their time is the result.
        .prints("elapsed");
}

/// The report with its figures removed.
fn report(finished: &Finished) -> String {
    let text = finished.text();
    let is_kept = |letter: &char| !letter.is_ascii_digit() && *letter != '.';
    text.chars().filter(is_kept).collect()
}

#[test]
fn super_smack_keeps_a_record_where_it_is_asked_for() {
    let scene = with_server();
    scene.file("one.smack", SMACK);
    let line = ["--server", "s", "one.smack", "4", "500"];
    let plain = scene.called("super-smack", line).exits(0);
    let files = || std::fs::read_dir(scene.path()).unwrap().count();
    let before = files();
    let recorded = line.iter().chain(&["--record", "smack.jsonl"]);
    let recorded = scene.called("super-smack", recorded).exits(0);
    let recorded = recorded
        .says("record: smack.jsonl")
        .says("audit: rough, no grade");
    // The report is the original's with and without a record.
    assert_eq!(report(&plain), report(&recorded));
    assert_eq!(files(), before + 1);
    let header = record(&scene.path().join("smack.jsonl")).header;
    assert_eq!(header.experiment, "super-smack c");
    assert_eq!(header.combination["arguments"], "4 500");
    is_taken(&scene, "smack.jsonl", 2000);
    scene
        .called(
            "super-smack",
            line.iter().chain(&["--record", "smack.jsonl"]),
        )
        .exits(2)
        .says("smack.jsonl already exists");
}

#[test]
fn several_clients_of_super_smack_keep_a_record_each() {
    let scene = with_server();
    let other = "client \"d\" { db \"test\"; query_barrel \"2 one\"; }\nmain { d.init(); d.set_num_rounds(10); \
                 d.create_threads(1); d.connect(); d.unload_query_barrel(); d.collect_threads(); d.disconnect(); ";
    let two = SMACK.replace("main { ", other);
    scene.file("two.smack", &two);
    let line = [
        "--server",
        "s",
        "two.smack",
        "1",
        "10",
        "--record=both.jsonl",
    ];
    scene.called("super-smack", line).exits(0);
    let counts = ["both-1.jsonl", "both-2.jsonl"].map(|name| {
        let record = record(&scene.path().join(name));
        let count: u64 = record.totals().operations.values().map(|it| it.back).sum();
        (record.header.experiment, count)
    });
    let expected = [("super-smack d", 20), ("super-smack c", 10)];
    assert_eq!(
        counts,
        expected.map(|(name, count)| (name.to_owned(), count))
    );
}

#[test]
fn mysqlslap_keeps_a_record_where_it_is_asked_for() {
    let scene = with_server();
    let line = [
        "-a",
        "--auto-generate-sql-load-type=write",
        "-c",
        "4",
        "--number-of-queries=400",
        "--server",
        "s",
        "--record=slap.jsonl",
    ];
    scene
        .called("mariadb-slap", line)
        .exits(0)
        .says("audit: rough, no grade");
    is_taken(&scene, "slap.jsonl", 400);
    let command = record(&scene.path().join("slap.jsonl")).command;
    assert_eq!(command.unwrap().arguments[0], "mariadb-slap");
}
