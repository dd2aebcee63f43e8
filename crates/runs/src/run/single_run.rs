//! One run without an experiment file: a command's load on an existing server, with a run record like any other.

use std::{collections::BTreeMap, path::Path, time::Duration};

use blame::{Blame, Blamed};
use experiment::{PlannedLoad, PlannedRun};
use load::{LoadListener, Outcome};
use samples::{Command, Record};

use crate::{
    benchmark::Work,
    listener::{Context, Length},
    record::run_progress::{RUN_LENGTH, RunProgress},
    run::{self, Identity, PlannedWork, StagedRun, driver::LoadRules},
    stage::Stage,
};

/// One run of a command.
pub struct SingleRun<'a> {
    /// Name of the load, such as `oltp read_write`.
    pub name: String,
    /// The settings of the command, by option.
    pub settings: BTreeMap<String, String>,
    /// The command line, without passwords.
    pub arguments: Vec<String>,
    /// The load, as an experiment would have it.
    pub load: PlannedLoad,
    /// How it ends and is recorded.
    pub rules: LoadRules,
    /// The server.
    pub stage: &'a Stage,
    /// Requested sampling interval of machine and server; `None` for the defaults.
    pub sample_every: Option<Duration>,
    /// File of the record.
    pub path: &'a Path,
    /// Ends it early.
    pub context: &'a Context,
}

/// Result of a run.
pub struct Recorded {
    /// The record, as written to its file.
    pub record: Record,
    /// Results of the load that are not in the record.
    pub outcome: Outcome,
    /// The reason why the run did not come to its planned end, or gave no result.
    pub failed: Option<Blamed>,
}

impl SingleRun<'_> {
    /// Drives the load and writes the record; an observer receives the load's events, too. An incomplete run is an error
    /// only if nothing was measured.
    pub fn record(
        &self,
        work: &mut dyn Work,
        observer: Option<&mut dyn LoadListener>,
    ) -> Result<Recorded, Blamed> {
        if let Some(directory) = self.path.parent() {
            std::fs::create_dir_all(directory).map_err(Blamed::io(Blame::Machine, directory))?;
        }
        let expected = self.load.spec.expected();
        let step = self.context.step(&self.name, Length::Paced(RUN_LENGTH));
        let progress = RunProgress {
            step: &*step,
            label: self.name.clone(),
            runs_before: 0,
            runs: 1,
            left: expected,
            expected_s: expected.as_secs_f64(),
        };
        let address = self.stage.server().address.to_string();
        let of_command = PlannedRun::of_command(self.settings.clone(), address, self.load.clone());
        let mut planned = StagedRun {
            identity: Identity {
                experiment: &self.name,
                sha256: "",
                command: Some(Command {
                    directory: std::env::current_dir().unwrap_or_default(),
                    arguments: self.arguments.clone(),
                }),
            },
            run: &of_command,
            stage: self.stage,
            works: vec![PlannedWork {
                work,
                rules: self.rules,
            }],
            side_by_side: None,
            observer: observer.map(|it| it as &mut dyn LoadListener),
            sample_every: self.sample_every,
            context: self.context,
        };
        let mut driven = run::record(&mut planned, &[self.path.to_owned()], progress)?;
        drop(step);
        let record = Record::open(self.path).map_err(Blamed::machine)?;
        let driven = driven.pop().expect("a run has a load");
        Ok(Recorded {
            record,
            outcome: driven
                .outcome
                .expect("a load that did not begin is an error"),
            failed: driven.ended.err(),
        })
    }
}
