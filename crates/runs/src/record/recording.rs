//! Writes the records of a run while its loads run, and reports the progress.

use std::time::Duration;

use blame::Blamed;
use load::{Counters, LoadListener, Outcome};
use reactor::Instant;
use samples::{
    Ceiling, End, Interval, Line, LoadStage, Machine, Phase, PhaseMark, RunWriter, WriteError,
};
use telemetry::{Sampler, ServerSampler};

use crate::{
    claimed_place::of_test_file,
    events::Events,
    listener::Context,
    record::{
        calibration::{self, Calibration},
        load_record::{LoadRecord, NewRecord},
        run_progress::RunProgress,
        sampling::{Cadence, Moments, Sampling},
        server_directories::server_directories,
        server_host::ServerHost,
    },
    stage::Stage,
};

/// Maximum wait of a warm-up for the server's first counters: a server that reports them does so within one or two
/// seconds of the request.
const COUNTERS_AWAITED: Duration = Duration::from_secs(5);

/// The server's number of pages that are modified and not flushed.
const DIRTY_PAGES: &str = "Innodb_buffer_pool_pages_dirty";

/// Writes the activity of the loads of one run and of the machine, to one record for each load.
pub(crate) struct Recording<'a> {
    loads: Vec<LoadRecord>,
    /// The records, for what is known of machine and server.
    writer: RunWriter,
    /// `Some` until the load starts.
    sampler: Option<Sampler>,
    /// `Some` while the load runs.
    sampling: Option<Sampling>,
    /// The server's machine, if it is another one and is observed; until the load ends.
    server_host: Option<ServerHost>,
    cadence: Cadence,
    /// Sampler of the server's counters, until the end of the load.
    server: Option<ServerSampler>,
    /// False for a load without one.
    has_server: bool,
    /// True until the sampler reports its end, which may be at the start.
    asks_the_server: bool,
    /// The dirty pages of the server's last reading; `None` if it does not report them.
    dirty_pages: Option<f64>,
    context: &'a Context,
    started: Option<Instant>,
    /// The first line that could not be written; the load was then requested to end.
    failed: Option<WriteError>,
    /// The way between clients and server.
    transport: String,
    /// The client's machine.
    machine: Machine,
    /// The planned events, until the end of the load.
    events: Option<Events>,
    /// `None` where several runs are measured together, whose progress is shown as one.
    progress: Option<RunProgress<'a>>,
}

impl<'a> Recording<'a> {
    /// Begins the records: writes their headers, the machine and the server's state before the load. During the load,
    /// machine and server are sampled at the intervals of `cadence`.
    pub(crate) fn begin(
        records: &[NewRecord<'_>],
        stage: &Stage,
        cadence: Cadence,
        context: &'a Context,
        progress: Option<RunProgress<'a>>,
        events: Option<Events>,
    ) -> Result<Self, Blamed> {
        let server_host = stage
            .observation
            .as_deref()
            .map(|it| ServerHost::reach(it, context));
        let server_host = server_host.transpose()?;
        let loads = records.iter().map(LoadRecord::begin);
        let loads = loads.collect::<Result<Vec<_>, _>>()?;
        let comes_back = events.as_ref().is_some_and(Events::restart_the_server);
        let connections = loads.iter().map(LoadRecord::connections).sum();
        let every = cadence.server;
        let watched = stage.watched(connections, every, comes_back, &context.interrupt);
        let server = watched.map(ServerSampler::start);
        let mut sampler = Sampler::new(stage.targets());
        if server_host.as_ref().is_some_and(ServerHost::is_reached) {
            sampler.server_host_is_observed();
        }
        if server.is_none() {
            sampler.has_no_server();
        }
        if let Some(proxy) = &stage.proxy {
            sampler.proxy_runs(proxy.pid());
        }
        let machine = sampler.machine();
        let is_shared = server_host.as_ref().is_some_and(ServerHost::is_shared);
        let transport = records.first().map(|it| it.header.transport.clone());
        let mut recording = Self {
            writer: RunWriter::new(loads.iter().map(LoadRecord::writer).collect()),
            loads,
            sampler: Some(sampler),
            sampling: None,
            server_host,
            cadence,
            has_server: server.is_some(),
            asks_the_server: server.is_some(),
            dirty_pages: None,
            server,
            context,
            started: None,
            failed: None,
            transport: transport.unwrap_or_default(),
            machine: machine.clone(),
            events,
            progress,
        };
        // The observer provides more about a machine that client and server share.
        if !is_shared {
            recording.write(&Line::Machine(machine));
        }
        recording.take_server_lines();
        Ok(recording)
    }

    pub(crate) fn of_load(&mut self, load: usize) -> LoadObserver<'_, 'a> {
        LoadObserver {
            recording: self,
            load,
        }
    }

    /// Seconds since the start of the load; 0 before it.
    pub(crate) fn elapsed_s(&self) -> f64 {
        self.started
            .map_or(0.0, |start| (reactor::system_now() - start).as_secs_f64())
    }

    /// The first line that could not be written; the load was then requested to end.
    pub(crate) fn failure(&self) -> Option<&WriteError> {
        self.failed.as_ref()
    }

    /// Writes the results of the load with this index at its end.
    pub(crate) fn outcome(&mut self, load: usize, outcome: &Outcome) {
        self.end_sampling();
        self.finish_server();
        for connects in &outcome.connects {
            self.write_of(load, &Line::Connects(connects.clone()));
        }
        self.write_of(load, &Line::Offered(outcome.offered.clone()));
        for stage in &outcome.stages {
            self.write_of(load, &Line::LoadStage(Box::new(stage.clone())));
        }
        for error in &outcome.errors {
            self.write_of(load, &Line::Error(error.clone()));
        }
    }

    /// Ends what accompanies the load: the planned events, and the samples of the machine.
    pub(crate) fn end_load(&mut self) {
        self.end_events();
        self.end_sampling();
    }

    /// Ends the planned events, if that has not been done; a server that is being started is waited for.
    fn end_events(&mut self) {
        let Some(events) = self.events.take() else {
            return;
        };
        let carried = events.finish();
        self.failed = self.failed.take().or(carried.failed);
        if let Some(first_s) = carried.first_s {
            // What an event does is no unsteadiness of the run.
            let loads = self.loads.iter_mut();
            loads.for_each(|load| load.end_course_at(first_s));
        }
    }

    /// Starts the sampling; the load starts at this time.
    pub(crate) fn start(&mut self, at: Instant) {
        self.started = Some(at);
        let every = self.cadence.machine;
        let sampler = self.sampler.take();
        if let Some(host) = &mut self.server_host {
            let interrupt = self.context.interrupt.clone();
            host.start(at, every, self.writer.clone(), interrupt);
        }
        let is_shared = self.server_host.as_ref().is_some_and(ServerHost::is_shared);
        // Only the observer samples a machine that client and server share.
        let sampler = sampler.filter(|_| !is_shared);
        self.sampling =
            sampler.map(|sampler| Sampling::start(sampler, self.writer.clone(), at, every));
        self.server.iter().for_each(|server| server.started(at));
    }

    /// Samples machine and server at these moments of the load, which are later than all before; from now on no longer at
    /// their intervals.
    pub(crate) fn sample_at(&self, moments: Moments) {
        if let Some(sampling) = &self.sampling {
            sampling.sample_at(moments.machine);
        }
        if let Some(server) = &self.server {
            server.read_at(moments.server);
        }
    }

    /// The dirty pages of the server's last reading; `None` if it does not report them.
    pub(crate) fn dirty_pages(&self) -> Option<f64> {
        self.dirty_pages
    }

    /// Writes what was read of the server since the last call.
    pub(crate) fn take_server_lines(&mut self) {
        let lines: Vec<Line> = self.server.iter().flat_map(ServerSampler::lines).collect();
        lines.iter().for_each(|line| self.write(line));
    }

    /// Takes the last sample of the server, if that has not been done.
    fn finish_server(&mut self) {
        if let Some(server) = self.server.take() {
            server.finish().iter().for_each(|line| self.write(line));
        }
    }

    /// Writes the last lines of each record: the end of the run, or why it is incomplete. An error is a line that could
    /// not be written.
    pub(crate) fn end(mut self, ended: &[Result<&str, &Blamed>]) -> Result<(), Blamed> {
        self.end_events();
        self.finish_server();
        self.end_sampling();
        let t_s = self.elapsed_s();
        let ceiling = self.has_server.then(|| self.ceiling());
        for (load, ended) in ended.iter().enumerate() {
            let end = End {
                t_s,
                complete: ended.is_ok(),
                why: match ended {
                    Ok(why) => (*why).to_owned(),
                    Err(error) => format!("{error:#}"),
                },
            };
            self.keep(|it| it.loads[load].end(ceiling.as_ref(), end));
        }
        match self.failed {
            Some(error) => Err(error.into()),
            None => Ok(()),
        }
    }

    /// The share of the client's ceiling that all loads together used.
    fn ceiling(&self) -> Ceiling {
        let connections = self.loads.iter().map(LoadRecord::connections).sum();
        let per_s = self.loads.iter().map(LoadRecord::statements_per_s);
        let per_s = per_s.flatten().reduce(|sum, per_s| sum + per_s);
        let way = (self.transport.as_str(), connections);
        calibration::ceiling(Calibration::kept().as_ref(), way, &self.machine, per_s)
    }

    /// Writes the cost of sampling, and changes of the machine since the start.
    fn end_sampling(&mut self) {
        if let Some(sampling) = self.sampling.take() {
            let sampled = sampling.stop();
            self.failed = self.failed.take().or(sampled.failed);
            for changed in sampled.sampler.changes() {
                self.append(&Line::Changed(changed));
            }
            self.append(&Line::Collected(sampled.collected));
        }
        if let Some(host) = self.server_host.take() {
            let (lines, failed) = host.leave(self.context);
            self.failed = self.failed.take().or(failed);
            lines.iter().for_each(|line| self.append(line));
        }
    }

    /// Appends a line to every record. The storage of the server's directories follows its first line. After the first
    /// failure nothing more is written, and that failure is kept.
    pub(crate) fn write(&mut self, line: &Line) {
        match line {
            Line::ServerStatus(status) => {
                // A reading has only what changed.
                let changed = status.values.get(DIRTY_PAGES).copied();
                self.dirty_pages = changed.or(self.dirty_pages);
                let loads = self.loads.iter_mut();
                loads.for_each(|load| load.server_status(status));
            }
            Line::Server(server) if self.sampler.is_some() => {
                let directories = server_directories(&server.variables);
                self.append(line);
                let storage = self.sampler.as_mut().and_then(|it| it.storage(directories));
                if let Some(storage) = storage {
                    self.append(&Line::Storage(storage));
                }
                if let Some(host) = &self.server_host {
                    let lines = host.watch(&server.variables, &self.machine.cgroups);
                    lines.iter().for_each(|line| self.append(line));
                }
                return;
            }
            Line::ServerObservation(_) => self.asks_the_server = false,
            _ => {}
        }
        self.append(line);
    }

    /// Appends a line to the record of the load with this index. The storage behind a directory follows the line about
    /// the requests to it.
    pub(crate) fn write_of(&mut self, load: usize, line: &Line) {
        self.keep(|it| it.loads[load].append(line));
        if let (Line::DiskLoad(disk), Some(sampler)) = (line, &mut self.sampler) {
            let test_file = of_test_file(disk.directory.clone().into());
            if let Some(storage) = sampler.storage(vec![test_file]) {
                self.append(&Line::Storage(storage));
            }
        }
    }

    fn append(&mut self, line: &Line) {
        self.keep(|it| it.writer.append(line));
    }

    /// Writes unless writing has failed before; a failure is kept, and ends the load.
    fn keep(&mut self, write: impl FnOnce(&mut Self) -> Result<(), WriteError>) {
        if self.failed.is_some() {
            return;
        }
        if let Err(error) = write(self) {
            self.failed = Some(error);
            self.context.interrupt.raise();
        }
    }

    /// Shows the figures of all loads, and the event that runs, if any.
    fn show(&self) {
        let Some(progress) = &self.progress else {
            return;
        };
        let are_several = self.loads.len() > 1;
        let loads = self.loads.iter();
        let loads = loads.filter_map(|load| load.in_words(are_several));
        let event = self.events.as_ref().and_then(Events::running);
        let event = event.map_or_else(String::new, |event| format!("event {event}, "));
        let label = progress.label.clone();
        let words: String = loads.chain([event, label]).collect();
        progress.show(&words, self.elapsed_s());
    }
}

/// What one load of a run reports goes to its record.
pub(crate) struct LoadObserver<'r, 'a> {
    recording: &'r mut Recording<'a>,
    load: usize,
}

impl LoadListener for LoadObserver<'_, '_> {
    fn connected(&mut self, open: u64, total: u64) {
        let recording = &mut *self.recording;
        recording.loads[self.load].connect(open, total);
        let loads = recording.loads.iter().map(LoadRecord::connected);
        let (open, total) = loads.fold((0, 0), |sum, it| (sum.0 + it.0, sum.1 + it.1));
        if let Some(progress) = &recording.progress {
            progress.connected(open, total);
        }
    }

    fn runs(&mut self, pid: u32) {
        if let Some(sampler) = &mut self.recording.sampler {
            sampler.client_runs(pid);
        }
    }

    fn started(&mut self) {
        // All loads of a run start together.
        if self.recording.started.is_none() {
            self.recording.start(reactor::system_now());
        }
    }

    fn phase(&mut self, mark: PhaseMark) {
        let recording = &mut *self.recording;
        let begins = (mark.phase == Phase::Measurement).then_some(mark.t_s);
        recording.keep(|it| it.loads[self.load].phase(mark));
        if let (Some(begin_s), Some(start), Some(events)) =
            (begins, recording.started, &mut recording.events)
        {
            let begin = start + Duration::from_secs_f64(begin_s);
            events.measured_from(begin, begin_s, recording.writer.clone(), recording.context);
        }
    }

    fn stage(&mut self, stage: LoadStage) {
        self.recording.keep(|it| it.loads[self.load].stage(stage));
    }

    fn interval(&mut self, interval: Interval) {
        let recording = &mut *self.recording;
        recording.keep(|it| it.loads[self.load].interval(interval));
        recording.show();
        let new_pid = recording.events.as_ref().and_then(Events::new_server_pid);
        if let (Some(pid), Some(sampling)) = (new_pid, &recording.sampling) {
            sampling.server_runs(pid);
        }
        recording.take_server_lines();
    }

    fn counters(&mut self, since_s: f64) -> Counters {
        let recording = &*self.recording;
        let course = recording.loads[self.load].course();
        let counted = course.counted_since(since_s);
        let is_early = recording.elapsed_s() < COUNTERS_AWAITED.as_secs_f64();
        Counters {
            are_awaited: recording.asks_the_server && is_early && !course.is_counted(),
            misses_per_s: counted.misses_per_s,
            checkpoint_age_bytes: counted.checkpoint_age_bytes,
            dirty_pages: counted.dirty_pages,
        }
    }
}
