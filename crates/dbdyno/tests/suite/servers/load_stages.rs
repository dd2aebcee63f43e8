//! Stages of a load on a real server: levels of connections, a ramp of the rate; in the record and in the reports.

use std::fs;

use figures::RunFigures;
use samples::{Record, Staged};

use crate::{
    experiment::{Experiment, write_sleeping},
    results::Results,
    scene::{ATTEMPTS, Scene},
};

fn in_stages(load: &str) -> Experiment {
    Experiment {
        load: format!("mix = \"1:0\"\nwarmup = \"200ms\"\n{load}"),
        ..Experiment::default()
    }
}

fn record(scene: &Scene) -> Record {
    Record::open(&scene.path().join("out/run-0001.jsonl")).unwrap()
}

/// The record of a run and the figures of its stages. A busy machine may have no time for any operation in one of them: then
/// it runs again.
fn measured(scene: &Scene) -> (Record, Vec<RunFigures>) {
    for _ in 0..ATTEMPTS {
        scene
            .dbdyno(["run", "trial.toml", "--results", "out"])
            .exits(0);
        let record = record(scene);
        let staged = Staged::of(std::slice::from_ref(&record));
        let figures: Vec<RunFigures> = staged.records.iter().map(RunFigures::of).collect();
        if figures.iter().all(|it| it.count > 0) {
            return (record, figures);
        }
        fs::remove_dir_all(scene.path().join("out")).unwrap();
    }
    panic!("a stage without operations in {ATTEMPTS} attempts");
}

#[test]
fn each_stage_of_connections_has_figures_of_its_own() {
    let scene = Scene::for_servers();
    let stages = "stages = [{ connections = 1, for = \"1s\" }, { connections = 4, for = \"1s\" }]";
    in_stages(stages).write(&scene);
    let (record, figures) = measured(&scene);
    assert!(record.is_complete());
    let levels = record.stages.iter();
    let levels: Vec<_> = levels
        .map(|it| (it.number, it.connections_from, it.connections_to))
        .collect();
    assert_eq!(levels, [(1, 1, 1), (2, 4, 4)]);
    for (stage, figures) in record.stages.iter().zip(&figures) {
        assert!(figures.measured_s >= 0.9, "{stage:?}");
        assert_eq!(figures.errors, 0, "{stage:?}");
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
    assert!(page.contains("1 (1 connection) at 0.2"), "{page}");
    scene
        .dbdyno(["report", "out", "--format", "json"])
        .exits(0)
        .prints("\"1 (1 connection)\"")
        .prints("\"2 (4 connections)\"");
    // The same run again, of which each stage is compared with itself.
    let copy = scene.path().join("copy.jsonl");
    fs::copy(scene.path().join("out/run-0001.jsonl"), copy).unwrap();
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
        .prints_sentence("Achieved and requested rates: stage 1");
    let record = record(&scene);
    let due: Vec<u64> = record
        .stages
        .iter()
        .map(|stage| stage.offered.as_ref().unwrap().due)
        .collect();
    assert!((118..=122).contains(&due[0]), "{due:?}");
    assert!((98..=102).contains(&due[1]), "{due:?}");
    // From 20/s to 100/s in 2 s: by the end of any interval, as many as the ramp has had until then.
    let ramp = &record.stages[0];
    let mut so_far = 0;
    for interval in record.intervals.iter().filter(|it| it.stage == Some(1)) {
        so_far += interval.pace.unwrap().due;
        let past_s = interval.t_s + interval.length_s - ramp.t_s;
        let wanted = 20.0 * past_s * (1.0 + past_s);
        assert!((so_far as f64 - wanted).abs() < 6.0, "{so_far} at {past_s}");
    }
    assert_eq!(so_far, due[0]);
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
    // At most 100 statements a second over 2 connections.
    let stages = "stages = [{ rate = 10, for = \"1s\" }, { rate = 1000, for = \"1s\" }]";
    write_sleeping(&scene, 0.02, &format!("connections = 2\n{stages}"));
    let finished = scene
        .dbdyno(["run", "trial.toml", "--results", "out"])
        .exits(1);
    let record = record(&scene);
    let is_short = |stage: &samples::LoadStage| stage.offered.as_ref().unwrap().shortfall.is_some();
    assert!(is_short(&record.stages[1]));
    // A busy machine may miss the first one, too, which is then reported.
    let first = if is_short(&record.stages[0]) { 1 } else { 2 };
    finished.says(&format!("rate not reached in stage {first} of run 1"));
}
