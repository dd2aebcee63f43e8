//! `dbdyno audit`: results of real runs, rule by rule, and inputs that cannot be audited.

use std::fs;

use crate::{audited::Audited, experiment::Experiment, scene::Scene};

/// Runs updates with two durability levels on a server started for each run; results are in `flush`.
fn two_durabilities(scene: &Scene) {
    let experiment = Experiment {
        top: "seed = 3\nrepeats = 2",
        matrix: "flush_log = [1, 2]".to_owned(),
        server: "set = { innodb_flush_log_at_trx_commit = \"{flush_log}\" }".to_owned(),
        load: "mix = \"0:1\"\nconnections = 2\nwarmup = \"200ms\"\nduration = \"2s\"".to_owned(),
        ..Experiment::default()
    };
    experiment.write(scene);
    scene
        .dbdyno(["run", "trial.toml", "--results", "flush"])
        .exits(0)
        .prints("trust     ");
}

#[test]
fn an_experiment_is_audited_as_a_whole() {
    let scene = Scene::for_servers_on_disk();
    two_durabilities(&scene);
    let page = fs::read_to_string(scene.path().join("flush/report.html")).unwrap();
    assert!(page.contains("id=\"audit\""), "the page has no audit");
    let audit = Audited::of(&scene, &["flush"]);
    // Declared durability is a note, two executions are a warning; all other relevant rules pass.
    audit
        .finds("C01", "note", "class D4 and D2")
        .finds("M01", "warn", "2 executions");
    for id in ["C02", "C12", "M12", "W10", "W16"] {
        audit.finds(id, "pass", "");
    }
    // The names of the levels give the difference when they are passed as sides.
    fs::create_dir(scene.path().join("one")).unwrap();
    fs::create_dir(scene.path().join("two")).unwrap();
    for run in 1..=4 {
        let name = format!("run-{run:04}.jsonl");
        let from = scene.path().join("flush").join(&name);
        let text = fs::read_to_string(&from).unwrap();
        let side = if text.contains("\"flush_log\":\"1\"") {
            "one"
        } else {
            "two"
        };
        fs::copy(from, scene.path().join(side).join(name)).unwrap();
    }
    scene
        .dbdyno(["audit", "one", "two", "--rule", "C02"])
        .exits(1)
        .prints_sentence("one thing differs: innodb_flush_log_at_trx_commit: 1 in one, 2 in two");
    scene
        .dbdyno([
            "audit",
            "one",
            "two",
            "--rule",
            "c01",
            "--factor",
            "innodb_flush_log_at_trx_commit",
        ])
        .exits(1)
        .prints("INVALID  C01");
}

#[test]
fn what_cannot_be_audited_is_an_error() {
    let scene = Scene::for_servers();
    fs::create_dir(scene.path().join("empty")).unwrap();
    scene
        .dbdyno(["audit", "empty"])
        .exits(2)
        .says("empty: contains no run record");
    scene.dbdyno(["audit", "nowhere"]).exits(2).says("nowhere");
    scene.file("broken.jsonl", "{\"line\":\n{}\n");
    scene
        .dbdyno(["audit", "broken.jsonl"])
        .exits(2)
        .says("broken.jsonl")
        .says("line 1 is not valid");
    scene
        .dbdyno(["audit", "empty", "--rule", "Z99"])
        .exits(2)
        .says("there is no such rule");
    scene
        .dbdyno(["audit", "empty", "--level", "bad"])
        .exits(2)
        .says("one of invalid, fail, warn, note, pass");
    scene.dbdyno(["audit"]).exits(2).says("required");
    scene
        .dbdyno(["audit", "empty", "--factor", "x"])
        .exits(2)
        .says("--factor");
    scene
        .dbdyno(["audit", "--explain", "T03"])
        .exits(0)
        .prints("Little");
}

#[test]
fn a_torn_record_is_audited_up_to_where_it_is_torn() {
    let scene = Scene::for_servers();
    let record = include_str!("../../../../audit/fixtures/mysql-insert.jsonl");
    let cut = record.len() - 200;
    scene.file("torn.jsonl", &record[..cut]);
    scene
        .dbdyno(["audit", "torn.jsonl", "--rule", "M12"])
        .exits(1)
        .says("the last line is incomplete")
        .prints("was interrupted: dbdyno ended before the run did");
}
