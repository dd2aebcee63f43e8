//! `dbdyno size --consolidate` on the files of other programs and a run record; `crates/sizing/tests` tells of their
//! loads.

use crate::scene::{Finished, Scene};

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
        .prints("1.05k writes/s at 2026-11-20 14:00, 95.5 % of the capacity");
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
