//! `dbdyno size`: `--consolidate` on the files of other programs and a run record, `--target` on the records of a small
//! experiment, and on runs against the null server, whose law is the truth; `crates/sizing/tests` has more figures.

use rustix::process::Signal;
use serde_json::Value;

use crate::{
    null_server::{null_server, write_smack},
    scene::{Finished, Scene},
};

const FILES: [(&str, &str); 4] = [
    (
        "shop.csv",
        include_str!("../../../../sizing/fixtures/shop.csv"),
    ),
    (
        "office.txt",
        include_str!("../../../../sizing/fixtures/office.txt"),
    ),
    (
        "reports.csv",
        include_str!("../../../../sizing/fixtures/reports.csv"),
    ),
    (
        "backup.jsonl",
        include_str!("../../../../sizing/fixtures/backup.jsonl"),
    ),
];

fn scene() -> Scene {
    let scene = Scene::new();
    for (name, content) in FILES {
        scene.file(name, content);
    }
    scene
}

fn size(scene: &Scene, more: &str) -> Finished {
    let names = FILES.map(|(name, _)| name);
    let begin = ["size", "--consolidate"].into_iter().chain(names);
    scene.dbdyno(begin.chain(more.split_whitespace()))
}

#[test]
fn systems_with_peaks_at_different_times_are_put_together() {
    let scene = scene();
    let answer = size(&scene, "--cpus reports=8");
    let lines = answer.text().lines().count();
    assert!(lines <= 12, "{lines}");
    let widest = answer.text().lines().map(|line| line.chars().count()).max();
    assert!(widest.is_some_and(|columns| columns <= 120), "{widest:?}");
    answer
        .exits(0)
        .prints("write_iops   together: 1.95k writes/s at 2026-11-20 14:00, 43 % less than the sum of the peaks (3.40k)")
        .prints("together     shop + backup (")
        .prints("apart        shop + office: ")
        .prints("one day: no interval")
        .prints("left out     memory (not in office, reports)")
        .says("note: times are compared as they are written: in UTC in shop, backup");
    size(&scene, "--format json")
        .exits(0)
        .prints("\"peak_of_sum\": 1950.0");
    size(&scene, "--format csv")
        .exits(0)
        .prints("sum,shop+office+reports+backup,write_iops,1/s,1950,,,3400");
    size(&scene, "--step 2h").exits(0).prints("in steps of 2 h");
}

#[test]
fn a_capacity_that_no_partition_keeps_is_a_negative_answer() {
    let scene = scene();
    size(&scene, "--groups 2 --capacity write_iops=1100")
        .exits(0)
        .prints("1.05k writes/s at 2026-11-20 14:00, 95.5 % of the capacity")
        .prints_sentence("95.5 % of the capacity, only 4.5 % in reserve");
    size(&scene, "--groups 2 --capacity write_iops=1000")
        .exits(1)
        .prints("105 % of the capacity: does not fit");
    size(&scene, "--capacity memory=64G")
        .exits(2)
        .says("--capacity names memory, which was not measured in all systems");
}

#[test]
fn a_directory_is_one_system() {
    let scene = scene();
    std::fs::create_dir(scene.path().join("both")).unwrap();
    scene.file("both/a.txt", FILES[1].1);
    scene.file("both/b.csv", FILES[2].1);
    // The files of a system at the same time are averaged: two values of one resource are not two systems.
    scene
        .dbdyno(["size", "--consolidate", "both", "shop.csv"])
        .exits(0)
        .prints("both + shop");
    std::fs::create_dir(scene.path().join("none")).unwrap();
    scene
        .dbdyno(["size", "--consolidate", "none", "shop.csv"])
        .exits(2)
        .says("none: no files in it");
}

#[test]
fn bad_input_is_named() {
    let scene = scene();
    let refused = |files: &[&str], problem: &str| {
        let line = ["size", "--consolidate"].iter().chain(files);
        scene.dbdyno(line).exits(2).says(problem);
    };
    refused(&["shop.csv"], "only one system is named (shop)");
    refused(&["shop.csv", "gone.csv"], "gone.csv: ");
    scene.file("notes.csv", "time,writes\n1,2\n");
    refused(
        &["shop.csv", "notes.csv"],
        "notes.csv: unknown kind of file",
    );
    let negative = FILES[0].1.replace(";20.00;", ";-20.00;");
    scene.file("negative.csv", &negative);
    refused(&["negative.csv", "office.txt"], "rtps is negative: -20.00");
    // Systems of which one ends before the other one begins.
    let (head, _) = FILES[1].1.split_once("11/20/2026 07:00:00 AM").unwrap();
    scene.file("morning.txt", head);
    let is_late = |line: &&str| !line.starts_with("2026/11/20 0");
    let late: Vec<&str> = FILES[2].1.lines().filter(is_late).collect();
    scene.file("late.csv", &(late.join("\n") + "\n"));
    refused(
        &["morning.txt", "late.csv"],
        "no resource was measured in all systems at the same dates and times",
    );
    refused(
        &["shop.csv", "office.txt", "--step", "7000s"],
        "does not divide a day",
    );
    refused(
        &["shop.csv", "office.txt", "--step", "1min"],
        "shorter than the sampling interval of shop",
    );
    refused(
        &["shop.csv", "office.txt", "--groups", "3"],
        "--groups 3 for 2 systems",
    );
    refused(
        &["shop.csv", "office.txt", "--cpus", "web=8"],
        "--cpus names web",
    );
    refused(
        &["shop.csv", "office.txt", "--capacity", "iops=8"],
        "no resource \"iops\"",
    );
    scene
        .dbdyno(["size", "--consolidate", "notes.csv", "shop.csv"])
        .hints("the output of `sadf -d` (sar)");
    scene.dbdyno(["size"]).exits(2).says("--consolidate");
}

#[test]
fn a_torn_record_is_read_up_to_its_last_line() {
    let scene = scene();
    let record = FILES[3].1;
    let end = record.trim_end().rfind('\n').unwrap();
    scene.file("torn.jsonl", &record[..end - 20]);
    scene
        .dbdyno(["size", "--consolidate", "torn.jsonl", "shop.csv"])
        .exits(0)
        .says("note: torn.jsonl: the last line is incomplete and is ignored");
}

/// Twelve short runs: two sizes of the data, three numbers of connections, two blocks.
pub(super) const RUNS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../audit/fixtures/experiment");
const FIRST_RUN: &str = include_str!("../../../../audit/fixtures/experiment/run-0001.jsonl");

/// The smaller of their two buffer pools in relation to the data.
pub(super) const TARGET: &str =
    "cpus=2,read_iops=3000,write_iops=3000,fsync=1ms,net=1G,data=16960K";

#[test]
fn a_target_is_predicted_from_the_records_of_an_experiment() {
    let scene = Scene::new();
    let size = |more: &[&str]| {
        let begin = ["size", RUNS, "--target", TARGET];
        scene.dbdyno(begin.iter().chain(more))
    };
    let answer = size(&[]);
    let shown = answer.text();
    assert!(shown.lines().count() <= 12, "{shown}");
    let widest = shown.lines().map(|line| line.chars().count()).max();
    assert!(widest.is_some_and(|columns| columns <= 120), "{shown}");
    answer
        .exits(0)
        .prints("The target can do ")
        .prints("cpus         at most ")
        .prints(" by 3.00k reads/s, ")
        .prints(" page reads per operation")
        .prints("memory       buffer pool as measured for 16.6 MiB of data: 48 % in memory")
        .prints("scaling      no scaling model: four or more numbers of connections are needed")
        .prints("measured     12 executions of tiny on 10.11.18-MariaDB-0+deb12u1 in 2 blocks")
        .prints("problems     ")
        .prints_sentence("beside other programs (H14): 12 of 12");
    size(&["--format", "json"])
        .exits(0)
        .prints("\"limit\": \"write_iops\"")
        .prints("\"beside_other_programs\": 12,");
    size(&["--format", "csv"])
        .exits(0)
        .prints("limit,read_iops,3000,")
        .prints("\nproblems,,,,,,");
}

#[test]
fn a_storage_record_has_the_limits_of_its_disk() {
    let scene = Scene::new();
    let record = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../audit/fixtures/storage/quick.jsonl"
    );
    let size = |storage: &str| {
        let target = "data=16960K,write_iops=100";
        scene.dbdyno(["size", RUNS, "--target", target, "--storage", storage])
    };
    size(record)
        .exits(0)
        .prints(" by 24.4k reads/s, ")
        .prints(" by 100 writes/s, ")
        .prints(" by 3.94 ms per flush, ");
    size("gone.jsonl").exits(2).says("gone.jsonl");
}

/// Simulated CPU time is no CPU time of the process: only reads are tested here. The measured disk has another limit than
/// the target. That each operation has 2.5 page reads is tested by the server's log (`truth.rs`); here, counters and
/// operations are not read at exactly the same time.
#[test]
fn a_read_limit_that_was_not_measured_is_predicted_from_counted_reads() {
    let scene = Scene::new();
    let law = ["--reads-per-statement", "2.5", "--read-iops", "1000"];
    let (server, socket) = null_server(&scene, &law);
    write_smack(&scene, &socket, "select c from t where id = 1");
    let text = format!(
        "format = 1\nrepeats = 2\n[server]\naddress = {socket:?}\nuser = \"u\"\n\
         [load]\nsmack = \"one.smack\"\nconnections = 8\nwarmup = \"500ms\"\nduration = \"2s\"\n\
         [disturbed]\nrepeats = \"0 %\"\n"
    );
    scene.file("trial.toml", &text);
    scene
        .dbdyno(["run", "trial.toml", "--results", "out"])
        .exits(0);
    server.signal(Signal::TERM);
    server.finish().exits(0).says(" page reads");
    let answer = scene.dbdyno([
        "size",
        "out",
        "--target",
        "read_iops=500",
        "--format",
        "json",
    ]);
    let found: Value = serde_json::from_str(&answer.text()).unwrap();
    answer.exits(0);
    assert_eq!(found["throughput"]["binding"][0]["limit"], "read_iops");
    let per_s = found["throughput"]["per_s"]["estimate"].as_f64().unwrap();
    let page_reads = found["demands"]["page_reads"]["estimate"].as_f64().unwrap();
    assert!(page_reads > 0.0, "{page_reads}");
    // The target does as many operations as their page reads allow.
    let reads_per_s = per_s * page_reads;
    assert!((reads_per_s - 500.0).abs() < 1e-6, "{reads_per_s}");
}

#[test]
fn what_was_not_measured_is_no_answer() {
    let scene = Scene::new();
    let size = |target: &str| scene.dbdyno(["size", RUNS, "--target", target]);
    size("cpus=64,data=16960K")
        .exits(5)
        .prints("The throughput is not known, because measurements for cpus are missing.")
        .prints("measure on 16 or more");
    size("read_iops=3000,data=16960K,buffer_pool=12M")
        .exits(5)
        .prints_sentence("measure 3 or more buffer pools around it");
}

#[test]
fn bad_records_and_targets_are_named() {
    let scene = Scene::new();
    let refused = |args: &[&str], problem: &str| {
        let line = ["size"].iter().chain(args);
        scene.dbdyno(line).exits(2).says(problem);
    };
    refused(
        &[RUNS, "--target", "read_iops=3000"],
        "--target names no size of the data, and the records have 4.52 MiB to 16.6 MiB",
    );
    refused(
        &[RUNS, "--target", "memory=8G,data=1G"],
        "--target names no limit",
    );
    refused(
        &[RUNS, "--target", "memory=32,cpus=2"],
        "memory: 32 has no unit",
    );
    refused(&[RUNS], "--target");
    for (growth, problem) in [
        ("4%", "has no period; for example 4%/month or 2G/month"),
        ("4/month", "4 has no unit"),
        ("-4%/month", "-4% is not above 0"),
        ("0G/year", "0G is not above 0"),
    ] {
        refused(&[RUNS, "--target", "cpus=2", "--grow", growth], problem);
    }
    let none = [
        RUNS, "--target", "cpus=2", "--grow", "4%/month", "--tps", "0",
    ];
    refused(&none, "not a number above 0");
    // A disk alone is no machine.
    refused(&[RUNS, "--tps", "5", "--storage", "gone"], "--target");
    for option in ["--grow=4%/month", "--tps=5", "--html=a.html"] {
        refused(&["--consolidate", "a", option], "cannot be used with");
    }
    refused(&["--target", "cpus=2"], "RESULTS");
    refused(&[RUNS, RUNS, "--target", "cpus=2"], "is named twice");
    refused(&["gone", "--target", "cpus=2"], "gone");
    refused(
        &[RUNS, "--target", "cpus=2", "--groups", "2"],
        "cannot be used with",
    );
    scene.file("once.jsonl", FIRST_RUN);
    refused(
        &["once.jsonl", "--target", "cpus=2"],
        "only one execution of each combination (1 in all)",
    );
    let other = FIRST_RUN.replace("10.11.18-MariaDB-0+deb12u1", "11.4.2-MariaDB");
    scene.file("other.jsonl", &other);
    refused(
        &["once.jsonl", "other.jsonl", "--target", "cpus=2"],
        "other.jsonl: another server than in once.jsonl: version 11.4.2-MariaDB",
    );
    let (begin, _) = FIRST_RUN.trim_end().rsplit_once('\n').unwrap();
    scene.file("torn.jsonl", &(begin.to_owned() + "\n"));
    refused(
        &["torn.jsonl", "--target", "cpus=2"],
        "torn.jsonl: the run is incomplete: dbdyno ended before the run did",
    );
}
