//! Stages of a load on a real server: levels of connections, a ramp of the rate; in the record and in the reports.

use figures::RunFigures;
use samples::{Record, Staged};

use crate::{experiment::Experiment, results::Results, scene::Scene};

fn in_stages(load: &str) -> Experiment {
    Experiment {
        load: format!("mix = \"1:0\"\nwarmup = \"500ms\"\n{load}"),
        ..Experiment::default()
    }
}

fn record(scene: &Scene) -> Record {
    Record::open(&scene.path().join("out/run-0001.jsonl")).unwrap()
}

#[test]
fn each_stage_of_connections_has_figures_of_its_own() {
    let scene = Scene::for_servers();
    let stages = "stages = [{ connections = 1, for = \"2s\" }, { connections = 4, for = \"2s\" }]";
    in_stages(stages).write(&scene);
    scene
        .dbdyno(["run", "trial.toml", "--results", "out"])
        .exits(0);
    let record = record(&scene);
    assert!(record.is_complete());
    let levels = record.stages.iter();
    let levels: Vec<_> = levels
        .map(|it| (it.number, it.connections_from, it.connections_to))
        .collect();
    assert_eq!(levels, [(1, 1, 1), (2, 4, 4)]);
    let staged = Staged::of(std::slice::from_ref(&record));
    let figures: Vec<RunFigures> = staged.records.iter().map(RunFigures::of).collect();
    for (stage, figures) in record.stages.iter().zip(&figures) {
        assert!((1.9..2.2).contains(&figures.measured_s), "{stage:?}");
        assert!(figures.count > 0 && figures.errors == 0, "{stage:?}");
        assert!(stage.offered.is_some(), "{stage:?}");
    }
    let all: u64 = figures.iter().map(|it| it.count).sum();
    assert_eq!(all, RunFigures::of(&record).count);

    let results = Results::at(scene.path().join("out"));
    let rows = results.sql("SELECT level, connections_to, count FROM load_stages ORDER BY number");
    let count = |stage: usize| i64::try_from(figures[stage].count).unwrap();
    assert_eq!(
        rows,
        [
            [
                "1 (1 connection)".to_owned().into(),
                1.into(),
                count(0).into()
            ],
            [
                "2 (4 connections)".to_owned().into(),
                4.into(),
                count(1).into()
            ],
        ]
    );
    let page = results.text("report.html");
    assert!(page.contains("Every stage of every run (2)"));
    assert!(page.contains("1 (1 connection) at 0.5"), "{page}");
    scene
        .dbdyno(["report", "out", "--format", "json"])
        .exits(0)
        .prints("\"1 (1 connection)\"")
        .prints("\"2 (4 connections)\"");
    // The same run again, of which each stage is compared with itself.
    let copy = scene.path().join("copy.jsonl");
    std::fs::copy(scene.path().join("out/run-0001.jsonl"), copy).unwrap();
    let sides = ["compare", "out/run-0001.jsonl", "copy.jsonl"];
    scene
        .dbdyno(sides.into_iter().chain(["--anyway", "--format", "json"]))
        .exits(0)
        .prints("\"1 (1 connection)\"")
        .prints("\"2 (4 connections)\"");
    scene.nothing_is_left();
}

#[test]
fn the_achieved_rate_follows_a_ramp() {
    let scene = Scene::for_servers();
    let stages = "connections = 4\narrivals = \"constant\"\nspin = true\n\
                  stages = [{ rate = \"20..100\", for = \"2s\" }, { rate = 100, for = \"1s\" }]";
    in_stages(stages).write(&scene);
    scene
        .dbdyno(["run", "trial.toml", "--results", "out", "--verbose"])
        .has_measured()
        .prints_sentence("Achieved of the requested rates: stage 1");
    let record = record(&scene);
    let due: Vec<u64> = record
        .stages
        .iter()
        .map(|stage| stage.offered.as_ref().unwrap().due)
        .collect();
    assert!((118..=122).contains(&due[0]), "{due:?}");
    assert!((98..=102).contains(&due[1]), "{due:?}");
    // The first half of the ramp is from 20/s to 60/s, the second one from there to 100/s.
    let ramp = &record.stages[0];
    let middle_s = ramp.t_s + ramp.length_s / 2.0;
    let (mut first, mut second) = (0, 0);
    for interval in record.intervals.iter().filter(|it| it.stage == Some(1)) {
        let due = interval.pace.unwrap().due;
        if interval.t_s + interval.length_s / 2.0 < middle_s {
            first += due;
        } else {
            second += due;
        }
    }
    assert!((36..=44).contains(&first), "{first}");
    assert!((76..=84).contains(&second), "{second}");
    let staged = Staged::of(std::slice::from_ref(&record));
    for (stage, due) in staged.records.iter().zip(due) {
        let waits = stage.offered.as_ref().unwrap().waits.count;
        assert_eq!(RunFigures::of(stage).count + waits, due);
    }

    let results = Results::at(scene.path().join("out"));
    let rows = results
        .sql("SELECT rate_from_per_s, rate_reached IN (0, 1) FROM load_stages ORDER BY number");
    assert_eq!(rows, [[20.0.into(), 1.into()], [100.0.into(), 1.into()]]);
    assert!(
        results
            .text("report.html")
            .contains("Achieved and requested rate of each stage")
    );
}

#[test]
fn a_rate_out_of_reach_names_its_stage() {
    let scene = Scene::for_servers();
    let stages = "connections = 2\n\
                  stages = [{ rate = 20, for = \"1s\" }, { rate = 1000000, for = \"1s\" }]";
    in_stages(stages).write(&scene);
    scene
        .dbdyno(["run", "trial.toml", "--results", "out"])
        .exits(1)
        .says("rate not reached in stage 2 of run 1");
    let record = record(&scene);
    let short = |stage: &samples::LoadStage| stage.offered.as_ref().unwrap().shortfall.is_some();
    let short: Vec<bool> = record.stages.iter().map(short).collect();
    assert_eq!(short, [false, true]);
}
