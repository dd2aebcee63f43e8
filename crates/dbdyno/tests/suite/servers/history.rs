//! `dbdyno history` and `dbdyno rerun`: results over time, and experiments repeated from their directories alone.

use std::{fs, path::Path};

use rustix::process::Signal;
use samples::Record;

use crate::{
    experiment::{Experiment, SMACK},
    null_server::null_server,
    results::{Results, names_in},
    scene::Scene,
};

/// Runs an experiment in a separate directory, with an option file above it, into `first`, and removes its files.
fn run_and_remove(scene: &Scene) {
    let experiment = Experiment {
        top: "seed = 3\nrepeats = 2\nquestion = \"How fast?\"",
        server: "cnf = [\"../base.cnf\"]".to_owned(),
        load: "connections = 2\nwarmup = \"200ms\"\nduration = \"500ms\"".to_owned(),
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
        "\norder     A was measured before B: the interval does not cover what changed",
        "\ndiffers   nothing that is recorded of server, machine, data and method\n",
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
        .says("holds results already");
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
        .prints("a change of level takes 6 to be seen");
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

#[test]
fn what_cannot_be_done_again_or_shown() {
    let scene = Scene::for_servers();
    scene.dbdyno(["history"]).exits(0).prints("no results yet");
    scene
        .dbdyno(["history", "--of", "trial"])
        .exits(2)
        .says("no results of \"trial\"");
    scene
        .dbdyno(["rerun", "nowhere"])
        .exits(2)
        .says("nowhere: no such results");
    fs::create_dir(scene.path().join("empty")).unwrap();
    scene
        .dbdyno(["rerun", "empty"])
        .exits(2)
        .says("holds no run record");
    scene
        .dbdyno(["history", "--dir", "empty"])
        .exits(2)
        .says("empty: no results there");
    scene
        .dbdyno(["history", "--of", "trial", "--metric", "speed"])
        .exits(2)
        .says("no such metric or cost; available: throughput");
    scene
        .dbdyno(["history", "--metric", "p50"])
        .exits(2)
        .says("--of");
    // The header of a single run contains its options and no experiment.
    let header = r#"{"line":"run","format":1,"dbdyno_version":"0.1.0","experiment":"oltp point_select","experiment_sha256":"","seed":1,"run":1,"block":1,"combination":{"connections":"2"},"started_at":"2026-11-21T10:14:24Z","connections":2,"loops":2,"io":"epoll","transport":"unix socket"}"#;
    scene.file("empty/record.jsonl", &format!("{header}\n"));
    scene
        .dbdyno(["rerun", "empty"])
        .exits(2)
        .says("the command of this run of `oltp point_select` was not kept: its server, duration")
        .hints("connections 2");
    let of_an_experiment = header.replace("sha256\":\"\"", "sha256\":\"ab\"");
    scene.file("empty/record.jsonl", &format!("{of_an_experiment}\n"));
    scene
        .dbdyno(["rerun", "empty"])
        .exits(2)
        .says("results without origin.json");
    assert_eq!(names_in(Path::new(&scene.path().join("empty"))).len(), 1);
}

#[test]
fn a_single_run_is_done_again_by_its_command() {
    let scene = Scene::for_servers();
    let (server, socket) = null_server(&scene, &["--delay=2ms"]);
    let then = ["oltp", "point_select", "run", "--threads=2", "--events=40"];
    let place = ["--password=hare", "--record=a/record.jsonl", "--socket"];
    let line = then.iter().chain(&place).copied();
    scene.dbdyno(line.chain(socket.to_str())).exits(0);
    let record = |name: &str| Record::open(&scene.path().join(name).join("record.jsonl")).unwrap();
    assert!(!format!("{:?}", record("a").command).contains("hare"));
    scene
        .dbdyno(["rerun", "a"])
        .exits(2)
        .says("its password was not kept")
        .hints("--password-file");
    scene.file("secret", "hare\n");
    let again = ["--password-file", "secret", "--results", "b"];
    let rerun = |more: &[&str]| scene.dbdyno(["rerun", "a"].iter().chain(&again).chain(more));
    rerun(&["--keep"])
        .exits(2)
        .says("--keep is for experiments");
    rerun(&[])
        .exits(0)
        .says("again: dbdyno oltp point_select run --threads=2 --events=40 --socket ")
        .prints("then (A) and now (B)")
        .prints("A  a\nB  b");
    rerun(&[]).exits(2).says("b: holds results already");
    assert_eq!(record("a").header.seed, record("b").header.seed);
    scene
        .dbdyno([
            "rerun",
            "a/record.jsonl",
            "--results",
            "c",
            "--password-file",
            "secret",
        ])
        .exits(0)
        .prints("A  a/record.jsonl\nB  c");
    server.signal(Signal::TERM);
    server.finish().exits(0);
    // Without a server the command ends with the error of the connection.
    scene
        .dbdyno(["rerun", "a", "--results", "d", "--password-file", "secret"])
        .exits(3)
        .says("null.sock");
}

/// The text for two results of the same server that differ only in time.
const NOTHING_DIFFERS: &str =
    "differs   nothing that is recorded of server, machine, data and method";

/// `dbdyno quick` on an existing server, interrupted after the first of its three runs.
#[test]
fn quick_is_done_again_on_the_server_that_is_there() {
    let scene = Scene::for_servers();
    // Eight clients have 400 answers a second on any machine.
    let (server, socket) = null_server(&scene, &["--delay=20ms"]);
    let line = format!("quick --socket={}", socket.display());
    let mut then = scene.start(line.split(' '));
    let results = Results::at(scene.path().join("results/quick-1"));
    then.wait_until("its second run measures", || results.measured_so_far(2) > 0);
    then.signal(Signal::INT);
    then.finish().exits(130);
    scene
        .dbdyno(["rerun", "results/quick-1", "--results", "again"])
        .exits(0)
        .says(&format!("again: dbdyno {line}"))
        .prints("measured  3 of 3 runs")
        .prints("then (A) and now (B):\n\nA  results/quick-1\nB  again")
        .prints(NOTHING_DIFFERS)
        .prints("connections 8: inconclusive: throughput");
    let (then, now) = (
        results.record(1),
        Results::at(scene.path().join("again")).record(1),
    );
    assert_eq!(then.one("run")["seed"], now.one("run")["seed"]);
    server.signal(Signal::TERM);
    server.finish().exits(0);
}
