//! `design = "side by side"` on the null server: a session ends when its batches decide the question.

use samples::{Record, ServerState};

use crate::{
    experiment::Experiment,
    results::{Results, record_name},
    scene::Scene,
};

/// A think time as factor, one ten times the other, so that even a busy machine shows the difference.
fn write(scene: &Scene) {
    let trial = Experiment {
        top: "seed = 3\nrepeats = \"until decided\"\nat_most = 2\n\
              design = \"side by side\"\nslice = \"100ms\"\nsettle = \"0s\"",
        matrix: "think = [\"2ms\", \"20ms\"]".to_owned(),
        load: "connections = 2\nthink_time = \"{think}\"\nwarmup = \"200ms\"\nduration = \"6s\""
            .to_owned(),
        ..Experiment::default()
    };
    trial.write(scene);
    let verdict = "[verdict]\nbaseline = { think = \"20ms\" }\nmin_effect = \"5 %\"\n";
    scene.file("trial.toml", &(trial.text() + verdict));
}

#[test]
fn a_session_that_decides_the_question_is_the_last_and_ends_early() {
    let scene = Scene::new();
    write(&scene);
    let run = ["run", "trial.toml", "--simulate", "--results", "out"];
    scene.dbdyno(run).exits(0).says("run 1-2 of 4 side by side");
    let results = Results::at(scene.path().join("out"));
    let records = || {
        let names = results.names().into_iter();
        let names = names.filter(|name| name.starts_with("run-"));
        names.collect::<Vec<String>>()
    };
    assert_eq!(records(), [1, 2].map(record_name));
    let ends = [1, 2].map(|run| {
        let record = Record::open(&results.file(&record_name(run))).unwrap();
        assert!(record.is_complete());
        let measured = record.measured_state.unwrap();
        assert_eq!(measured.state, ServerState::Fresh);
        let last = record.intervals.iter().filter_map(|it| it.slice).max();
        (last.unwrap(), record.end.unwrap().why)
    });
    let [(slices, why), other] = &ends;
    assert!(slices.is_multiple_of(5) && *slices < 60, "{slices}");
    assert!(
        why.ends_with(&format!("decided after {slices} slices")),
        "{why}"
    );
    assert_eq!(&ends[0], other);
    // It is found decided when it is resumed, too.
    scene.dbdyno(run.iter().chain(&["--resume"])).exits(0);
    assert_eq!(records(), [1, 2].map(record_name));
}
