//! An experiment of two runs that something ends in the second one.

use crate::{
    experiment::Experiment,
    results::{Results, record_name},
    scene::{Running, Scene},
};

/// Two runs in a known order, long enough to be interrupted.
pub(crate) fn two_runs() -> Experiment {
    Experiment {
        top: "order = \"file\"",
        matrix: "connections = [1, 2]".to_owned(),
        // Far longer than it takes until enough is measured: this process may have to wait for a processor.
        load: "connections = \"{connections}\"\nwarmup = \"200ms\"\nduration = \"8s\"".to_owned(),
        think_time: "50ms",
        ..Experiment::default()
    }
}

/// An experiment that is interrupted in its second run.
pub(crate) struct Disturbed {
    pub(crate) scene: Scene,
    pub(crate) results: Results,
}

impl Disturbed {
    /// Starts it, and waits until the second run has measured for a while.
    pub(crate) fn start(scene: Scene, experiment: &Experiment) -> (Self, Running) {
        experiment.write(&scene);
        Self::start_written(scene)
    }

    /// The same for an experiment that stands in the scene as `trial.toml`.
    pub(crate) fn start_written(scene: Scene) -> (Self, Running) {
        let results = Results::at(scene.path().join("out"));
        let mut running = scene.start(["run", "trial.toml", "--results", "out"]);
        // One more than is required below: a torn line removes one.
        running.wait_until("run 2 measures", || {
            results.measured_so_far(2) >= 4 && results.counted_so_far(2) > 0
        });
        (Self { scene, results }, running)
    }

    /// Checks that the record of the second run is kept and marked as incomplete.
    pub(crate) fn keeps_what_was_measured(&self) {
        assert!(self.results.record(1).is_complete());
        let disturbed = self.results.record(2);
        assert!(!disturbed.is_complete());
        assert!(disturbed.measured().count() >= 3);
        assert!(disturbed.count() > 0);
    }

    /// Checks that `--resume` executes the missing runs only.
    pub(crate) fn resumes(&self) {
        let first = self.results.text(&record_name(1));
        let disturbed = self.results.text(&record_name(2));
        let resume = ["run", "trial.toml", "--results", "out", "--resume"];
        self.scene
            .dbdyno(resume)
            .exits(0)
            .says("incomplete, kept as ")
            .prints("measured  2 of 2 runs");
        let origin = self.results.text("origin.json");
        let origin: serde_json::Value = serde_json::from_str(&origin).unwrap();
        let commands = origin["commands"].as_array().unwrap();
        let last = commands[1]["arguments"].to_string();
        assert!(commands.len() == 2 && last.contains("--resume"), "{origin}");
        assert_eq!(
            self.results.text(&record_name(1)),
            first,
            "run 1 was done already"
        );
        assert_eq!(self.results.text("run-0002.incomplete-1.jsonl"), disturbed);
        assert!(self.results.record(2).is_complete());
        self.scene.nothing_is_left();
    }
}
