//! One run that no experiment asks for: a command's load on a server that is there, with a run record like any other.

use std::{collections::BTreeMap, path::Path, time::Duration};

use load::{Interrupt, Load, Observer, Outcome};
use samples::{End, FORMAT, Interval, Line, PhaseMark, Record, RecordWriter, RunHeader};
use telemetry::{Sampler, Targets};
use workload::User;

use super::{
    control::control,
    execution::{how_it_ended, started_at},
    recording::{Recording, RunProgress},
    stage::Stage,
};
use crate::{
    blame::{Blame, Blamed},
    open_files,
    progress::Step,
};

/// One run of a command.
pub(crate) struct SingleRun<'a> {
    /// What runs, as `oltp read_write`.
    pub(crate) name: String,
    /// What it was asked to do, by option.
    pub(crate) settings: BTreeMap<String, String>,
    /// Seed of all randomness.
    pub(crate) seed: u64,
    /// The server.
    pub(crate) stage: &'a Stage,
    /// How long it is expected to take, warm-up included.
    pub(crate) expected: Duration,
    /// File of the record.
    pub(crate) path: &'a Path,
    /// Ends it early.
    pub(crate) interrupt: &'a Interrupt,
}

/// What a run left.
pub(crate) struct Recorded {
    /// The record, as it stands in its file.
    pub(crate) record: Record,
    /// What else the load tells.
    pub(crate) outcome: Outcome,
    /// Why the run did not come to its planned end.
    pub(crate) failed: Option<anyhow::Error>,
}

impl SingleRun<'_> {
    /// Drives the load and writes the record; `observer` looks on. A run that broke off is an error only where
    /// nothing was measured.
    pub(crate) fn record<U: User + 'static>(
        &self,
        load: Load<U>,
        observer: &mut dyn Observer,
    ) -> anyhow::Result<Recorded> {
        let connections: u64 = load.groups.iter().map(|group| u64::from(group.users)).sum();
        open_files::provide_for(connections)?;
        if let Some(directory) = self.path.parent() {
            std::fs::create_dir_all(directory).map_err(|error| {
                Blamed::new(Blame::Machine, format!("{}: {error}", directory.display()))
            })?;
        }
        let writer = RecordWriter::create(self.path).map_err(Blamed::from)?;
        let sampler = Sampler::new(Targets {
            host: self.stage.host(),
            server_pid: self.stage.server_pid,
            datadir: self.stage.datadir.clone(),
        });
        let machine = sampler.machine();
        let step = Step::paced(self.name.clone(), 1000);
        let progress = RunProgress {
            step: &step,
            label: self.name.clone(),
            runs_before: 0,
            left: self.expected,
            expected_s: self.expected.as_secs_f64(),
        };
        let mut recording = Recording::new(writer, sampler, self.interrupt, progress);
        recording.write(&Line::Run(self.header(&load)));
        recording.write(&Line::Machine(machine));
        self.identify("start", &mut recording)?;
        let mut both = Both {
            recording: &mut recording,
            observer,
        };
        let outcome = load::drive(load, self.interrupt, &mut both).map_err(Blamed::from)?;
        for connects in &outcome.connects {
            recording.write(&Line::Connects(connects.clone()));
        }
        recording.write(&Line::Offered(outcome.offered.clone()));
        for error in &outcome.errors {
            recording.write(&Line::Error(error.clone()));
        }
        let ended = how_it_ended(&outcome);
        if ended.is_ok() {
            self.identify("end", &mut recording)?;
        }
        recording.write(&Line::End(End {
            t_s: recording.elapsed_s(),
            complete: ended.is_ok(),
            why: match &ended {
                Ok(why) => why.clone(),
                Err(error) => format!("{error:#}"),
            },
        }));
        let failed_write = recording.failed();
        drop(step);
        if let Some(error) = failed_write {
            return Err(Blamed::from(error).into());
        }
        let record = Record::open(self.path).map_err(|error| Blamed::new(Blame::Machine, error))?;
        Ok(Recorded {
            record,
            outcome,
            failed: ended.err(),
        })
    }

    fn identify(&self, at: &str, recording: &mut Recording<'_>) -> Result<(), Blamed> {
        let server = control(&self.stage.endpoint, async |connection| {
            self.stage.identify(connection, at).await
        })?;
        recording.write(&Line::Server(server));
        Ok(())
    }

    fn header<U>(&self, load: &Load<U>) -> RunHeader {
        RunHeader {
            format: FORMAT,
            dbdyno_version: env!("CARGO_PKG_VERSION").to_owned(),
            experiment: self.name.clone(),
            experiment_sha256: String::new(),
            seed: self.seed,
            run: 1,
            block: 1,
            combination: self.settings.clone(),
            started_at: started_at(),
            connections: load.groups.iter().map(|group| group.users).sum(),
            loops: load.loops,
            io: "epoll".to_owned(),
            transport: self.stage.transport().to_owned(),
        }
    }
}

/// The recording, and who looks on beside it.
struct Both<'b, 'r> {
    recording: &'b mut Recording<'r>,
    observer: &'b mut dyn Observer,
}

impl Observer for Both<'_, '_> {
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

    fn interval(&mut self, interval: Interval) {
        self.observer.interval(interval.clone());
        self.recording.interval(interval);
    }
}
