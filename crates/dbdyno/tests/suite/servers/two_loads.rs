//! Several loads on a real server: a record and figures for each, measured at the same time, compared with themselves.

use figures::RunFigures;
use rustix::process::Signal;
use samples::{Phase, Record};

use crate::{audited::Audited, results::Results, scene::Scene};

/// A batch job of a factor's number of connections beside point selects; without connections it is left out. It only
/// reads: one synced commit on a busy disk can outlast the run.
const BESIDE: &str = r#"
format = 1
order = "file"
[matrix]
batch = [0, 2]
[server]
set = { innodb_buffer_pool_size = "32M" }
[data]
oltp = { tables = 1, table_size = "1k" }
[[load]]
name = "oltp"
oltp = { script = "point_select" }
connections = 2
think_time = "10ms"
warmup = "200ms"
duration = "2s"
[[load]]
name = "batch"
script = "batch.sql"
connections = "{batch}"
think_time = "10ms"
[verdict]
baseline = { batch = 0 }
[disturbed]
repeats = "0 %"
"#;

const BATCH: &str = "SELECT SUM(k) FROM sbtest1 WHERE id BETWEEN 1 AND 20;\n";

fn write(scene: &Scene, text: &str) {
    scene.file("batch.sql", BATCH);
    scene.file("trial.toml", text);
}

fn record(scene: &Scene, name: &str) -> Record {
    Record::open(&scene.path().join("out").join(name)).unwrap()
}

#[test]
fn two_loads_are_measured_at_the_same_time() {
    let scene = Scene::for_servers();
    write(&scene, BESIDE);
    let plan = ["run", "trial.toml", "--plan"];
    scene
        .dbdyno(plan)
        .exits(0)
        .prints("loads   oltp  batch")
        .prints("2 combinations x 1 repeat = 2 runs");
    let run = ["run", "trial.toml", "--results", "out"];
    scene.dbdyno(run).exits(0).prints("measured  2 of 2 runs");
    let results = Results::at(scene.path().join("out"));
    let names = results.names();
    let records = names.iter().filter(|name| name.starts_with("run-"));
    assert_eq!(
        records.collect::<Vec<_>>(),
        [
            "run-0001-oltp.jsonl",
            "run-0002-batch.jsonl",
            "run-0002-oltp.jsonl"
        ]
    );
    let alone = record(&scene, "run-0001-oltp.jsonl");
    let oltp = record(&scene, "run-0002-oltp.jsonl");
    let batch = record(&scene, "run-0002-batch.jsonl");
    assert!(alone.header.beside.is_empty());
    assert_eq!(oltp.header.beside, ["batch"]);
    assert_eq!(batch.header.beside, ["oltp"]);
    assert_eq!(batch.header.combination["load"], "batch");
    assert_ne!(oltp.header.seed, batch.header.seed);
    for record in [&alone, &oltp, &batch] {
        assert!(record.is_complete(), "{:?}", record.end);
        assert_eq!(record.connections(), 2);
        let figures = RunFigures::of(record);
        assert!(figures.count > 0 && figures.errors == 0);
        assert!(figures.measured_s >= 1.99, "{}", figures.measured_s);
        assert!(!record.telemetry.is_empty() && !record.server_status.is_empty());
        assert_eq!(record.servers.len(), 2);
    }
    // Machine and server were sampled once, for both.
    assert_eq!(oltp.telemetry, batch.telemetry);
    assert_eq!(oltp.server_status, batch.server_status);
    let [a, b] = [&oltp, &batch].map(|it| it.measured_window_s().unwrap());
    assert!(a.0 < b.1 && b.0 < a.1, "they do not overlap: {a:?} {b:?}");

    // Each record's row, and the loads as a factor.
    let rows = results.sql(
        "SELECT run, load, batch, planned_run FROM results JOIN runs USING (run) ORDER BY run",
    );
    let row = |run: i64, load: &str, batch: &str, planned: i64| {
        let text = |text: &str| text.to_owned().into();
        vec![run.into(), text(load), text(batch), planned.into()]
    };
    assert_eq!(
        rows,
        [
            row(1, "oltp", "0", 1),
            row(2, "oltp", "2", 2),
            row(3, "batch", "2", 2)
        ]
    );
    let page = results.text("report.html");
    assert!(page.contains("batch") && page.contains("Every run (3)"));
    // OLTP is compared with OLTP only: the batch job has nothing to be compared with.
    let json = scene
        .dbdyno(["report", "out", "--format", "json"])
        .exits(0)
        .text();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["planned_runs"], 2);
    assert_eq!(json["complete_runs"], 2);
    let comparisons = json["verdict"]["comparisons"].as_array().unwrap();
    assert_eq!(comparisons.len(), 1, "{comparisons:?}");
    assert!(comparisons[0].to_string().contains("\"oltp\""));
    // The server's questions are those of both loads, and of no other client.
    // On a busy machine the counts cannot be compared.
    let audit = Audited::of(&scene, &["out"]);
    assert_ne!(audit.rule("T04")["level"], "fail", "{}", audit.rule("T04"));
    scene.nothing_is_left();

    // A run of which one record is incomplete is done again; both records of the attempt are kept.
    let path = results.file("run-0002-batch.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    let without_end = &text[..text.trim_end().rfind('\n').unwrap()];
    std::fs::write(&path, without_end).unwrap();
    let resumed = [run.as_slice(), &["--resume"]].concat();
    scene
        .dbdyno(resumed)
        .exits(0)
        .prints("measured  2 of 2 runs");
    let names = results.names();
    for load in ["batch", "oltp"] {
        assert!(names.contains(&format!("run-0002-{load}.incomplete-1.jsonl")));
        let again = record(&scene, &format!("run-0002-{load}.jsonl"));
        assert!(again.is_complete());
    }
}

#[test]
fn each_load_has_a_verdict_of_its_own() {
    let scene = Scene::for_servers();
    let text = BESIDE
        .replace("[matrix]\nbatch = [0, 2]", "[matrix]\nflush = [1, 2]")
        .replace("\"32M\"", "\"32M\", innodb_flush_log_at_trx_commit = \"{flush}\"")
        .replace("\"{batch}\"\nthink_time = \"10ms\"", "1\nrate = 20")
        .replace("baseline = { batch = 0 }", "baseline = { flush = 1 }")
        .replace("[verdict]", "[[answer]]\nname = \"The job\"\nwhere = { load = \"batch\" }\nbaseline = { flush = 1 }\n[verdict]");
    write(&scene, &text);
    scene
        .dbdyno(["run", "trial.toml", "--results", "out"])
        .has_measured()
        .prints("The job");
    let json = scene
        .dbdyno(["report", "out", "--format", "json"])
        .exits(0)
        .text();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let comparisons = json["verdict"]["comparisons"].as_array().unwrap();
    assert_eq!(comparisons.len(), 2, "{comparisons:?}");
    let batch = record(&scene, "run-0001-batch.jsonl");
    let due = batch.offered.as_ref().unwrap().due;
    assert!(due > 0, "some are due in 2 s at 20 a second");
    // The results are compared load by load, whatever a busy machine did to them.
    scene
        .dbdyno([
            "compare",
            "--anyway",
            "out:flush=1",
            "out:flush=2",
            "--format",
            "json",
        ])
        .prints("\"oltp\"")
        .prints("\"batch\"");
}

#[test]
fn a_load_that_fails_ends_the_other() {
    let scene = Scene::for_servers();
    let text = BESIDE
        .replace("batch = [0, 2]", "batch = [2]")
        .replace("baseline = { batch = 0 }\n", "")
        .replace("[verdict]\n", "")
        .replace("duration = \"2s\"", "duration = \"60s\"");
    write(&scene, &text);
    scene.file("batch.sql", "UPDATE no_such_table SET k = 1;\n");
    scene
        .dbdyno(["run", "trial.toml", "--results", "out"])
        .exits(3)
        .says("load batch: ");
    let why = |name: &str| {
        let record = record(&scene, name);
        assert!(!record.is_complete());
        record.incomplete_why().unwrap().to_owned()
    };
    assert!(why("run-0001-batch.jsonl").contains("no_such_table"));
    let oltp = why("run-0001-oltp.jsonl");
    // Before its first operation it has no end of its own.
    assert!(oltp.contains("load batch: "), "{oltp}");
    scene.nothing_is_left();

    // A load that has begun ends with the one that fails: after 300 reads by a key, which the job does not do.
    scene.file(
        "batch.sql",
        "\\sleep 20 ms\nSELECT IF(variable_value < 300, 1, (SELECT 1 UNION SELECT 2)) FROM \
         information_schema.global_status WHERE variable_name = 'HANDLER_READ_KEY';\n",
    );
    scene
        .dbdyno(["run", "trial.toml", "--results", "again"])
        .exits(3)
        .says("load batch: ");
    let oltp = why("../again/run-0001-oltp.jsonl");
    assert!(oltp.starts_with("ended with the load batch: "), "{oltp}");
}

#[test]
fn an_interrupted_run_keeps_what_both_measured() {
    let scene = Scene::for_servers();
    let text = BESIDE
        .replace("batch = [0, 2]", "batch = [2]")
        .replace("[verdict]\nbaseline = { batch = 0 }\n", "")
        .replace("duration = \"2s\"", "duration = \"60s\"");
    write(&scene, &text);
    let mut running = scene.start(["run", "trial.toml", "--results", "out"]);
    let results = Results::at(scene.path().join("out"));
    running.wait_until("both loads are measured", || {
        ["oltp", "batch"].iter().all(|load| {
            let path = results.file(&format!("run-0001-{load}.jsonl"));
            let text = std::fs::read_to_string(path).unwrap_or_default();
            text.contains("\"phase\":\"measurement\",\"operations\"")
        })
    });
    running.signal(Signal::INT);
    running.finish().exits(130);
    for load in ["oltp", "batch"] {
        let record = record(&scene, &format!("run-0001-{load}.jsonl"));
        assert_eq!(record.incomplete_why(), Some("interrupted"));
        let measured = record.intervals.iter();
        assert!(measured.filter(|it| it.phase == Phase::Measurement).count() > 0);
    }
    scene.nothing_is_left();
}
