//! `dbdyno compare`: two levels of one recorded experiment, and inputs that cannot be compared.

use std::{fs, process::Command};

use crate::{experiment::Experiment, null_server::null_server, results::record_name, scene::Scene};

/// Unpacks the results `flush`, recorded from a real server on a disk: updates by one connection with a log that is synced
/// at every commit, and with one that is not, five times each.
fn two_flush_modes(scene: &Scene) {
    let packed = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/suite/fixtures/flush.tar.gz"
    );
    scene
        .launch(Command::new("tar"), ["-xzf", packed])
        .finish()
        .exits(0);
}

const SIDES: [&str; 3] = ["compare", "flush:flush_log=1", "flush:flush_log=2"];

fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&SIDES[..], more].concat()
}

#[test]
fn the_cost_of_synced_commits_is_named() {
    let scene = Scene::on_disk();
    two_flush_modes(&scene);
    // Fewer flushes are not a regression.
    scene
        .dbdyno(with(&["-v", "--fail-if", "fsyncs +5%"]))
        .exits(0)
        .prints("fsyncs +5 %: held")
        .prints("variable innodb_flush_log_at_trx_commit: 1 → 2")
        .prints_sentence("5 executions a side, in pairs")
        .prints("fsyncs of InnoDB")
        .prints_sentence("does not sync its redo log at every commit");
    let json = scene.dbdyno(with(&["--format", "json"])).exits(0).text();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let place = &json["combinations"][0];
    let measures = |kind: &str| place[kind].as_array().unwrap().clone();
    let fsyncs = measures("costs");
    let fsyncs = fsyncs
        .iter()
        .find(|cost| cost["measure"] == "fsyncs")
        .unwrap();
    assert!(
        fsyncs["a"].as_f64().unwrap() > 10.0 * fsyncs["b"].as_f64().unwrap(),
        "{fsyncs}"
    );
    assert_eq!(fsyncs["decision"], "faster", "{fsyncs}");
    assert_eq!(place["causes"][0]["rule"], "fsyncs", "{place:#}");
    assert!(
        measures("metrics")
            .iter()
            .any(|metric| metric["measure"] == "p50")
    );
    scene
        .dbdyno(with(&["--format", "markdown"]))
        .exits(0)
        .prints("| fsyncs of InnoDB |");

    // 100 times as many certainly are.
    let back = [
        "compare",
        "flush:flush_log=2",
        "flush:flush_log=1",
        "--fail-if",
        "fsyncs +900%",
    ];
    scene
        .dbdyno(back)
        .exits(1)
        .prints("fsyncs ×10.0: BROKEN")
        .says("B is worse than allowed: fsyncs");
    let record = |run| format!("flush/{}", record_name(run));
    let two = |one, other| format!("{},{}", record(one), record(other));
    // One execution of each level per side is not enough for a decision.
    scene
        .dbdyno([
            "compare",
            &two(1, 2),
            &two(3, 4),
            "--anyway",
            "--fail-if",
            "throughput -3%",
        ])
        .exits(5)
        .prints_sentence("undecided (too few executions or operations on a side)")
        .says("these runs cannot decide whether B is worse than allowed: throughput")
        .hints("more runs on each side");
}

#[test]
fn what_cannot_be_compared() {
    let scene = Scene::new();
    two_flush_modes(&scene);
    Experiment::default().write(&scene);
    let cases: [(&[&str], &str, &str); 9] = [
        (
            &["nowhere", "flush"],
            "\"nowhere\": no such results",
            "results directory",
        ),
        (&["flush", "flush"], "have runs in common", "FACTOR=LEVEL"),
        (
            &["flush:flush_log=3", "flush"],
            "no level \"3\"",
            "its levels are 1, 2",
        ),
        (
            &["flush:fs=xfs", "flush"],
            "no factor \"fs\"",
            "its factors are flush_log",
        ),
        (
            &["flush:flush_log=1", "flush:2"],
            "\"2\" is not FACTOR=LEVEL",
            "",
        ),
        (&["flush:flush_log=1", "trial.toml"], "trial.toml", ""),
        (
            &[
                "flush:flush_log=1",
                "flush:flush_log=2",
                "--fail-if",
                "new_orders_per_min -1%",
            ],
            "was not measured on both sides",
            "",
        ),
        (
            &["flush:flush_log=1", "empty"],
            "contains no run record",
            "",
        ),
        (
            &["disk", "flush"],
            "disk: contains a storage measurement and no run record",
            "dbdyno storage compare",
        ),
    ];
    std::fs::create_dir(scene.path().join("empty")).unwrap();
    std::fs::create_dir(scene.path().join("disk")).unwrap();
    scene.file(
        "disk/storage.jsonl",
        include_str!("../../../../audit/fixtures/storage/quick.jsonl"),
    );
    for (args, why, hint) in cases {
        let finished = scene
            .dbdyno([&["compare"], args].concat())
            .exits(2)
            .says(why);
        if !hint.is_empty() {
            finished.hints(hint);
        }
    }
    for (limit, why) in [
        ("p99", "not a measure followed by a change"),
        ("speed -5%", "is not a measure; available: throughput"),
        ("p99 -5%", "gets worse with +"),
    ] {
        scene.dbdyno(with(&["--fail-if", limit])).exits(2).says(why);
    }
    scene
        .dbdyno(with(&["--margin", "0"]))
        .exits(2)
        .says("above 0");
    // A damaged record is reported with its line; an incomplete one is omitted.
    let whole = std::fs::read_to_string(scene.path().join("flush/run-0001.jsonl")).unwrap();
    scene.file("cut.jsonl", &whole[..whole.len() / 2]);
    scene
        .dbdyno(["compare", "cut.jsonl", "flush"])
        .exits(2)
        .says("left out: cut.jsonl is incomplete")
        .says("no complete run");
    scene.file("broken.jsonl", &whole.replacen("\"line\"", "\"lime\"", 2));
    scene
        .dbdyno(["compare", "broken.jsonl", "flush"])
        .exits(2)
        .says("broken.jsonl: run record");
}

#[test]
fn sides_that_did_different_things_are_refused() {
    let scene = Scene::new();
    let small = Experiment {
        top: "seed = 3\nrepeats = 2",
        ..Experiment::default()
    };
    small.write(&scene);
    scene
        .dbdyno(["run", "trial.toml", "--simulate", "--results", "small"])
        .exits(0);
    let large = Experiment {
        data: "rows = \"4k\"",
        load: "connections = 3\nwarmup = \"500ms\"\nduration = \"2s\"".to_owned(),
        ..small
    };
    large.write(&scene);
    scene
        .dbdyno(["run", "trial.toml", "--simulate", "--results", "large"])
        .exits(0);
    scene
        .dbdyno(["compare", "small", "large"])
        .exits(2)
        .says("connections: 2 against 3; rows: 2000 against 4000")
        .prints_nothing()
        .hints("--anyway");
    scene
        .dbdyno(["compare", "small", "large", "--anyway"])
        .exits(0)
        .prints(
            "The sides did different things: connections: 2 against 3; rows: 2000 against 4000.",
        )
        .prints("2 executions a side");
}

/// Makes failures that a retry put right those of a load that only counts them.
fn without_retries(record: &std::path::Path) {
    let text = fs::read_to_string(record).unwrap();
    let lines = text.lines().map(|line| {
        let mut line: serde_json::Value = serde_json::from_str(line).unwrap();
        if line["line"] == "error" {
            line["retried"] = 0.into();
        }
        format!("{line}\n")
    });
    fs::write(record, lines.collect::<String>()).unwrap();
}

#[test]
fn figures_of_failures_decide_nothing() {
    let scene = Scene::new();
    for (side, options) in [
        ("a", &["--delay=5ms"][..]),
        ("b", &["--delay=5ms", "--error-rate=0.1"]),
    ] {
        let (server, socket) = null_server(&scene, options);
        for run in 1..=3 {
            let record = format!("{side}{run}.jsonl");
            let line = "oltp point_select run --tables 1 --table-size 1000 --connections 2 --time 1 --record";
            let mut words: Vec<&str> = line.split(' ').collect();
            words.extend([&record, "--socket", socket.to_str().unwrap()]);
            scene.dbdyno(words);
            without_retries(&scene.path().join(record));
        }
        server.signal(rustix::process::Signal::TERM);
        server.finish();
    }
    let sides = [
        "compare",
        "a1.jsonl,a2.jsonl,a3.jsonl",
        "b1.jsonl,b2.jsonl,b3.jsonl",
    ];
    scene
        .dbdyno(sides)
        .exits(5)
        // On a busy machine other findings may stand before this one.
        .says("these figures cannot decide the comparison: ")
        .says("B: in all 3 runs")
        .says("with error 1213 (W10)")
        .prints_nothing()
        .hints("--anyway");
    let text = scene.dbdyno([&sides[..], &["--anyway"]].concat()).exits(0);
    text.prints("fail W10 of B")
        .prints("A was measured before B");
    let json = scene
        .dbdyno([&sides[..], &["--anyway", "--format", "json"]].concat())
        .exits(0);
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(json["audit"]["measured_first"], "a");
    let findings = json["audit"]["findings"].as_array().unwrap();
    let failed = findings.iter().find(|it| it["rule"] == "W10").unwrap();
    assert_eq!(
        (&failed["side"], &failed["level"]),
        (&"b".into(), &"fail".into())
    );
}
