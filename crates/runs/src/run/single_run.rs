//! One run without an experiment: a command's load on an existing server, with a run record like any other.

use std::{collections::BTreeMap, path::Path, time::Duration};

use blame::{Blame, Blamed};
use load::{Counters, Load, Observer, Outcome, User};
use reactor::Interrupt;
use samples::{Command, Interval, Line, LoadStage, PhaseMark, Record};

use crate::{
    listener::{Context, Length},
    open_files,
    record::{
        load_record::NewRecord,
        recording::{Recording, RunProgress},
        sampling::Cadence,
    },
    run::{Measured, Run},
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
    /// Seed of all randomness.
    pub seed: u64,
    /// The server.
    pub stage: &'a Stage,
    /// Expected duration, warm-up included.
    pub expected: Duration,
    /// Requested sampling interval of machine and server; `None` for the defaults.
    pub sample_every: Option<Duration>,
    /// File of the record.
    pub path: &'a Path,
    /// Ends it early.
    pub context: &'a Context,
    /// Lines of the record before the load.
    pub before: Vec<Line>,
    /// Work after the load; its argument is whether the load came to its planned end. Returns the lines for the record.
    pub after: &'a dyn Fn(bool) -> Vec<Line>,
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
    /// Drives the load and writes the record; `observer` receives the load's events, too. An incomplete run is an error
    /// only if nothing was measured.
    pub fn record<U: User + 'static>(
        &self,
        load: Load<U>,
        observer: &mut dyn Observer,
    ) -> Result<Recorded, Blamed> {
        open_files::provide_for(load.users().into())?;
        if let Some(directory) = self.path.parent() {
            std::fs::create_dir_all(directory).map_err(Blamed::io(Blame::Machine, directory))?;
        }
        let step = self.context.step(&self.name, Length::Paced(1000));
        let progress = RunProgress {
            step: &*step,
            label: self.name.clone(),
            runs_before: 0,
            left: self.expected,
            expected_s: self.expected.as_secs_f64(),
        };
        let header = self.stage.header(
            &self.name,
            self.seed,
            &self.settings,
            load.users(),
            load.loops,
        );
        let command = Line::Command(Command {
            directory: std::env::current_dir().unwrap_or_default(),
            arguments: self.arguments.clone(),
        });
        let run = Run {
            records: vec![NewRecord {
                path: self.path,
                header,
                known_before: self.before.clone(),
            }],
            stage: self.stage,
            cadence: Cadence::new(self.sample_every, load.interval),
            context: self.context,
            known_before: vec![command],
            events: None,
            before: &[],
            after: &[],
            is_listed: true,
        };
        let mut command_load = CommandLoad {
            load: Some(load),
            interrupt: &self.context.interrupt,
            observer,
            after: self.after,
        };
        let mut driven = run.record(&mut command_load, progress)?;
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

/// A command's load with its observer.
struct CommandLoad<'a, U> {
    /// `Some` until the load is driven.
    load: Option<Load<U>>,
    interrupt: &'a Interrupt,
    observer: &'a mut dyn Observer,
    after: &'a dyn Fn(bool) -> Vec<Line>,
}

impl<U: User + 'static> Measured for CommandLoad<'_, U> {
    fn drive(&mut self, recording: &mut Recording<'_>) -> Vec<Result<Outcome, Blamed>> {
        let load = self.load.take().expect("a run drives its load once");
        let mut both = Both {
            recording: &mut recording.of_load(0),
            observer: self.observer,
        };
        let driven = load::drive(load, self.interrupt, &mut both);
        vec![driven.map_err(Blamed::from)]
    }

    fn follow_up(
        &mut self,
        _took_s: f64,
        is_complete: bool,
        recording: &mut Recording<'_>,
    ) -> Result<(), Blamed> {
        let lines = (self.after)(is_complete);
        lines.iter().for_each(|line| recording.write_of(0, line));
        Ok(())
    }
}

/// The recording, and the command's observer.
struct Both<'b> {
    recording: &'b mut dyn Observer,
    observer: &'b mut dyn Observer,
}

impl Observer for Both<'_> {
    fn connected(&mut self, open: u64, total: u64) {
        self.recording.connected(open, total);
        self.observer.connected(open, total);
    }

    fn started(&mut self) {
        self.recording.started();
        self.observer.started();
    }

    fn phase(&mut self, mark: PhaseMark) {
        self.observer.phase(mark.clone());
        self.recording.phase(mark);
    }

    fn stage(&mut self, stage: LoadStage) {
        self.observer.stage(stage.clone());
        self.recording.stage(stage);
    }

    fn interval(&mut self, interval: Interval) {
        self.observer.interval(interval.clone());
        self.recording.interval(interval);
    }

    fn counters(&mut self, since_s: f64) -> Counters {
        self.recording.counters(since_s)
    }
}
