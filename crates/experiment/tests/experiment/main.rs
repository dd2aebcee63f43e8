//! Tests of the crate's interface: experiment files in, plans, errors and progress out.

#![expect(
    clippy::unwrap_used,
    reason = "a step of a test that fails is a failed test"
)]

mod decision_time;
mod errors;
mod hostile;
mod levels;
mod loads;
mod plans;
mod resume;
mod searches;
mod shipped;
mod side_by_side;
mod stages;

use std::{fs, path::PathBuf};

use benchmarks::VOCABULARY;
use experiment::{Costs, Error, Experiment, Overrides};

/// What estimates are made of, in figures that are easily added up.
const COSTS: Costs = Costs {
    restart_s: 2.0,
    around_s: 0.5,
    load_s_per_gb: 100.0,
    restore_s_per_gb: 10.0,
    row_bytes: 1000.0,
};

/// A directory with the files that experiments name, and experiments in it.
struct Bench {
    dir: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        for name in ["a.smack", "base.cnf", "small.cnf", "large.cnf"] {
            fs::write(dir.path().join(name), format!("# {name}\n")).unwrap();
        }
        Self { dir }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn parse_with(&self, text: &str, overrides: &Overrides) -> Result<Experiment, Error> {
        Experiment::parse(&self.path("trial.toml"), text, overrides, &VOCABULARY)
    }

    fn parse(&self, text: &str) -> Experiment {
        match self.parse_with(text, &Overrides::default()) {
            Ok(experiment) => experiment,
            Err(error) => panic!("{error}"),
        }
    }
}
