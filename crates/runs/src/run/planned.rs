//! A run of a plan or of a command: the loads of its benchmarks, and the experiment's part of their records.

use std::{path::PathBuf, time::Duration};

use blame::Blamed;
use experiment::{PlannedLoad, PlannedRun};
use load::{Counters, Observer, Outcome};
use protocol::{Compression, Endpoint};
use samples::{Command, FORMAT, Interval, Line, LoadStage, PhaseMark, RunHeader, Transport};

use crate::{
    benchmark::Work,
    events::Events,
    listener::Context,
    record::{load_record::NewRecord, recording::Recording, sampling::Cadence},
    run::{
        driver::{Driver, LoadRules},
        several_loads::drive_together,
    },
    stage::{Stage, utc_now},
};

/// Properties of the experiment that one run needs.
pub(crate) struct Identity<'a> {
    /// Its name, or that of a command's load.
    pub experiment: &'a str,
    /// Empty for a command.
    pub sha256: &'a str,
    /// The command of a run without an experiment.
    pub command: Option<Command>,
}

/// What the clients of a load do, and its rules.
pub(crate) struct PlannedWork<'a> {
    pub work: &'a mut dyn Work,
    pub rules: LoadRules,
}

/// A run of a plan or of a command, on its stage.
pub(crate) struct Planned<'a> {
    pub identity: Identity<'a>,
    pub run: &'a PlannedRun,
    pub stage: &'a Stage,
    /// The work of each of its loads.
    pub works: Vec<PlannedWork<'a>>,
    /// Receives the events of a single load in addition to the recording.
    pub observer: Option<&'a mut dyn Observer>,
    /// Requested sampling interval of machine and server; `None` for the defaults.
    pub sample_every: Option<Duration>,
    pub context: &'a Context,
}

impl Planned<'_> {
    /// Connections of all its loads.
    pub(super) fn connections(&self) -> u64 {
        let of_loads = self.works.iter().map(|it| it.rules.connections);
        of_loads.map(u64::from).sum()
    }

    /// The begin of the records of its loads, which these paths get.
    pub(super) fn new_records<'p>(&self, paths: &'p [PathBuf]) -> Vec<NewRecord<'p>> {
        let records = paths.iter().zip(&self.run.loads).zip(&self.works);
        let records = records.map(|((path, load), planned)| NewRecord {
            path,
            header: self.header(load, planned),
            known_before: planned.work.known_before(),
        });
        records.collect()
    }

    /// Lines about the server, the data and the command, written to every record before the server is queried.
    pub(super) fn known_before(&self) -> impl Iterator<Item = Line> {
        let limit = self.stage.limit.iter();
        let limit = limit.map(|limit| Line::Limit(limit.recorded()));
        let dataset = self.stage.dataset.iter().cloned().map(Line::Dataset);
        let command = self.identity.command.iter().cloned().map(Line::Command);
        limit.chain(dataset).chain(command)
    }

    /// Sampling intervals of machine and server.
    pub(super) fn cadence(&self) -> Cadence {
        // Several loads have intervals of the same length.
        Cadence::new(self.sample_every, self.works[0].rules.interval)
    }

    /// What is done to the server while the load is measured; `None` without events.
    pub(super) fn events(&self) -> Option<Events> {
        let endpoint = self.stage.endpoint.as_ref()?;
        Events::of(
            self.run,
            endpoint,
            self.stage.process.as_ref(),
            &self.context.interrupt,
        )
    }

    /// The endpoint of the clients; control connections use the shorter access.
    fn clients(&self) -> Option<Endpoint> {
        let access = self.run.server.access();
        let server = self.stage.endpoint.as_ref()?;
        let mut endpoint = match &self.stage.proxy {
            Some(proxy) => proxy.endpoint(server),
            None => server.clone(),
        };
        if access.compress {
            // Compression is the subject of the run: without it, the run would measure something else.
            endpoint.compression = Compression::Required;
        }
        endpoint.round_trip = access.round_trip;
        Some(endpoint)
    }

    /// The transport with what is done on the way, such as `tcp loopback, compressed, 500µs added to the round trip`.
    fn transport(&self) -> String {
        let access = self.run.server.access();
        let kind = self.stage.transport().map_or("none", Transport::in_words);
        let mut transport = kind.to_owned();
        if access.compress {
            transport.push_str(", compressed");
        }
        if let Some(proxy) = &self.stage.proxy {
            transport.push_str(&format!(", through {}", proxy.in_words()));
        }
        if !access.round_trip.is_zero() {
            transport.push_str(&format!(
                ", {:?} added to the round trip",
                access.round_trip
            ));
        }
        transport
    }

    fn header(&self, load: &PlannedLoad, planned: &PlannedWork<'_>) -> RunHeader {
        let run = self.run;
        let others = run.loads.iter().filter(|it| it.spec.name != load.spec.name);
        let others = others.filter_map(|it| it.spec.name.clone());
        let mut header = RunHeader {
            format: FORMAT,
            dbdyno_version: env!("CARGO_PKG_VERSION").to_owned(),
            experiment: self.identity.experiment.to_owned(),
            experiment_sha256: self.identity.sha256.to_owned(),
            seed: load.seed,
            run: run.run,
            block: run.block,
            combination: run.combination_of(&load.spec),
            beside: others.collect(),
            started_at: utc_now(),
            connections: planned.rules.connections,
            loops: planned.rules.loops(&load.spec),
            io: "epoll".to_owned(),
            transport: self.transport(),
        };
        planned.work.identify(&mut header);
        header
    }

    /// Drives the loads to their end; returns what became of each of them.
    pub(super) fn drive(&mut self, recording: &mut Recording<'_>) -> Vec<Result<Outcome, Blamed>> {
        let clients = self.clients();
        let driver = |load, rules| Driver {
            endpoint: clients.clone(),
            control: self.stage.endpoint.clone(),
            load,
            rules,
            context: self.context,
        };
        if let ([PlannedWork { work, rules }], [load]) =
            (self.works.as_mut_slice(), self.run.loads.as_slice())
        {
            let driver = driver(load, *rules);
            let mut recording = recording.of_load(0);
            let outcome = match self.observer.as_deref_mut() {
                None => work.drive(&driver, &mut recording),
                Some(observer) => {
                    let recording = &mut recording;
                    let mut both = Observers {
                        recording,
                        observer,
                    };
                    work.drive(&driver, &mut both)
                }
            };
            return vec![outcome];
        }
        let loads = self.works.iter_mut().zip(&self.run.loads);
        let loads = loads.map(|(planned, load)| {
            let work: &mut dyn Work = planned.work;
            (work, driver(load, planned.rules))
        });
        drive_together(loads.collect(), &self.context.interrupt, recording)
    }

    /// Work after loads of `took_s` seconds; `is_complete` if all of them came to their planned end. An error if a load
    /// violated its rules.
    pub(super) fn follow_up(
        &self,
        took_s: f64,
        is_complete: bool,
        recording: &mut Recording<'_>,
    ) -> Result<(), Blamed> {
        let Some(endpoint) = &self.stage.endpoint else {
            return Ok(());
        };
        if let Some(proxy) = &self.stage.proxy {
            // The load was measured, whatever becomes of the proxy's own account.
            match proxy.work() {
                Ok(work) => recording.write(&Line::Proxy(work)),
                Err(error) => self.context.warn(&error.to_string()),
            }
            for complaint in proxy.complaints() {
                self.context.warn(&format!("the proxy says: {complaint}"));
            }
        }
        for (load, planned) in self.works.iter().enumerate() {
            let known = planned.work.known_after(endpoint, took_s, self.context);
            let known = known.iter();
            known.for_each(|line| recording.write_of(load, line));
        }
        let mut works = self.works.iter().enumerate().filter(|_| is_complete);
        works.try_for_each(|(load, planned)| {
            let mut tell = |line| recording.write_of(load, &line);
            planned.work.check(endpoint, self.context, &mut tell)
        })
    }
}

/// The recording, and another observer of the same load.
struct Observers<'o> {
    recording: &'o mut dyn Observer,
    observer: &'o mut dyn Observer,
}

impl Observer for Observers<'_> {
    fn connected(&mut self, open: u64, total: u64) {
        self.recording.connected(open, total);
        self.observer.connected(open, total);
    }

    fn runs(&mut self, pid: u32) {
        self.recording.runs(pid);
        self.observer.runs(pid);
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
