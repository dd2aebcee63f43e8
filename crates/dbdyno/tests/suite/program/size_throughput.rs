//! `dbdyno size --tps`, `--p99` and `--what-if` on the records of a small experiment; `crates/sizing/tests/throughput.rs`
//! has their figures.

use crate::{
    null_server::{null_server, write_smack},
    scene::{Finished, Scene},
};

/// Twelve short runs: two sizes of the data, three numbers of connections, two blocks.
const RUNS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../audit/fixtures/experiment");
const FIRST_RUN: &str = include_str!("../../../../audit/fixtures/experiment/run-0001.jsonl");
/// The size of the data in half of them.
const DATA: &str = "data=16960K";

fn size(scene: &Scene, args: &[&str]) -> Finished {
    scene.dbdyno(["size", RUNS].iter().chain(args))
}

#[test]
fn what_a_throughput_needs_is_said_for_each_memory() {
    let scene = Scene::new();
    let answer = size(&scene, &["--tps", "100", "--target", DATA]);
    let shown = answer.text();
    assert!(shown.lines().count() <= 12, "{shown}");
    let widest = shown.lines().map(|line| line.chars().count()).max();
    assert!(widest.is_some_and(|columns| columns <= 120), "{shown}");
    // Three numbers of connections have no scaling model, so that the CPUs are a lower bound.
    answer
        .exits(5)
        .prints("Some needs of 100 operations/s are not known: an amount is a lower bound")
        .prints("memory       8.00 MiB of buffer pool (48 % of the data): at least ")
        .prints("fsync        at most ")
        .prints("net          ")
        .prints("scaling      no scaling model: four or more numbers of connections are needed")
        .prints_sentence("beside other programs (H14): 12 of 12");
    size(
        &scene,
        &["--tps", "100", "--target", DATA, "--format", "json"],
    )
    .exits(5)
    .prints("\"at_least\": true");
    size(
        &scene,
        &["--tps", "100", "--target", DATA, "--format", "csv"],
    )
    .exits(5)
    .prints("row,buffer_pool_bytes,share,limit,unit,estimate,low,high,suffices,note\n1,");
}

#[test]
fn a_target_that_does_not_carry_a_throughput_is_a_negative_answer() {
    let scene = Scene::new();
    let target = format!("fsync=1ms,{DATA}");
    let check = |tps: &str, more: &[&str]| {
        let begin = ["--target", target.as_str(), "--tps", tps];
        size(&scene, &[begin.as_slice(), more].concat())
    };
    check("1000000000", &[])
        .exits(1)
        .prints_sentence("No: the target does not carry 1.00G operations/s: ")
        .prints_sentence("The target can do ");
    check("1000000000", &["--format", "json"])
        .exits(1)
        .prints("\"verdict\": \"no\"");
    check("0.001", &[])
        .exits(0)
        .prints_sentence("Yes: the target carries 0.001 operations/s, with ");
}

#[test]
fn without_a_search_the_answer_is_a_line_to_measure() {
    let scene = Scene::new();
    let line = "find = { p99 = \"20ms\" } in [load]";
    size(
        &scene,
        &["--tps", "100", "--p99", "20ms", "--target", DATA],
    )
    .exits(5)
    .prints_sentence("The needs of 100 operations/s are not known: no search for p99 < 20 ms is among the records")
    .prints_sentence(line);
    let target = format!("fsync=1ms,{DATA}");
    size(&scene, &["--p99", "20ms", "--target", &target])
        .exits(5)
        .prints("The target can do ")
        .prints("p99          not known: no search for p99 < 20 ms")
        .prints_sentence(line);
}

#[test]
fn a_search_without_its_experiment_is_refused() {
    let scene = Scene::new();
    let search = FIRST_RUN
        .replace(r#""rows":"2x"}"#, r#""rows":"2x","rate":"100"}"#)
        .replace(r#""rate_per_s":null"#, r#""rate_per_s":100.0"#);
    std::fs::create_dir(scene.path().join("search")).unwrap();
    scene.file("search/run-0001.jsonl", &search);
    let args = ["search", "--target", "fsync=1ms,data=16960K"];
    size(&scene, &[&args[..], &["--p99", "20ms"]].concat())
        .exits(2)
        .says("search: contains no experiment");
    // Without a limit on the response time, it is of no use.
    size(&scene, &args)
        .exits(2)
        .says("search/run-0001.jsonl: the load had a fixed rate")
        .hints("is used with --p99");
}

#[test]
fn runs_at_rates_of_the_experiment_are_no_search() {
    let scene = Scene::new();
    let (_server, socket) = null_server(&scene, &[]);
    write_smack(&scene, &socket, "select c from t where id = 1");
    let text = format!(
        "format = 1\n[matrix]\nrate = [20]\n[server]\naddress = {socket:?}\nuser = \"u\"\n[load]\nsmack = \"one.smack\"\n\
         connections = 1\nwarmup = \"0s\"\nduration = \"1s\"\nrate = \"{{rate}}\"\n"
    );
    scene.file("fixed.toml", &text);
    // A busy machine may not reach the rate.
    scene.dbdyno(["run", "fixed.toml", "--results", "fixed"]);
    let args = [
        "fixed",
        "--target",
        "fsync=1ms,data=16960K",
        "--p99",
        "20ms",
    ];
    size(&scene, &args)
        .exits(2)
        .says("fixed: the load had a fixed rate")
        .hints("is used with --p99");
}

#[test]
fn a_change_of_the_target_or_of_a_factor_is_compared() {
    let scene = Scene::new();
    let target = format!("cpus=2,{DATA}");
    // Without contention, twice the CPUs do twice as much.
    size(&scene, &["--target", &target, "--what-if", "cpus=4"])
        .exits(5)
        .prints("With cpus=4, the upper bound of the throughput changes by +100 %.")
        .prints("now          at most ");
    size(&scene, &["--what-if", "rows=2x"])
        .exits(0)
        .prints("With rows=2x, the throughput changes by ")
        .prints_sentence("beside other programs (H14): 12 of 12")
        .prints("highest throughput of each");
    // The level of an emulated target is none of the experiment.
    let emulated = r#""rows":"4x","emulated":"yes"}"#;
    let emulated = FIRST_RUN.replace(r#""rows":"2x"}"#, emulated);
    scene.file("emulated.jsonl", &emulated);
    size(&scene, &["emulated.jsonl", "--what-if", "rows=2x"]).exits(0);
    size(
        &scene,
        &["--what-if", "connections=1..4", "--format", "csv"],
    )
    .exits(0)
    .prints("of,unit,estimate,low,high,binding,note\nnow,1/s,");
    size(&scene, &["--target", &target, "--what-if", "cpus=64"])
        .exits(5)
        .prints_sentence("because measurements for cpus are missing");
}

#[test]
fn bad_questions_are_named() {
    let scene = Scene::new();
    let refused = |args: &[&str], problem: &str| size(&scene, args).exits(2).says(problem);
    for tps in ["0", "-1", "nan", "inf", "x"] {
        let tps = format!("--tps={tps}");
        refused(&[&tps], "not a number above 0");
    }
    refused(&["--tps", "100"], "--target names no size of the data");
    refused(&["--tps", "100", "--p99", "20"], "not a time with its unit");
    refused(&["--p99", "20ms"], "--tps");
    refused(
        &["--tps", "100", "--what-if", "cpus=4"],
        "cannot be used with",
    );
    refused(
        &["--tps", "100", "--consolidate", "a.csv"],
        "cannot be used with",
    );
    refused(&["--what-if", "memory=64"], "memory: 64 has no unit");
    refused(
        &["--what-if", "durability=D2"],
        "--what-if names durability, which is neither a part of a target nor a factor of the records",
    )
    .hints("the factors of the records are connections, rows");
    refused(
        &["--what-if", "connections=4"],
        "--what-if names connections=4, and the records have several other levels: 1, 2",
    )
    .hints("--what-if connections=1..4");
    refused(
        &["--what-if", "rows=4x"],
        "--what-if names rows=4x, and the records have 0.5x, 2x",
    );
    let target = format!("cpus=2,{DATA}");
    refused(
        &["--target", &target, "--what-if", "memory=64G"],
        "--target has no read_iops",
    )
    .hints("for example read_iops=3000");
    refused(
        &["--target", &target, "--what-if", "fsync=1ms"],
        "--what-if names fsync, whose present value is not known",
    )
    .hints("name it in --target");
    scene
        .dbdyno(["size", "--tps", "100"])
        .exits(2)
        .says("RESULTS");
}
