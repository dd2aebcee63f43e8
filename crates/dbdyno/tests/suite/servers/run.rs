//! `dbdyno run`: from an experiment file to its records, its summary and its report.

use std::{collections::BTreeSet, process::Command};

use rusqlite::types::Value;

use crate::{
    experiment::Experiment,
    results::{Results, names_in},
    scene::Scene,
};

/// Two mixes by two numbers of connections.
fn four_combinations() -> Experiment {
    Experiment {
        top: "question = \"Does it bend?\"\nseed = 3",
        matrix: "mix = [\"1:0\", \"1:1\"]\nconnections = [1, 4]".to_owned(),
        load: "mix = \"{mix}\"\nconnections = \"{connections}\"\nwarmup = \"200ms\"\n\
               duration = \"2s\"\n[report]\n\
               chart = { x = \"connections\", line = \"mix\", y = [\"throughput\"] }"
            .to_owned(),
        ..Experiment::default()
    }
}

fn real(value: &Value) -> f64 {
    match value {
        Value::Real(number) => *number,
        Value::Integer(number) => *number as f64,
        other => panic!("{other:?} is not a number"),
    }
}

/// The value of `33.7k` or `928`.
fn as_shown(text: &str) -> f64 {
    match text.strip_suffix('k') {
        Some(thousands) => thousands.parse::<f64>().unwrap() * 1000.0,
        None => text.parse().unwrap(),
    }
}

#[test]
fn a_plan_runs_nothing() {
    let scene = Scene::for_servers();
    four_combinations().write(&scene);
    let before = names_in(scene.path());
    scene
        .dbdyno(["run", "trial.toml", "--plan"])
        .exits(0)
        .prints("4 combinations x 1 repeat = 4 runs")
        .prints("time    about ");
    assert_eq!(names_in(scene.path()), before);
}

#[test]
fn every_combination_is_recorded_and_reported() {
    let scene = Scene::for_servers();
    let text = four_combinations().text();
    four_combinations().write(&scene);
    let ended = scene
        .dbdyno(["run", "trial.toml", "-v"])
        .exits(0)
        .prints("measured  4 of 4 runs")
        .prints("page      results/trial-1/report.html");
    scene.nothing_is_left();

    let results = Results::at(scene.path().join("results/trial-1"));
    let expected = [
        "dbdyno-results.json",
        "experiment.json",
        "experiment.toml",
        "files",
        "origin.json",
        "report.html",
        "run-0001.jsonl",
        "run-0002.jsonl",
        "run-0003.jsonl",
        "run-0004.jsonl",
        "summary.sqlite",
    ];
    assert_eq!(results.names(), BTreeSet::from(expected.map(str::to_owned)));
    assert_eq!(results.text("experiment.toml"), text);

    let mut seen = BTreeSet::new();
    let page = results.text("report.html");
    for number in 1..=4 {
        let record = results.record(number);
        let header = record.one("run");
        let combination = &header["combination"];
        assert!(
            seen.insert(combination.to_string()),
            "{combination} comes twice"
        );
        let connections = combination["connections"].as_str().unwrap();
        assert_eq!(header["connections"].to_string(), connections);
        assert_eq!(record.one("connects")["count"].to_string(), connections);
        assert_eq!(record.one("dataset")["rows"], 2000);
        assert_eq!(record.one("machine")["host"], "both");
        assert!(record.is_complete());
        assert_eq!(record.errors(), 0);
        assert!(record.measured_s() >= 0.95, "{} s", record.measured_s());
        assert!(
            record
                .all("telemetry")
                .all(|telemetry| telemetry["server"].is_object())
        );
        let updates = record
            .measured()
            .any(|interval| interval.to_string().contains("update_index"));
        assert_eq!(updates, combination["mix"] == "1:1");

        let row = &results.sql(&format!(
            "SELECT complete, count, throughput_per_s, mix FROM results WHERE run = {number}"
        ))[0];
        let throughput = record.came_back() as f64 / record.measured_s();
        assert_eq!(row[0], Value::Integer(1));
        assert_eq!(row[1], Value::Integer(record.count() as i64));
        assert!(
            (real(&row[2]) / throughput - 1.0).abs() < 1e-6,
            "{row:?} is not {throughput}"
        );
        assert_eq!(
            row[3],
            Value::Text(combination["mix"].as_str().unwrap().to_owned())
        );

        // The same figure in the terminal's table and, with the same digits, in the page's.
        let table = ended.text();
        let cells = table
            .lines()
            .map(|line| line.split_whitespace().collect::<Vec<_>>());
        let cells = cells.filter(|cells| {
            cells.len() > 4 && cells[..2] == [combination["mix"].as_str().unwrap(), connections]
        });
        let shown: Vec<_> = cells.map(|cells| cells[2].to_owned()).collect();
        assert_eq!(shown.len(), 1, "{table}");
        assert!(
            (as_shown(&shown[0]) / throughput - 1.0).abs() < 0.006,
            "{shown:?}: {throughput}"
        );
        assert!(
            page.contains(&format!(">{}<", shown[0])),
            "the page lacks {shown:?}"
        );
    }
}

#[test]
fn a_busy_machine_is_told_and_no_run_is_done_again() {
    let scene = Scene::for_servers();
    Experiment {
        matrix: "connections = [1, 2]".to_owned(),
        load: "connections = \"{connections}\"\nwarmup = \"200ms\"\nduration = \"2s\"".to_owned(),
        disturbed: "others = \"1 %\"\nrepeats = \"50 %\"",
        ..Experiment::default()
    }
    .write(&scene);
    // Other work: a loop that is busy on one CPU for half of the time.
    let half = "while :; do timeout 0.1 sh -c 'while :; do :; done'; sleep 0.1; done";
    let mut hog = Command::new("sh").args(["-c", half]).spawn().unwrap();
    let run_output = scene.dbdyno(["run", "trial.toml", "--results", "out", "-v"]);
    hog.kill().unwrap();
    hog.wait().unwrap();
    let results = Results::at(scene.path().join("out"));
    let names = results.names();
    assert!(
        !names.iter().any(|name| name.contains(".disturbed-")),
        "{names:?}"
    );
    run_output
        .exits(0)
        .says("this machine is busy: 2 of the 2 runs of the first block were disturbed (other programs used")
        .prints_sentence("were disturbed by other programs and are still included in the figures");
}

#[test]
fn rows_follow_the_buffer_pool() {
    let scene = Scene::for_servers();
    Experiment {
        matrix: "rows = [\"0.5x\", \"1x\"]".to_owned(),
        // About as much as the rows that dbdyno loads to know their size.
        server: "set = { innodb_buffer_pool_size = \"24M\" }".to_owned(),
        data: "rows = \"{rows}\"",
        ..Experiment::default()
    }
    .write(&scene);
    scene
        .dbdyno(["run", "trial.toml", "--results", "out"])
        .exits(0);
    let results = Results::at(scene.path().join("out"));
    for number in 1..=2 {
        let record = results.record(number);
        let wanted = match record.one("run")["combination"]["rows"].as_str() {
            Some("0.5x") => 0.5,
            _ => 1.0,
        };
        let data = record.one("dataset");
        assert_eq!(data["buffer_pool_bytes"], 24 << 20);
        let found = data["disk_bytes"].as_f64().unwrap() / f64::from(24 << 20);
        assert!(
            (found / wanted - 1.0).abs() < 0.25,
            "{wanted} times the pool was asked for: {data}"
        );
    }
}

#[test]
fn settings_reach_the_server() {
    let scene = Scene::for_servers();
    scene.file(
        "durable.cnf",
        "[mysqld]\ninnodb_flush_log_at_trx_commit = 1\nmax_connections = 77\n",
    );
    scene.file(
        "lazy.cnf",
        // The last one is too small, and is adjusted to the minimum.
        "[mysqld]\ninnodb_flush_log_at_trx_commit = 0\nmax_connections = 77\nsort_buffer_size = 1\n",
    );
    Experiment {
        matrix: "pool = [\"8M\", \"16M\"]\nlog = [\"durable\", \"lazy\"]\n[[exclude]]\npool = \"8M\"\nlog = \"lazy\""
            .to_owned(),
        server: "cnf = [\"{log}.cnf\"]\n\
                 set = { innodb_buffer_pool_size = \"{pool}\", max_connections = 88 }"
            .to_owned(),
        ..Experiment::default()
    }
    .write(&scene);
    scene
        .dbdyno(["run", "trial.toml", "--results", "out"])
        .exits(0);
    let results = Results::at(scene.path().join("out"));
    let mut seen = BTreeSet::new();
    for number in 1..=3 {
        let record = results.record(number);
        let combination = &record.one("run")["combination"];
        let level = |factor: &str| combination[factor].as_str().unwrap();
        let bytes = if level("pool") == "8M" {
            8 << 20
        } else {
            16 << 20
        };
        let flush = if level("log") == "durable" { "1" } else { "0" };
        let expected = [bytes.to_string(), flush.to_owned(), "88".to_owned()];
        let variables = [
            "innodb_buffer_pool_size",
            "innodb_flush_log_at_trx_commit",
            "max_connections",
        ];
        assert_eq!(
            variables.map(|name| record.variable("start", name)),
            expected
        );
        for server in record.all("server") {
            let changed = server["settings_changed"].as_array();
            let changed = changed.map_or(0, |changed| {
                let about = changed.iter().map(|line| line.as_str().unwrap());
                about
                    .filter(|line| line.contains("sort_buffer_size"))
                    .count()
            });
            assert_eq!(changed > 0, flush == "0", "{server}");
        }
        seen.insert(expected);
    }
    assert_eq!(
        seen.len(),
        3,
        "one combination is excluded, the others ran once each"
    );
}

/// Statements that store the state before and after a run in two variables, which the record contains.
const UPDATED_ROWS: &str = "\
before = [\"set global lock_wait_timeout = (select 1000 + count(*) from http_auth where pass regexp '[0-9]')\"]
after = [\"create or replace table after_run as select count(*) as updated from http_auth where pass regexp '[0-9]'\"]";

#[test]
fn a_run_meets_what_the_data_settings_say() {
    for (restore, meets_the_last_runs_updates) in [("per-run", false), ("never", true)] {
        let scene = Scene::for_servers();
        Experiment {
            top: "repeats = 2",
            data: if restore == "never" {
                "rows = \"2k\"\nrestore = \"never\""
            } else {
                "rows = \"2k\"\nrestore = \"per-run\""
            },
            each: UPDATED_ROWS,
            load: "mix = \"0:1\"\nconnections = 2\nwarmup = \"200ms\"\nduration = \"2s\""
                .to_owned(),
            ..Experiment::default()
        }
        .write(&scene);
        let ended = scene
            .dbdyno(["run", "trial.toml", "--results", "out", "--keep"])
            .exits(0);
        let results = Results::at(scene.path().join("out"));
        let rows_met = |run: u32| {
            let record = results.record(run);
            let value: u64 = record
                .variable("start", "lock_wait_timeout")
                .parse()
                .unwrap();
            value.checked_sub(1000).expect("the statement ran")
        };
        assert_eq!(rows_met(1), 0, "the first run meets the rows as loaded");
        let kept = ended
            .stderr
            .split("kept: dbdyno server start ")
            .nth(1)
            .unwrap();
        let kept = kept.lines().next().unwrap();
        scene.dbdyno(["server", "start", kept]).exits(0);
        let sql = "select updated from after_run";
        let updated = scene.dbdyno(["server", "client", kept, "--", "test", "-N", "-e", sql]);
        let updated: u64 = updated.exits(0).text().trim().parse().unwrap();
        assert!(
            updated > 0,
            "a run updates some, and after it that is counted"
        );
        scene.dbdyno(["server", "destroy", kept]).exits(0);
        let met = rows_met(2);
        assert_eq!(
            met > 0,
            meets_the_last_runs_updates,
            "restore {restore}: run 2 met {met}"
        );
    }
}
