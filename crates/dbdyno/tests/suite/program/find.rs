//! `find = { p99 = "20ms" }`: the highest rate that keeps a limit is searched for, run by run.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value;

use crate::{
    null_server::{null_server, write_smack},
    results::record_name,
    scene::{Running, Scene},
};

/// Time that the server takes for each statement of a connection.
const SERVICE: &str = "20ms";

/// Starts a null server with this service time, and writes a search with one connection: a queue at one server, which
/// executes at most 50 statements per second on any machine.
fn write(scene: &Scene, at_most: u32, find: &str) -> Running {
    let (server, socket) = null_server(scene, &["--delay", SERVICE]);
    write_smack(scene, &socket, "select c from t where id = 1");
    let text = format!(
        "format = 1\nseed = 3\nrepeats = \"until decided\"\nat_most = {at_most}\n\
         [server]\naddress = {socket:?}\nuser = \"u\"\n\
         [load]\nsmack = \"one.smack\"\nconnections = 1\nwarmup = \"100ms\"\nduration = \"500ms\"\n\
         arrivals = \"constant\"\nfind = {find}\n[disturbed]\nrepeats = \"0 %\"\n"
    );
    scene.file("trial.toml", &text);
    server
}

/// The records of complete runs.
fn records(scene: &Scene) -> Vec<PathBuf> {
    let numbered = (1..=100).map(|run| scene.path().join("out").join(record_name(run)));
    numbered.take_while(|path| path.exists()).collect()
}

fn lines(record: &Path) -> Vec<Value> {
    let text = fs::read_to_string(record).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
    lines.collect()
}

/// The level of the rate of each run.
fn rates(scene: &Scene) -> Vec<String> {
    let records = records(scene).into_iter();
    let rate = |record: PathBuf| lines(&record)[0]["combination"]["rate"].clone();
    records
        .map(|record| rate(record).as_str().unwrap().to_owned())
        .collect()
}

/// True if the client sent as planned: on a machine without time for it, the search ends with what it could send.
fn was_offered(scene: &Scene) -> bool {
    let records = records(scene).into_iter();
    let mut offered = records.flat_map(|record| lines(&record));
    offered.all(|line| line["shortfall"]["cause"] != "client")
}

#[test]
fn a_limit_below_the_service_time_is_never_kept() {
    let scene = Scene::new();
    let _server = write(&scene, 12, "{ p99 = \"5ms\", from = 40 }");
    scene
        .dbdyno(["run", "trial.toml", "--plan"])
        .exits(0)
        .prints("1 combination x at most 12 repeats, until decided = at most 12 runs")
        .prints("find    the highest rate with p99 < 5 ms");
    let ended = scene.dbdyno(["run", "trial.toml", "--results", "out"]);
    let rates = rates(&scene);
    assert!((1..=12).contains(&rates.len()), "{rates:?}");
    // No rate below that of the first run is tried, because the file names it.
    assert!(rates.iter().all(|rate| rate == "40"), "{rates:?}");
    if was_offered(&scene) {
        ended
            .exits(1)
            .prints("p99 < 5 ms is not kept even at 40.0/s")
            .says("limit not kept: p99 < 5 ms is not kept even at 40.0/s");
    }
}

#[test]
fn a_limit_that_the_highest_rate_keeps_ends_the_search_and_a_resumed_one_is_over() {
    let scene = Scene::new();
    let _server = write(&scene, 6, "{ p50 = \"20s\", from = 40, to = 40 }");
    let ended = scene.dbdyno(["run", "trial.toml", "--results", "out"]);
    if !was_offered(&scene) {
        return;
    }
    let answer = "p50 < 20 s up to 40.0/s, the highest rate tried";
    let runs = records(&scene).len();
    assert!((3..6).contains(&runs), "{runs}");
    ended
        .exits(0)
        .says(&format!("decided after {runs} of at most 6 blocks"))
        .prints(answer);
    // The beginning of the answer: a doubt about it may wrap the rest.
    scene
        .dbdyno(["history", "--dir", "."])
        .exits(0)
        .prints("p50 < 20 s up to 40.0/s");
    scene
        .dbdyno(["history", "--dir", ".", "--of", "trial"])
        .exits(0)
        .prints("trial: highest rate with p50 < 20 s over 1 result");
    let resume = ["run", "trial.toml", "--results", "out", "--resume"];
    scene
        .dbdyno(resume)
        .exits(0)
        .prints(&format!("measured  {runs} of {runs} runs"))
        .prints(answer);
    assert_eq!(records(&scene).len(), runs);
}

#[test]
fn the_rates_around_a_queue_s_limit_follow_from_the_records() {
    let scene = Scene::new();
    let _server = write(&scene, 8, "{ p95 = \"100ms\", from = 20 }");
    let ended = scene.dbdyno(["run", "trial.toml", "--results", "out"]);
    let before = rates(&scene);
    assert_eq!(before[0], "20");
    if was_offered(&scene) {
        assert!(before.len() > 2, "{before:?}");
        // At 80/s, which is more than the server can execute, nearly all operations take longer.
        let number = |rate: &String| rate.parse::<f64>().unwrap();
        let most = before.iter().map(number).fold(0.0, f64::max);
        assert!(most <= 80.0, "{before:?}");
        let code = ended.code();
        assert!(matches!(code, Some(0 | 1 | 5)), "{}", ended.shown());
    }
    // Without its last run, the search continues at the same rate.
    fs::remove_file(records(&scene).last().unwrap()).unwrap();
    scene.dbdyno(["run", "trial.toml", "--results", "out", "--resume"]);
    let after = rates(&scene);
    assert_eq!(after[..before.len()], before);
}
