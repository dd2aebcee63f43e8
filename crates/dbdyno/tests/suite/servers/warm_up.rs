//! `warmup = "auto"` on a real server whose buffer pool fills: misses that still fall keep it from being steady.

use samples::{Phase, Record};

use crate::{results::record_name, scene::Scene};

/// Reads of one row by its key, with uniform keys.
const SMACK: &str = include_str!("../../../../../experiments/smacks/inserts.smack");

/// The last phase of this kind: its start, and the reason.
fn last(record: &Record, phase: Phase) -> (f64, &str) {
    let marks = record.phases.iter().rev();
    let mark = marks.into_iter().find(|mark| mark.phase == phase).unwrap();
    (mark.t_s, &mark.why)
}

/// On a real server: the think time keeps the throughput constant, and rows read for the second time are no misses.
#[test]
#[ignore = "a long round: make test-all"]
fn a_pool_that_fills_is_told_where_the_throughput_is_level() {
    let scene = Scene::for_servers();
    scene.file("inserts.smack", SMACK);
    let text = "format = 1\n[server]\nrun = \"mariadb\"\n[server.set]\ninnodb_buffer_pool_size = \"64M\"\n\
                innodb_buffer_pool_load_at_startup = \"OFF\"\ninnodb_buffer_pool_dump_at_shutdown = \"OFF\"\n\
                [data]\nsmack = \"inserts.smack\"\nrows = \"200k\"\n\
                [load]\nsmack = \"inserts.smack\"\nmix = \"0:1\"\nconnections = 8\nthink_time = \"20ms\"\n\
                warmup = \"auto\"\nwarmup_at_most = \"8s\"\nduration = \"4s\"\n[disturbed]\nrepeats = \"0 %\"\n";
    scene.file("trial.toml", text);
    let command = ["run", "trial.toml", "--results", "out"];
    scene
        .dbdyno(command.iter().chain(&["--sample-every", "200ms"]))
        .exits(0);
    let record = Record::open(&scene.path().join("out").join(record_name(1))).unwrap();
    let (from_s, why) = last(&record, Phase::Measurement);
    assert!(from_s >= 8.0, "{from_s} s: {why}");
    assert!(why.starts_with("not steady after 8 s: "), "{why}");
    assert!(why.contains("misses per second changed by -"), "{why}");
}
