//! One run, of a plan or of a command: drives the loads of its benchmarks on its stage, and writes their records.

use std::{path::PathBuf, sync::Arc, time::Duration};

use blame::Blamed;
use experiment::{PlannedLoad, PlannedRun};
use load::{Counters, LoadListener, Outcome, Turns};
use protocol::{Compression, Connection, Endpoint};
use results::results_list;
use samples::{
    Command, Edge, FORMAT, Interval, Line, LoadStage, PhaseMark, RunHeader, SideBySide, Transport,
};

use crate::{
    benchmark::Work,
    control::{self, Purpose},
    events::Events,
    limit::{HeldDisk, ServerLimits},
    listener::Context,
    open_files,
    record::{
        load_record::NewRecord, recording::Recording, run_progress::RunProgress, sampling::Cadence,
    },
    run::{
        driver::{Driver, LoadRules},
        load_outcome::{LoadOutcome, end_together, first_error},
        several_loads::drive_together,
    },
    stage::{Stage, utc_now},
};

pub(crate) mod driver;
pub(crate) mod load_outcome;
mod load_threads;
pub(crate) mod session;
mod several_loads;
pub(crate) mod shortcoming;
pub(crate) mod single_run;
mod turn_planner;

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
pub(crate) struct StagedRun<'a> {
    pub identity: Identity<'a>,
    pub run: &'a PlannedRun,
    pub stage: &'a Stage,
    /// The work of each of its loads.
    pub works: Vec<PlannedWork<'a>>,
    /// How its load takes turns with those of other combinations; `None` for a run that is measured alone.
    pub side_by_side: Option<SideBySide>,
    /// Receives the events of a single load in addition to the recording.
    pub observer: Option<&'a mut dyn LoadListener>,
    /// Requested sampling interval of machine and server; `None` for the defaults.
    pub sample_every: Option<Duration>,
    pub context: &'a Context,
}

/// Drives the loads of a run and writes their records to these paths; after an error the records contain the reason why
/// they are incomplete. An incomplete run is an error only if nothing was measured.
pub(crate) fn record(
    planned: &mut StagedRun<'_>,
    paths: &[PathBuf],
    progress: RunProgress<'_>,
) -> Result<Vec<LoadOutcome>, Blamed> {
    open_files::provide_for(planned.connections())?;
    let pause = planned.pause();
    if !pause.is_zero() {
        control::wait(reactor::sleep(pause))?;
    }
    let records = planned.new_records(paths);
    // From here on, so that the machine's line and the first sample tell of it.
    let held = planned.stage.limit.as_ref().map(ServerLimits::hold);
    let held = held.transpose()?;
    let mut recording = planned.begin(&records, Some(progress))?;
    if planned.identity.command.is_some() {
        // The records of an experiment are parts of its results, which are listed.
        for record in &records {
            results_list::list(record.path, &|what| planned.context.warn(what));
        }
    }
    let driven = perform(planned, &records, &mut recording, held);
    end(recording, records.len(), driven.as_deref())?;
    driven
}

/// Executes everything between the first lines and the last lines.
fn perform(
    planned: &mut StagedRun<'_>,
    records: &[NewRecord<'_>],
    recording: &mut Recording<'_>,
    held: Option<HeldDisk>,
) -> Result<Vec<LoadOutcome>, Blamed> {
    planned.before(recording)?;
    let outcomes = planned.drive(recording);
    recording.end_load();
    // What follows is not measured, and is not to take hours. The last sample still counts under the limit.
    drop(held);
    let took_s = record_outcomes(recording, &outcomes);
    let mut driven: Vec<LoadOutcome> = outcomes.into_iter().map(LoadOutcome::of).collect();
    end_together(&mut driven, &names_of_loads(records));
    if driven.iter().all(|it| it.outcome.is_none()) {
        return first_error(driven).map_or(Ok(Vec::new()), Err);
    }
    let is_complete = driven.iter().all(|it| it.ended.is_ok());
    planned.after(took_s, is_complete, recording)?;
    Ok(driven)
}

/// Writes the results of the loads of a run, which have ended; returns how long they took in seconds.
fn record_outcomes(recording: &mut Recording<'_>, outcomes: &[Result<Outcome, Blamed>]) -> f64 {
    // Later queries to the server are not part of the load.
    let took_s = recording.elapsed_s();
    for (load, outcome) in outcomes.iter().enumerate() {
        let measured = outcome.iter();
        measured.for_each(|outcome| recording.outcome(load, outcome));
    }
    took_s
}

/// Writes the last lines of the records of a run with this number of loads: what became of them, or why nothing was
/// measured.
fn end(
    recording: Recording<'_>,
    loads: usize,
    driven: Result<&[LoadOutcome], &Blamed>,
) -> Result<(), Blamed> {
    let ended: Vec<Result<&str, &Blamed>> = match driven {
        Ok(driven) => {
            let ended = driven.iter().map(|it| it.ended.as_ref());
            ended.map(|it| it.map(String::as_str)).collect()
        }
        Err(error) => vec![Err(error); loads],
    };
    recording.end(&ended)
}

/// The loads of these records, `load batch`.
fn names_of_loads(records: &[NewRecord<'_>]) -> Vec<String> {
    let levels = records.iter().map(|it| &it.header.combination);
    let names = levels.map(|it| it.get(samples::LOAD).map_or("", String::as_str));
    names.map(|name| format!("load {name}")).collect()
}

/// Purpose of these statements, and thus their time limit: those of the user may take long.
fn purpose(statements: &[String]) -> Purpose {
    if statements.is_empty() {
        Purpose::Question
    } else {
        Purpose::OfUser
    }
}

async fn run_all(
    connection: &mut Connection,
    statements: &[String],
) -> Result<(), protocol::Error> {
    for statement in statements {
        connection.query(statement.as_bytes()).await?;
    }
    Ok(())
}

impl<'a> StagedRun<'a> {
    /// Connections of all its loads.
    fn connections(&self) -> u64 {
        let of_loads = self.works.iter().map(|it| it.rules.connections);
        of_loads.map(u64::from).sum()
    }

    /// The time without a load before it.
    fn pause(&self) -> Duration {
        // Several loads have the same pause.
        self.run.loads[0].spec.pause
    }

    /// Begins its records, with what is known before the server is queried.
    fn begin<'r>(
        &self,
        records: &[NewRecord<'_>],
        progress: Option<RunProgress<'r>>,
    ) -> Result<Recording<'r>, Blamed>
    where
        'a: 'r,
    {
        let mut recording = Recording::begin(
            records,
            self.stage,
            self.cadence(),
            self.context,
            progress,
            self.events(),
        )?;
        (self.known_before()).for_each(|line| recording.write(&line));
        for (load, record) in records.iter().enumerate() {
            let known = record.known_before.iter();
            known.for_each(|line| recording.write_of(load, line));
        }
        Ok(recording)
    }

    /// Executes the statements before the load.
    fn before(&self, recording: &mut Recording<'_>) -> Result<(), Blamed> {
        let (run, stage) = (self.run, self.stage);
        let Some(endpoint) = &stage.endpoint else {
            return Ok(());
        };
        purpose(&run.before).control(endpoint, async |connection| {
            run_all(connection, &run.before).await?;
            // After these statements, so that their settings are included, which apply to the load.
            let server = stage.identify(connection, Edge::Start).await?;
            recording.write(&Line::Server(server));
            Ok(())
        })
    }

    /// The begin of the records of its loads, which these paths get.
    fn new_records<'p>(&self, paths: &'p [PathBuf]) -> Vec<NewRecord<'p>> {
        let records = paths.iter().zip(&self.run.loads).zip(&self.works);
        let records = records.map(|((path, load), planned)| NewRecord {
            path,
            header: self.header(load, planned),
            known_before: planned.work.known_before(),
        });
        records.collect()
    }

    /// Lines about the server, the data, the turns and the command, written to every record before the server is queried.
    fn known_before(&self) -> impl Iterator<Item = Line> {
        let limit = self.stage.limit.iter();
        let limit = limit.map(|limit| Line::Limit(limit.recorded()));
        let dataset = self.stage.dataset.iter().cloned().map(Line::Dataset);
        let turns = self.side_by_side.iter().cloned().map(Line::SideBySide);
        let command = self.identity.command.iter().cloned().map(Line::Command);
        limit.chain(dataset).chain(turns).chain(command)
    }

    /// Sampling intervals of machine and server.
    fn cadence(&self) -> Cadence {
        // Several loads have intervals of the same length.
        Cadence::new(self.sample_every, self.works[0].rules.interval)
    }

    /// What is done to the server while the load is measured; `None` without events.
    fn events(&self) -> Option<Events> {
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
    fn drive(&mut self, recording: &mut Recording<'_>) -> Vec<Result<Outcome, Blamed>> {
        let context = self.context;
        let observer = self.observer.take();
        let mut loads = self.loads(None);
        if loads.len() > 1 {
            return drive_together(loads, &context.interrupt, recording);
        }
        let (work, driver) = loads.pop().expect("a run has a load");
        let mut recording = recording.of_load(0);
        let outcome = match observer {
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
        vec![outcome]
    }

    /// Its loads, which have operations in these turns, or all the time.
    fn loads(&mut self, turns: Option<&Arc<Turns>>) -> Vec<(&mut dyn Work, Driver<'_>)> {
        let clients = self.clients();
        let loads = self.works.iter_mut().zip(&self.run.loads);
        let loads = loads.map(|(planned, load)| {
            let work: &mut dyn Work = planned.work;
            let driver = Driver {
                endpoint: clients.clone(),
                control: self.stage.endpoint.clone(),
                load,
                rules: planned.rules,
                turns: turns.cloned(),
                context: self.context,
            };
            (work, driver)
        });
        loads.collect()
    }

    /// Work after loads of `took_s` seconds, and the statements after them; `is_complete` if all of them came to their
    /// planned end. An error if a load violated its rules.
    fn after(
        &self,
        took_s: f64,
        is_complete: bool,
        recording: &mut Recording<'_>,
    ) -> Result<(), Blamed> {
        self.follow_up(took_s, is_complete, recording)?;
        let (run, stage) = (self.run, self.stage);
        let Some(endpoint) = stage.endpoint.as_ref().filter(|_| is_complete) else {
            return Ok(());
        };
        purpose(&run.after).control(endpoint, async |connection| {
            let server = stage.identify(connection, Edge::End).await?;
            recording.write(&Line::Server(server));
            run_all(connection, &run.after).await
        })
    }

    /// Work after loads before the statements.
    fn follow_up(
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
    recording: &'o mut dyn LoadListener,
    observer: &'o mut dyn LoadListener,
}

impl LoadListener for Observers<'_> {
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
