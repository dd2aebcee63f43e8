//! `repeats = "until decided"`: an experiment that ends when its question is decided, or its budget spent.

use std::path::Path;

use serde_json::Value;

use crate::{experiment::Experiment, scene::Scene};

/// An open loop with the rate as factor, one five times the other, so that even a busy machine shows the difference
/// within twenty blocks.
fn write(scene: &Scene, min_effect: &str) {
    let trial = Experiment {
        top: "seed = 3\nrepeats = \"until decided\"\nat_most = 20",
        matrix: "rate = [\"200\", \"1000\"]".to_owned(),
        load: "connections = 2\nrate = \"{rate}\"\nwarmup = \"200ms\"\nduration = \"500ms\""
            .to_owned(),
        ..Experiment::default()
    };
    trial.write(scene);
    let verdict =
        format!("[verdict]\nbaseline = {{ rate = \"200\" }}\nmin_effect = \"{min_effect}\"\n");
    scene.file("trial.toml", &(trial.text() + &verdict));
}

/// The records of complete runs.
fn records(scene: &Scene) -> Vec<std::path::PathBuf> {
    let numbered = (1..=40).map(|run| format!("results/trial-simulated-1/run-{run:04}.jsonl"));
    let paths = numbered.map(|name| scene.path().join(name));
    paths.filter(|path| path.exists()).collect()
}

#[test]
fn it_ends_when_every_comparison_is_decided() {
    let scene = Scene::new();
    write(&scene, "5 %");
    scene
        .dbdyno(["run", "trial.toml", "--plan"])
        .exits(0)
        .prints("2 combinations x at most 20 repeats, until decided = at most 40 runs")
        .prints("time    at most about");
    scene
        .dbdyno(["run", "trial.toml", "--plan", "--repeats", "2"])
        .exits(0)
        .prints("2 combinations x 2 repeats = 4 runs");
    scene
        .dbdyno(["run", "trial.toml", "--simulate", "-v"])
        .prints_sentence("rate 1000 against 200: faster, throughput ")
        .prints_sentence("analysed after each block, which the interval accounts for");
    let done = records(&scene);
    assert!(done.len() >= 6 && done.len() < 40, "{} runs", done.len());
    let blocks = done.len() / 2;
    let decided = format!("decided after {blocks} of at most 20 blocks");
    // A resumed experiment is found decided; also after an incomplete last block, once that block is complete again.
    for broken in [0, 1, 2] {
        for record in done.iter().rev().take(broken) {
            std::fs::remove_file(record).unwrap();
        }
        let gone_on = scene
            .dbdyno(["run", "trial.toml", "--simulate", "--resume", "-v"])
            .prints_sentence("rate 1000 against 200: faster, throughput ");
        if broken == 0 {
            gone_on
                .says(&format!("{decided}; the others are not needed"))
                .prints_sentence(&decided)
                .prints(&format!("measured  {0} of {0} runs", 2 * blocks));
        }
        assert!(records(&scene).len() >= done.len());
    }
    // Its levels compared directly: the repeated tests of the data count there, too. A busy machine may send late
    // (rule H12).
    scene
        .dbdyno([
            "compare",
            "--anyway",
            "-v",
            "results/trial-simulated-1:rate=200",
            "results/trial-simulated-1:rate=1000",
        ])
        .exits(0)
        .prints("B is faster")
        .prints_sentence("up to 20 blocks");
}

#[test]
fn a_budget_is_not_exceeded() {
    let scene = Scene::new();
    // A level against itself, with a minimum effect of a thousandth: decided or not, three blocks are the limit.
    write(&scene, "0.1 %");
    let same = std::fs::read_to_string(scene.path().join("trial.toml")).unwrap();
    let same = same.replace("[\"200\", \"1000\"]", "[\"200\", \"200.0\"]");
    scene.file("trial.toml", &same.replace("at_most = 20", "at_most = 3"));
    scene
        .dbdyno(["run", "trial.toml", "--simulate"])
        .prints("rate 200.0 against 200: ");
    assert_eq!(records(&scene).len(), 6);
}

#[test]
fn a_budget_in_time_ends_it_and_is_told() {
    let scene = Scene::new();
    write(&scene, "0.01 %");
    let same = std::fs::read_to_string(scene.path().join("trial.toml")).unwrap();
    let same = same.replace("[\"200\", \"1000\"]", "[\"200\", \"200.0\"]");
    // Less than the first block takes: only that block runs.
    let short = same.replace("at_most = 20", "at_most = 20\ntime_at_most = \"1s\"");
    scene.file("trial.toml", &short);
    scene
        .dbdyno(["run", "trial.toml", "--plan"])
        .exits(0)
        .says("warning: time_at_most of 1 s cannot decide anything: at least 3 runs of each of 2 ")
        .prints("at most 20 repeats, until decided within 1 s = at most 40 runs")
        .prints("time    at most about 1 s");
    scene
        .dbdyno(["run", "trial.toml", "--simulate"])
        .says("warning: time_at_most of 1 s cannot decide anything")
        .says("the time limit of 1 s leaves no time for another block: 1 block took ")
        .prints("measured  2 of 2 runs");
    assert_eq!(records(&scene).len(), 2);
    // A resumed experiment has no time left, because of the first command's duration.
    scene
        .dbdyno(["run", "trial.toml", "--simulate", "--resume"])
        .says("leaves no time for another block: 1 block took ");
    assert_eq!(records(&scene).len(), 2);
}

/// Gives a record of an experiment's first three blocks the counts that decide about 1000 against 200 and leave 200.0
/// against 200 open: a busy machine measures others.
fn give_counts(path: &Path, block: usize) {
    let text = std::fs::read_to_string(path).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
    let mut lines: Vec<Value> = lines.collect();
    let rate = lines
        .iter()
        .find_map(|line| line["combination"]["rate"].as_str());
    let counts = match rate.unwrap() {
        "200" => [18, 22, 20],
        "200.0" => [22, 18, 20],
        _ => [199, 201, 200],
    };
    // A client without a processor has intervals without an operation.
    let operations = |line: &Value| {
        line["operations"]
            .as_array()
            .is_some_and(|it| !it.is_empty())
    };
    let mut measured = lines.iter().find(|it| operations(it)).unwrap()["operations"].clone();
    measured[0]["count"] = counts[block].into();
    for line in lines.iter_mut().filter(|it| it["line"] == "interval") {
        line["operations"] = measured.clone();
    }
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    std::fs::write(path, text).unwrap();
}

/// Of three levels the one that is far from the baseline is decided after three blocks; the other one is too near to be
/// decided.
#[test]
fn decided_combinations_can_be_left_out() {
    let scene = Scene::new();
    write(&scene, "0.01 %");
    let text = std::fs::read_to_string(scene.path().join("trial.toml")).unwrap();
    let three = text.replace("[\"200\", \"1000\"]", "[\"200\", \"200.0\", \"1000\"]");
    let leaves = three.replace("at_most = 20", "at_most = 4") + "leave_decided = \"on\"\n";
    scene.file("trial.toml", &leaves);
    scene.dbdyno(["run", "trial.toml", "--simulate"]);
    assert!(records(&scene).len() >= 9, "three blocks are measured");
    for (at, record) in records(&scene).iter().enumerate() {
        if at < 9 {
            give_counts(record, at / 3);
        } else {
            std::fs::remove_file(record).unwrap();
        }
    }
    let runs = |rate: &str| {
        let texts = records(&scene).into_iter().map(std::fs::read_to_string);
        let level = format!("\"rate\":\"{rate}\"");
        texts
            .filter(|text| text.as_ref().unwrap().contains(&level))
            .count()
    };
    // What was left out is not missing either time.
    for _ in 0..2 {
        scene.dbdyno(["run", "trial.toml", "--simulate", "--resume"]);
        assert_eq!((runs("200"), runs("200.0"), runs("1000")), (4, 4, 3));
    }
}
