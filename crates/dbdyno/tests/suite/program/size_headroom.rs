//! `dbdyno size --headroom` on the files of other programs and on recorded runs; `crates/sizing/tests` has its figures.

use crate::scene::{Finished, Scene};

const SHOP: &str = include_str!("../../../../sizing/fixtures/shop.csv");
const OFFICE: &str = include_str!("../../../../sizing/fixtures/office.txt");

const RUNS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../audit/fixtures/experiment");
const RUN: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../audit/fixtures/experiment/run-0001.jsonl"
);
const STORAGE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../audit/fixtures/storage/quick.jsonl"
);

fn scene() -> Scene {
    let scene = Scene::new();
    scene.file("shop.csv", SHOP);
    scene.file("office.txt", OFFICE);
    scene
}

fn size(scene: &Scene, args: &[&str]) -> Finished {
    scene.dbdyno(["size"].iter().chain(args))
}

#[test]
fn the_load_of_a_server_is_compared_with_its_limits() {
    let scene = scene();
    let limits = ["--headroom", "shop.csv", "--target", "write_iops=1600"];
    let answer = |more: &[&str]| {
        let args: Vec<&str> = limits.iter().chain(more).copied().collect();
        size(&scene, &args)
    };
    answer(&[])
        .exits(0)
        .prints("At most 1.28 times the present peak load fits (reserve: 20 %); the writes of the disk limit it.")
        .prints("cpus         1.60 times: peak 4.00 CPUs (50 %) at 2026-11-20 14:00, p95 0.800; limit 8 CPUs (observed)");
    answer(&["--format", "json"])
        .exits(0)
        .prints("\"limiting\": \"write_iops\"");
    answer(&["--format", "csv"])
        .exits(0)
        .prints("server,shop,,,,,,,,1.28,,,at most; write_iops limits");
    // The mean of two hours, of which one has 1000 and the other one 200 writes per second.
    answer(&["--step", "2h"])
        .exits(0)
        .prints("peak 600 writes/s (38 %) at 2026-11-20 14:00")
        .prints("in steps of 2 h");
}

#[test]
fn a_run_record_has_flushes_and_a_storage_record_their_limit() {
    let scene = Scene::new();
    let answer = size(&scene, &["--headroom", RUN, "--storage", STORAGE]);
    let shown = answer.text();
    assert!(shown.lines().count() <= 12, "{shown}");
    let widest = shown.lines().map(|line| line.chars().count()).max();
    assert!(widest.is_some_and(|columns| columns <= 120), "{shown}");
    // The CPUs without those of dbdyno: (1.55 + 0.46 - 0.15) s of nearly all of the second second, of 2 CPUs: 93 %.
    answer
        .exits(0)
        .prints("At most 0.860 times the present peak load fits (reserve: 20 %); the CPUs limit it. Not known: net.")
        .prints("cpus         0.860 times: peak 1.86 CPUs (93 %) at 2026-11-22 07:40:35, ")
        .prints("limit 24.4k reads/s (measured)")
        .prints("fsync        0.954 times: peak 213 flushes/s (84 %) at 2026-11-22 07:40:36, ")
        .prints("; limit 3.94 ms per flush (measured)")
        .prints("limit not known (--target net=SPEED)")
        .prints("observed     3 s of run-0001 (run record) in steps of 1 s; one day: no interval");
    size(&scene, &["--headroom", RUNS])
        .says("other programs used much of the CPU (H14); their CPU time counts as if it grew with the load")
        .exits(0)
        .prints(" of experiment (run record) in steps of ");
}

#[test]
fn without_a_limit_there_is_no_answer() {
    let scene = Scene::new();
    let without_cpus: Vec<&str> = SHOP
        .lines()
        .filter(|it| !it.contains("LINUX-RESTART"))
        .collect();
    scene.file("shop.csv", &(without_cpus.join("\n") + "\n"));
    size(&scene, &["--headroom", "shop.csv", "--target", "memory=8G"])
        .exits(5)
        .prints(
            "The headroom is not known, because no resource has both a limit and an observed use.",
        )
        .prints("cpus         number of CPUs not in the files (--target cpus=N)")
        .prints("limit not known (--storage or --target read_iops=N)");
}

#[test]
fn bad_input_is_named() {
    let scene = scene();
    let refused = |args: &[&str], problem: &str| {
        let line: Vec<&str> = ["--headroom"].iter().chain(args).copied().collect();
        size(&scene, &line).exits(2).says(problem);
    };
    refused(&[], "RESULTS");
    refused(&["gone.csv"], "gone.csv");
    refused(
        &["shop.csv", "office.txt"],
        "the files are of several machines: office, shop",
    );
    let target = |target: &str, problem: &str| refused(&["shop.csv", "--target", target], problem);
    target("write_iops=-5", "write_iops: not a number above 0");
    target("memory=32", "memory: 32 has no unit");
    target("net=1", "net: 1 has no unit");
    target("fsync=1.2", "fsync: 1.2 has no unit");
    target("iops=5", "no name \"iops\"");
    target(
        "cpus=8,data=4G",
        "--target names data, which is no limit of a running server",
    );
    refused(
        &["shop.csv", "--step", "1min"],
        "shorter than the sampling interval of shop",
    );
    refused(&["shop.csv", "--storage", "gone.jsonl"], "gone.jsonl");
    refused(&["shop.csv", "--groups", "2"], "cannot be used with");
    refused(&["shop.csv", "--zipf", "0.9"], "cannot be used with");
    refused(
        &["--consolidate", "shop.csv", "office.txt"],
        "cannot be used with",
    );
    let negative = SHOP.replace(";20.00;", ";-20.00;");
    scene.file("negative.csv", &negative);
    refused(&["negative.csv"], "rtps is negative: -20.00");
    // Steps are of loads over time.
    size(&scene, &[RUNS, "--target", "cpus=2", "--step", "1h"])
        .exits(2)
        .says("--headroom");
}
