//! A rate in an experiment: reached, or the reason why not, with the evidence in the record.

use figures::RunFigures;
use samples::Record;

use crate::{
    experiment::{Experiment, write_sleeping},
    scene::Scene,
};

fn at_a_rate(load: &str) -> Experiment {
    Experiment {
        load: format!("connections = 4\nwarmup = \"200ms\"\nduration = \"2s\"\n{load}"),
        ..Experiment::default()
    }
}

#[test]
fn a_rate_within_reach_is_kept() {
    let scene = Scene::for_servers();
    // Reads only: a busy disk delays no commit.
    at_a_rate("mix = \"1:0\"\nrate = 20\narrivals = \"constant\"\nspin = true").write(&scene);
    let finished = scene
        .dbdyno(["run", "trial.toml", "--results", "out"])
        .has_measured();
    let record = Record::open(&scene.path().join("out/run-0001.jsonl")).unwrap();
    let offered = record.offered.as_ref().unwrap();
    assert_eq!((offered.process.as_str(), offered.due), ("constant", 40));
    assert_eq!(finished.code() == Some(0), offered.shortfall.is_none());
    assert!(offered.spin);
    let summary = RunFigures::of(&record);
    assert_eq!(summary.count + offered.waits.count, 40);
    assert!(summary.service.is_some() && summary.send_lag.is_some());
}

#[test]
fn a_rate_out_of_reach_is_a_result() {
    let scene = Scene::for_servers();
    // At most 20 statements a second over 4 connections.
    write_sleeping(
        &scene,
        0.2,
        "connections = 4\nrate = 500\nduration = \"2s\"",
    );
    scene
        .dbdyno(["run", "trial.toml", "--results", "out"])
        .exits(1)
        .says("rate not reached in run 1")
        .hints("`offered`");
    let record = Record::open(&scene.path().join("out/run-0001.jsonl")).unwrap();
    assert!(record.is_complete());
    let offered = record.offered.as_ref().unwrap();
    assert!(offered.behind > 0 && offered.not_started > 0);
    assert!(offered.shortfall.is_some());
}
