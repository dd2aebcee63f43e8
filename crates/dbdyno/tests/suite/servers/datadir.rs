//! `datadir` of an experiment: private servers on a given file system.

use std::fs;

use crate::{
    experiment::Experiment,
    results::{Results, names_in},
    scene::Scene,
};

#[test]
fn servers_live_where_the_experiment_says_and_leave_nothing_there() {
    let scene = Scene::for_servers();
    for place in ["here", "there"] {
        fs::create_dir(scene.path().join(place)).expect("the scene is writable");
    }
    let trial = Experiment {
        matrix: "place = [\"here\", \"there\"]".to_owned(),
        server: "datadir = \"{place}\"\nset = { innodb_buffer_pool_size = \"16M\" }".to_owned(),
        load: "connections = 2\nthink_time = \"20ms\"\nwarmup = \"200ms\"\nduration = \"2s\""
            .to_owned(),
        ..Experiment::default()
    };
    trial.write(&scene);
    scene
        .dbdyno(["run", "trial.toml", "--results", "results"])
        .exits(0);
    let results = Results::at(scene.path().join("results"));
    for run in 1..=2 {
        let record = results.text(&format!("run-{run:04}.jsonl"));
        let lines = record
            .lines()
            .map(|line| serde_json::from_str::<serde_json::Value>(line).expect("it is JSON"));
        let lines: Vec<_> = lines.collect();
        let place = lines[0]["combination"]["place"].as_str().expect("a level");
        let server = lines.iter().find(|line| line["line"] == "server");
        let datadir = server.expect("it is told")["variables"]["datadir"].to_string();
        assert!(
            datadir.contains(&format!("/{place}/run-trial-")),
            "{datadir}"
        );
    }
    for place in ["here", "there"] {
        assert!(names_in(&scene.path().join(place)).is_empty());
    }
    scene.nothing_is_left();
    let nowhere = Experiment {
        server: "datadir = \"nowhere\"".to_owned(),
        ..Experiment::default()
    };
    nowhere.write(&scene);
    scene
        .dbdyno(["run", "trial.toml"])
        .exits(2)
        .says("nowhere cannot be read");
}
