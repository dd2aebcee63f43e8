//! Combinations side by side on real servers: their loads take turns, and sessions are complete or repeated as a whole.

use std::{collections::BTreeSet, fs};

use rustix::process::Signal;
use samples::{Batches, DatasetState, Phase, Record};

use crate::{
    experiment::Experiment,
    mariadb::{MariaDb, PASSWORD},
    results::Results,
    scene::{Scene, first_child, wait_until},
    turns::{WITHIN_S, slices, take_turns, two_records},
};

const RUN: [&str; 4] = ["run", "trial.toml", "--results", "out"];

/// Two settings side by side, each measured for this time in a session.
fn trial(duration: &str) -> Experiment {
    Experiment {
        top: "seed = 3\ndesign = \"side by side\"\nslice = \"100ms\"\nsettle = \"50ms\"",
        matrix: "flush = [1, 2]".to_owned(),
        server: "set = { innodb_buffer_pool_size = \"16M\", key_buffer_size = \"64K\", \
                 innodb_flush_log_at_trx_commit = \"{flush}\" }"
            .to_owned(),
        load: format!(
            "mix = \"1:0\"\nconnections = 2\nwarmup = \"300ms\"\nduration = \"{duration}\""
        ),
        disturbed: "",
        ..Experiment::default()
    }
}

fn results(scene: &Scene) -> Results {
    Results::at(scene.path().join("out"))
}

#[test]
fn two_settings_take_turns_on_servers_of_their_own() {
    let scene = Scene::for_two_servers();
    trial("3s").write(&scene);
    scene
        .dbdyno(RUN)
        .exits(0)
        .says("run 1-2 of 2 side by side")
        .prints("measured  2 of 2 runs");
    scene.nothing_is_left();
    let records = two_records(&results(&scene));
    let mut servers = BTreeSet::new();
    let ends_s: Vec<f64> = records.iter().flat_map(slices).map(|it| it.1).collect();
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
        assert_eq!((turns.combinations.len(), turns.slices_at_most), (2, 30));
        let own = slices(record);
        let numbers: Vec<u32> = own.iter().map(|it| it.2).collect();
        assert_eq!(numbers, (1..=30).collect::<Vec<_>>());
        // In a pause operations come back that were due before the slice; new ones are due only while the load settles: on a
        // busy machine longer than planned, from the end of the slice before, of either load.
        for pause in record
            .intervals
            .iter()
            .filter(|it| it.phase == Phase::Pause)
        {
            let settles = own.iter().any(|(begin_s, ..)| {
                let earlier = ends_s.iter().filter(|it| **it <= begin_s + WITHIN_S);
                let earlier_s = earlier.copied().fold(0.0, f64::max);
                let settle_s = earlier_s.min(begin_s - turns.settle_s);
                pause.t_s >= settle_s - WITHIN_S && pause.t_s + pause.length_s <= begin_s + WITHIN_S
            });
            let mut operations = pause.operations.iter().filter(|it| it.count > 0);
            let were_due = operations.all(|it| it.min_ns as f64 * 1e-9 >= turns.slice_s - WITHIN_S);
            assert!(settles || were_due, "{pause:?}");
        }
        let measured = record.measured().unwrap();
        let mut sampled = record.telemetry.iter();
        assert!(sampled.any(|it| measured.holds(it.t_s, it.length_s)));
        let mut read = record.server_status.iter();
        assert!(read.any(|it| measured.holds(it.t_s, it.length_s)));
    }
    assert_eq!(servers.len(), 2, "{servers:?}");

    take_turns(&records);

    // Five slices are a batch, and batches of one number make a pair.
    let batches = Batches::of(&records);
    let blocks: Vec<u32> = batches.records.iter().map(|it| it.header.block).collect();
    assert_eq!(blocks, [1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6]);
    for batch in &batches.records {
        assert!((batch.totals().measured_s - 0.5).abs() < 0.01);
    }
    // On a busy machine half a second may have no read.
    for record in &records {
        assert!(record.totals().response().count > 0);
    }
}

#[test]
fn loads_on_one_existing_server_share_its_data() {
    let scene = Scene::for_servers();
    let mariadb = MariaDb::shared(&scene);
    let pair = trial("3s");
    let experiment = Experiment {
        matrix: "n = [1, 2]".to_owned(),
        server: format!(
            "{}\ndatabase = \"{}\"",
            mariadb.as_experiment(),
            mariadb.database()
        ),
        data: "rows = \"2k\"\nrestore = \"per-run\"",
        load: pair
            .load
            .replace("connections = 2", "connections = \"{n}\""),
        ..pair
    };
    experiment.write(&scene);
    scene.dbdyno(RUN).exits(0);
    let records = two_records(&results(&scene));
    take_turns(&records);
    let is_loaded = |record: &&Record| {
        assert!(record.is_complete(), "{:?}", record.end);
        let data = record.dataset.as_ref();
        data.unwrap().state == DatasetState::Loaded
    };
    assert_eq!(records.iter().filter(is_loaded).count(), 1);
}

#[test]
fn servers_of_a_killed_dbdyno_are_removed_and_its_session_is_repeated() {
    let scene = Scene::for_two_servers();
    trial("60s").write(&scene);
    let results = results(&scene);
    let are_measured = || [1, 2].iter().all(|run| results.measured_so_far(*run) > 1);
    let mut running = scene.start(RUN);
    running.wait_until("slices of both loads are measured", are_measured);
    running.signal(Signal::KILL);
    running.finish().was_killed_by(Signal::KILL);
    wait_until("the kernel has ended its servers", || {
        scene.servers().is_empty()
    });
    let mut again = scene.start(RUN.iter().chain(&["--resume"]));
    again.wait_until("the session is repeated", || {
        let names = results.names();
        let is_kept = |run: u32| names.contains(&format!("run-000{run}.incomplete-1.jsonl"));
        [1, 2].into_iter().all(is_kept) && are_measured()
    });
    assert_eq!(scene.servers().len(), 2);
    // An interruption also stops and removes them.
    again.signal(Signal::INT);
    again.finish().exits(130);
    scene.nothing_is_left();
    for record in two_records(&results) {
        assert_eq!(record.incomplete_why(), Some("interrupted"));
        assert!(!slices(&record).is_empty());
    }
}

#[test]
fn the_original_value_of_a_variable_is_back_after_a_kill() {
    let scene = Scene::for_servers();
    let mariadb = MariaDb::start(&scene, &[]);
    let value = || {
        let variable = "innodb_flush_log_at_trx_commit";
        let rows = mariadb.rows(&format!("SHOW GLOBAL VARIABLES LIKE '{variable}'"));
        rows[0][1].clone()
    };
    assert_eq!(value(), "1");
    let experiment = Experiment {
        matrix: "flush = [0, 2]".to_owned(),
        server: format!(
            "{}\ndatabase = \"{}\"\non_this_server = true\n\
             set = {{ innodb_flush_log_at_trx_commit = \"{{flush}}\" }}",
            mariadb.as_experiment(),
            mariadb.database()
        ),
        ..trial("60s")
    };
    experiment.write(&scene);
    let results = results(&scene);
    let mut running = scene.start(RUN);
    running.wait_until("slices of both values are measured", || {
        [1, 2].iter().all(|run| results.measured_so_far(*run) > 1)
    });
    assert!(["0", "2"].contains(&value().as_str()));
    let guard = first_child(running.pid()).expect("a guard waits");
    let command = fs::read_to_string(format!("/proc/{guard}/cmdline")).unwrap();
    assert!(command.contains("variables-guard"), "{command}");
    assert!(!command.contains(PASSWORD), "{command}");
    running.signal(Signal::KILL);
    running.finish().was_killed_by(Signal::KILL);
    wait_until("the original value is back", || value() == "1");
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
