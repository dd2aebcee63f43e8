//! Combinations side by side on real servers: their loads take turns, and sessions are complete or repeated as a whole.

use std::collections::BTreeSet;

use rustix::process::{Signal, kill_process};
use samples::{Batches, Phase, Record};

use crate::{
    experiment::Experiment,
    results::Results,
    scene::{Running, Scene, wait_until},
};

const RUN: [&str; 4] = ["run", "trial.toml", "--results", "out"];
/// Rounding of times in a record, seconds.
const WITHIN_S: f64 = 1e-6;

/// Two settings side by side, each measured for this time in a session.
fn trial(duration: &str) -> Experiment {
    Experiment {
        top: "seed = 3\ndesign = \"side by side\"\nslice = \"200ms\"\nsettle = \"50ms\"",
        matrix: "flush = [1, 2]".to_owned(),
        server: "set = { innodb_buffer_pool_size = \"16M\", key_buffer_size = \"64K\", \
                 innodb_flush_log_at_trx_commit = \"{flush}\" }"
            .to_owned(),
        load: format!(
            "mix = \"1:0\"\nconnections = 2\nwarmup = \"300ms\"\nduration = \"{duration}\""
        ),
        ..Experiment::default()
    }
}

fn records(scene: &Scene) -> [Record; 2] {
    [1, 2].map(|run| {
        let name = format!("out/run-{run:04}.jsonl");
        Record::open(&scene.path().join(name)).unwrap()
    })
}

/// Begin, end and number of the slices of a record.
fn slices(record: &Record) -> Vec<(f64, f64, u32)> {
    let mut slices: Vec<(f64, f64, u32)> = Vec::new();
    for interval in &record.intervals {
        let Some(number) = interval.slice else {
            continue;
        };
        let end_s = interval.t_s + interval.length_s;
        match slices.last_mut() {
            Some(last) if last.2 == number => last.1 = end_s,
            _ => slices.push((interval.t_s, end_s, number)),
        }
    }
    slices
}

/// Starts a session of a minute, and waits until slices of both loads are measured.
fn start_long(scene: &Scene) -> Running {
    trial("60s").write(scene);
    let mut running = scene.start(RUN);
    let results = Results::at(scene.path().join("out"));
    running.wait_until("slices of both loads are measured", || {
        [1, 2].iter().all(|run| results.measured_so_far(*run) > 1)
    });
    running
}

#[test]
fn two_settings_take_turns_on_servers_of_their_own() {
    let scene = Scene::for_servers();
    trial("3s").write(&scene);
    scene
        .dbdyno(RUN)
        .exits(0)
        .says("run 1-2 of 2 side by side")
        .prints("measured  2 of 2 runs");
    scene.nothing_is_left();
    let records = records(&scene);
    let mut servers = BTreeSet::new();
    for record in &records {
        assert!(record.is_complete(), "{:?}", record.end);
        let level = &record.header.combination["flush"];
        for server in &record.servers {
            assert_eq!(
                server.variables.get("innodb_flush_log_at_trx_commit"),
                Some(level)
            );
            servers.insert(server.address.clone());
        }
        let turns = record.side_by_side.as_ref().unwrap();
        assert_eq!((turns.combinations.len(), turns.slices_at_most), (2, 15));
        let own = slices(record);
        let numbers: Vec<u32> = own.iter().map(|it| it.2).collect();
        assert_eq!(numbers, (1..=15).collect::<Vec<_>>());
        // In a pause operations come back that were due before it; new ones are due only while the load settles.
        for pause in record
            .intervals
            .iter()
            .filter(|it| it.phase == Phase::Pause)
        {
            let settles = own.iter().any(|(begin_s, ..)| {
                let settle_s = begin_s - turns.settle_s - WITHIN_S;
                pause.t_s >= settle_s && pause.t_s + pause.length_s <= begin_s + WITHIN_S
            });
            let count: u64 = pause.operations.iter().map(|it| it.count).sum();
            assert!(settles || count == 0, "{pause:?}");
        }
        let measured = record.measured().unwrap();
        let mut sampled = record.telemetry.iter();
        assert!(sampled.any(|it| measured.holds(it.t_s, it.length_s)));
        let mut read = record.server_status.iter();
        assert!(read.any(|it| measured.holds(it.t_s, it.length_s)));
    }
    assert_eq!(servers.len(), 2, "{servers:?}");

    // One load at a time, and every block of slices has one of each.
    let mut all = records.each_ref().map(slices).concat();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    for pair in all.windows(2) {
        assert!(pair[0].1 <= pair[1].0 + WITHIN_S, "{pair:?}");
    }
    let numbers: Vec<u32> = all.iter().map(|it| it.2).collect();
    assert!(numbers.is_sorted(), "{numbers:?}");

    // Five slices are a batch, and batches of one number make a pair.
    let batches = Batches::of(&records);
    let blocks: Vec<u32> = batches.records.iter().map(|it| it.header.block).collect();
    assert_eq!(blocks, [1, 2, 3, 1, 2, 3]);
    for batch in &batches.records {
        let totals = batch.totals();
        assert!((totals.measured_s - 1.0).abs() < 0.01);
        assert!(totals.response().count > 0);
    }
}

#[test]
fn a_server_that_dies_in_a_session_ends_it_and_all_of_it_is_repeated() {
    let scene = Scene::for_servers();
    let running = start_long(&scene);
    let servers = scene.servers();
    assert_eq!(servers.len(), 2, "{servers:?}");
    kill_process(servers[0], Signal::KILL).unwrap();
    running
        .finish()
        .exits(3)
        .says("run of flush=")
        .says("the server went away")
        .hints("--resume");
    scene.nothing_is_left();
    let whys = records(&scene).map(|it| it.incomplete_why().unwrap().to_owned());
    let named = whys
        .iter()
        .filter(|why| why.contains("ended with the run of flush="));
    assert_eq!(named.count(), 1, "{whys:?}");
    for record in records(&scene) {
        assert!(!slices(&record).is_empty());
    }
}

#[test]
fn an_interrupted_session_keeps_what_was_measured() {
    let scene = Scene::for_servers();
    let running = start_long(&scene);
    running.signal(Signal::INT);
    running.finish().exits(130);
    scene.nothing_is_left();
    for record in records(&scene) {
        assert_eq!(record.incomplete_why(), Some("interrupted"));
        assert!(!slices(&record).is_empty());
    }
}

#[test]
fn servers_of_a_killed_dbdyno_are_removed_and_its_session_is_repeated() {
    let scene = Scene::for_servers();
    let running = start_long(&scene);
    running.signal(Signal::KILL);
    running.finish().was_killed_by(Signal::KILL);
    wait_until("the kernel has ended its servers", || {
        scene.servers().is_empty()
    });
    let mut again = scene.start(RUN.iter().chain(&["--resume"]));
    let results = Results::at(scene.path().join("out"));
    again.wait_until("the session is repeated", || {
        let names = results.names();
        [1, 2].iter().all(|run| {
            names.contains(&format!("run-000{run}.incomplete-1.jsonl"))
                && results.measured_so_far(*run) > 1
        })
    });
    assert_eq!(scene.servers().len(), 2);
    again.signal(Signal::INT);
    again.finish().exits(130);
    scene.nothing_is_left();
}

#[test]
fn servers_that_do_not_fit_into_the_memory_are_refused() {
    let scene = Scene::for_servers();
    let experiment = Experiment {
        matrix: "pool = [\"16M\", \"4P\"]".to_owned(),
        server: "set = { innodb_buffer_pool_size = \"{pool}\" }".to_owned(),
        ..trial("3s")
    };
    experiment.write(&scene);
    scene
        .dbdyno(RUN)
        .exits(4)
        .says("not enough memory for 2 servers side by side")
        .hints("design = \"classical\"");
    scene.nothing_is_left();
}
