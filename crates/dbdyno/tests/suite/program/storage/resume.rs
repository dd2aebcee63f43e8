//! Suites and bursts that continue after an interruption and a kill, and repeats in an order of their own.

use std::{fs, path::Path};

use rustix::process::Signal;
use samples::StorageRecord;

use super::*;

/// Patterns in the record of a suite so far.
fn patterns_in(results: &Path) -> usize {
    let record = StorageRecord::read(&results.join("storage.jsonl"));
    record.map_or(0, |it| it.patterns.len())
}

#[test]
fn a_suite_continues_after_an_interruption_and_a_kill() {
    if lacks_fio() {
        return;
    }
    let (scene, disk) = (Scene::new(), disk());
    let patterns = scene.file("mine.toml", PATTERNS);
    let results = scene.path().join("results/storage-suite-1");
    let fio = HeldFio::short(&scene);
    fio.allow(1);
    let mut running = fio.start(&scene, suite(disk.path(), &patterns, &[]));
    running.wait_until("the second pattern is measured", || fio.begun() == 2);
    running.signal(Signal::INT);
    running
        .finish()
        .exits(130)
        .hints("run the same command with --resume");
    assert_eq!(names_in(disk.path()).len(), 0, "nothing is left");
    assert!(results.join("storage.html").exists());
    assert_eq!(patterns_in(&results), 1);

    let mut running = fio.start(&scene, suite(disk.path(), &patterns, &["--resume"]));
    running.wait_until("it goes on", || fio.begun() == 3);
    running.signal(Signal::KILL);
    running.finish().was_killed_by(Signal::KILL);
    assert_eq!(names_in(disk.path()), ["dbdyno-storage-test"]);
    fio.release();

    // What the kill tore.
    let file = results.join("storage.jsonl");
    let torn = fs::read_to_string(&file).unwrap() + "{\"line\":\"patt";
    fs::write(&file, torn).unwrap();
    let other = suite(disk.path(), &patterns, &["--resume", "--engine", "psync"]);
    scene
        .dbdyno(other)
        .exits(2)
        .says("its engine is libaio, not psync");
    fio.start(&scene, suite(disk.path(), &patterns, &["--resume"]))
        .finish()
        .exits(0)
        .prints("requests/s, depth")
        .prints("16.0 KiB r100");
    let record = record(&scene, "results/storage-suite-1");
    let names: Vec<&str> = record
        .patterns
        .iter()
        .map(|it| it.pattern.name.as_str())
        .collect();
    assert_eq!(names, ["a", "b", "c"]);
    assert!(record.is_complete);
    let mixed = &record.patterns[1];
    assert!(mixed.read.is_some() && mixed.write.is_some());
    assert!(mixed.iops() > 0.0);
    assert_eq!(names_in(disk.path()).len(), 0, "nothing is left");

    // By hand, from the job file.
    let job = fs::read_to_string(results.join("patterns.fio")).unwrap();
    assert_eq!(job.matches("stonewall").count(), 3);
    for name in ["storage.json", "storage.csv"] {
        assert!(
            fs::metadata(results.join(name)).unwrap().len() > 100,
            "{name}"
        );
    }
    let page = fs::read_to_string(results.join("storage.html")).unwrap();
    assert!(page.contains("Requests per second by block size") && page.contains("[global]"));
}

#[test]
fn repeats_have_an_order_of_their_own_and_a_spread() {
    if lacks_fio() {
        return;
    }
    let (scene, disk) = (Scene::new(), disk());
    let patterns = scene.file("mine.toml", PATTERNS);
    let results = scene.path().join("results/storage-suite-1");
    let fio = HeldFio::short(&scene);
    fio.allow(4);
    let three = |more: &[&str]| {
        let words = [&["--repeats", "3"], more].concat();
        fio.start(&scene, suite(disk.path(), &patterns, &words))
    };
    let mut running = three(&[]);
    running.wait_until("it is amid the second repeat", || fio.begun() == 5);
    running.signal(Signal::INT);
    running.finish().exits(130);
    assert_eq!(patterns_in(&results), 4);
    fio.release();
    let seed = record(&scene, "results/storage-suite-1").header.order_seed;
    assert!(seed.is_some());
    scene
        .dbdyno(suite(disk.path(), &patterns, &["--resume"]))
        .exits(2)
        .says("its number of repeats is 3, not 1");
    three(&["--resume"])
        .finish()
        .exits(0)
        .prints_sentence("3 repeats of each pattern, in a random order (seed ")
        .prints_sentence("pattern requests/s 95 % interval between inside p99 (of single repeats)");
    let record = record(&scene, "results/storage-suite-1");
    assert_eq!(record.header.order_seed, seed, "the order is kept");
    let mut done: Vec<(u32, &str)> = record
        .patterns
        .iter()
        .map(|it| (it.repeat, it.pattern.name.as_str()))
        .collect();
    assert!(
        done.is_sorted_by_key(|it| it.0),
        "repeat by repeat: {done:?}"
    );
    done.sort_unstable();
    let names = ["a", "b", "c"];
    let all = (1..=3).flat_map(|repeat| names.map(|name| (repeat, name)));
    assert_eq!(done, all.collect::<Vec<_>>());
    let json = fs::read_to_string(results.join("storage.json")).unwrap();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let mixed = &json["patterns"][1];
    let rates: Vec<f64> = (0..3)
        .map(|index| {
            let side = |name: &str| mixed[name]["repeats"][index]["iops"].as_f64().unwrap();
            side("read") + side("write")
        })
        .collect();
    let mean = rates.iter().sum::<f64>() / 3.0;
    assert!((mixed["iops"].as_f64().unwrap() / mean - 1.0).abs() < 1e-6);
    let interval = mixed["iops_interval"].as_array().unwrap();
    assert!(interval[0].as_f64().unwrap() <= mean && mean <= interval[1].as_f64().unwrap());
    assert!(mixed["between"].as_f64().is_some());
    let csv = fs::read_to_string(results.join("storage.csv")).unwrap();
    assert!(
        csv.lines()
            .next()
            .unwrap()
            .ends_with("repeats,per_s_low,per_s_high,between")
    );
    let page = fs::read_to_string(results.join("storage.html")).unwrap();
    assert!(page.contains("id=\"repeats\""));
}

#[test]
fn a_burst_continues_cell_by_cell_and_a_steady_state_begins_anew() {
    if lacks_fio() {
        return;
    }
    let (scene, disk) = (Scene::new(), disk());
    let path = text(disk.path());
    let burst = |more: &[&str]| {
        let fixed = [
            "storage", "burst", &path, "--sizes", "16M", "--depths", "1,2",
        ];
        let timed = ["--seconds", "1", "--pause", "1"];
        let all = fixed.iter().chain(&timed).chain(more);
        all.map(|word| (*word).to_owned()).collect::<Vec<_>>()
    };
    let results = scene.path().join("results");
    let read = |name: &str| StorageRecord::read(&results.join(name).join("storage.jsonl"));
    let fio = HeldFio::new(&scene);
    fio.allow(1);
    let mut running = fio.start(&scene, burst(&[]));
    running.wait_until("the second course begins", || fio.begun() == 2);
    running.signal(Signal::KILL);
    running.finish().was_killed_by(Signal::KILL);
    fio.release();
    let before = read("storage-burst-1").unwrap().bursts;
    assert_eq!(before.len(), 1, "{before:?}");
    let other: Vec<String> = burst(&["--resume", "--reads", "0"]);
    scene.dbdyno(other).exits(2).says("its patterns is ");
    scene
        .dbdyno(burst(&["--resume"]))
        .exits(0)
        .prints("none found in 2 cells");
    let after = record(&scene, "results/storage-burst-1");
    assert!(after.is_complete);
    assert_eq!(
        after.bursts[..before.len()],
        before,
        "the measurements so far are kept"
    );
    let depths: Vec<u32> = after.bursts.iter().map(|it| it.pattern.depth).collect();
    assert_eq!(depths, [1, 2]);
    let pauses: Vec<f64> = after.bursts.iter().map(|it| it.pause_s).collect();
    assert_eq!(pauses, [0.0, 1.0]);

    let steady = [
        "storage",
        "steady",
        &path,
        "--size",
        "16M",
        "--seconds",
        "1",
        "--rounds",
        "99",
    ];
    let rounds = || read("storage-steady-1").map_or(0, |it| it.rounds.len());
    fio.allow(fio.begun() + 1);
    let mut running = fio.start(&scene, steady);
    running.wait_until("a round is measured", || rounds() == 1);
    running.signal(Signal::KILL);
    running.finish().was_killed_by(Signal::KILL);
    scene
        .dbdyno(steady.iter().chain(&["--resume"]).copied())
        .exits(2)
        .says("steady cannot be resumed")
        .hints("begins with the first round");
}

#[test]
fn a_second_course_that_an_interruption_took_is_told() {
    if lacks_fio() {
        return;
    }
    let (scene, disk) = (Scene::new(), disk());
    let path = text(disk.path());
    let burst = ["storage", "burst", &path, "--sizes", "16M", "--depths", "1"];
    let timed = ["--seconds", "1", "--pause", "1"];
    let burst = [&burst[..], &timed].concat();
    let fio = HeldFio::short(&scene);
    fio.start(&scene, &burst).finish().exits(0);
    // As if the rate had fallen for good, and dbdyno had ended amid the pause after it.
    let file = scene.path().join("results/storage-burst-1/storage.jsonl");
    let lines = fs::read_to_string(&file).unwrap();
    let lines = lines
        .lines()
        .take_while(|it| !it.contains("\"line\":\"end\""));
    let fallen = lines.map(|line| match line.split_once("\"iops\":[") {
        None => format!("{line}\n"),
        Some((before, after)) => {
            let (_, after) = after.split_once(']').unwrap();
            let rates = [["1000"; 60], ["100"; 60]].concat().join(",");
            format!("{before}\"iops\":[{rates}]{after}\n")
        }
    });
    let fallen: String = fallen.collect();
    fs::write(&file, fallen).unwrap();
    fio.start(&scene, [&burst[..], &["--resume"]].concat())
        .finish()
        .exits(0)
        .says("its second measurement is left out");
}
