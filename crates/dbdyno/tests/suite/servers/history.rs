//! `dbdyno history` and `dbdyno rerun`: results over time, and experiments repeated from their directories alone.

use std::fs;

use crate::{
    experiment::{Experiment, SMACK},
    results::Results,
    scene::Scene,
};

/// Runs an experiment in a separate directory, with an option file above it, into `first`, and removes its files.
fn run_and_remove(scene: &Scene) {
    let experiment = Experiment {
        top: "seed = 3\nrepeats = 2\nquestion = \"How fast?\"",
        server: "cnf = [\"../base.cnf\"]".to_owned(),
        load: "connections = 2\nwarmup = \"200ms\"\nduration = \"2s\"".to_owned(),
        ..Experiment::default()
    };
    fs::create_dir(scene.path().join("in")).unwrap();
    scene.file("base.cnf", "[mysqld]\nmax_connections = 77\n");
    scene.file("in/hp-sizing.smack", SMACK);
    scene.file("in/trial.toml", &experiment.text());
    scene
        .dbdyno(["run", "in/trial.toml", "--results", "first", "--seed", "5"])
        .exits(0);
    fs::remove_dir_all(scene.path().join("in")).unwrap();
    fs::remove_file(scene.path().join("base.cnf")).unwrap();
}

fn sha256(scene: &Scene, results: &str) -> String {
    let results = Results::at(scene.path().join(results));
    let record = results.record(1);
    assert_eq!(record.variable("start", "max_connections"), "77");
    record.one("run")["experiment_sha256"]
        .as_str()
        .unwrap()
        .to_owned()
}

#[test]
fn results_are_done_again_from_their_directory_alone() {
    let scene = Scene::for_servers();
    run_and_remove(&scene);
    let again = scene
        .dbdyno(["rerun", "first", "--results", "second"])
        .exits(0)
        .prints("2 executions a side");
    // Its own lines, complete; those of the run and of the comparison between and after them are tested elsewhere.
    let told = again.stderr.lines().find(|line| line.starts_with("then: "));
    let (time, command) = told.unwrap().split_once(" by ").unwrap();
    assert!(
        time.ends_with('Z') && time.len() == "then: 2026-11-22T08:13:41Z".len(),
        "{time}"
    );
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(
        command,
        format!("dbdyno {version}: dbdyno run in/trial.toml --results first --seed 5")
    );
    let text = again.text();
    let (run, comparison) = text.split_once("page      second/report.html\n").unwrap();
    assert!(run.contains("measured  2 of 2 runs"), "{run}");
    // Its private server was in another directory, which is no difference.
    let heading = "\nthen (A) and now (B):\n\nA  first\nB  second\n";
    assert!(comparison.starts_with(heading), "{comparison}");
    for sentence in [
        "\norder     A was measured before B: the interval does not cover changes",
        "\ndiffers   nothing recorded about server, machine, data or method\n",
    ] {
        assert!(comparison.contains(sentence), "{comparison}");
    }
    assert_eq!(
        sha256(&scene, "first"),
        sha256(&scene, "second"),
        "the same experiment"
    );
    scene
        .dbdyno(["rerun", "second", "--results", "first"])
        .exits(2)
        .says("already contains results");
    scene
        .dbdyno(["history"])
        .exits(0)
        .prints("trial")
        .prints("/first\n")
        .prints("/second\n")
        .prints("throughput ");
    scene
        .dbdyno(["history", "--of", "trial", "--metric", "p50"])
        .exits(0)
        .prints("trial: p50 over 2 results")
        .prints("a change of level needs 6 to be detected");
    fs::rename(scene.path().join("second"), scene.path().join("away")).unwrap();
    let listed = scene
        .dbdyno(["history"])
        .exits(0)
        .prints("1 result is gone");
    assert!(!listed.text().contains("/second"), "{}", listed.text());
    scene
        .dbdyno(["history", "--dir", "."])
        .exits(0)
        .prints("./away\n")
        .conceals("gone");

    // A summary is not computed again until a record changes.
    let list = scene.path().join(".local/share/dbdyno/history.jsonl");
    let lines = || fs::read_to_string(&list).unwrap().lines().count();
    let known = lines();
    scene.dbdyno(["history"]).exits(0).prints("trial");
    assert_eq!(lines(), known);
    let record = scene.path().join("first/run-0002.jsonl");
    let text = fs::read_to_string(&record).unwrap();
    fs::write(&record, text.trim_end()).unwrap();
    scene.dbdyno(["history"]).exits(0).prints("trial");
    assert_eq!(lines(), known + 1);
    fs::write(&record, text).unwrap();
    scene
        .dbdyno(["history", "--forget"])
        .exits(0)
        .prints("1 forgotten");
    assert_eq!(lines(), 1);
    scene.dbdyno(["history"]).exits(0).conceals("gone");

    // A changed copy is not the experiment that was run.
    let copy = scene.path().join("first/files/_up/base.cnf");
    assert!(copy.exists());
    fs::write(&copy, "[mysqld]\nmax_connections = 78\n").unwrap();
    scene
        .dbdyno(["rerun", "first"])
        .exits(2)
        .says("../base.cnf has changed since");
    fs::remove_file(&copy).unwrap();
    scene
        .dbdyno(["rerun", "first"])
        .exits(2)
        .says("_up/base.cnf");
    assert!(!scene.path().join("results").exists(), "nothing was begun");
}
