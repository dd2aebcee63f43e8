//! Writes the run record while a load runs, and reports the progress.

use std::{path::Path, time::Duration};

use load::{Counters, Observer, Outcome};
use reactor::Instant;
use samples::{
    End, Histogram, Interval, Line, LoadStage, Machine, Phase, PhaseMark, RecordWriter, RunHeader,
    WriteError,
};
use telemetry::{Sampler, ServerSampler};
use verdict::TimeSeries;

use crate::{
    blame::Blamed,
    claimed_place::of_test_file,
    events::Events,
    listener::{Context, Step},
    record::{
        calibration::{self, Calibration, StatementRate},
        sampling::{Cadence, Sampling},
        server_directories::server_directories,
        server_host::ServerHost,
        steady_judge::steadiness,
    },
    stage::Stage,
};

/// Maximum wait of a warm-up for the server's first counters: a server that reports them does so within one or two
/// seconds of the request.
const COUNTERS_AWAITED: Duration = Duration::from_secs(5);

/// Writes the activity of the load and of the machine during the run.
pub(crate) struct Recording<'a> {
    writer: RecordWriter,
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
    context: &'a Context,
    started: Option<Instant>,
    /// The first line that could not be written; the load was then requested to end.
    failed: Option<WriteError>,
    /// The header that was written to the record.
    header: Option<RunHeader>,
    /// The client's machine.
    machine: Machine,
    statements: StatementRate,
    /// The planned events, until the end of the load.
    events: Option<Events>,
    course: TimeSeries,
    loads_a_table: bool,
    /// The stage of the load, in words; empty without stages.
    stage: String,
    /// True from the second stage on, and for one that is a ramp.
    changes_by_plan: bool,
    progress: RunProgress<'a>,
}

/// The part of a progress bar that belongs to one run.
pub(crate) struct RunProgress<'a> {
    /// The bar; one run is 1,000 steps of it.
    pub step: &'a dyn Step,
    /// Label before the figures, for example `run 3/140 connections=8 mix=1:0`.
    pub label: String,
    /// Number of finished runs.
    pub runs_before: u64,
    /// Estimated duration of the plan from the begin of this run.
    pub left: Duration,
    /// Expected duration of this run, warm-up included, seconds.
    pub expected_s: f64,
}

impl<'a> Recording<'a> {
    /// Begins the record at `path`: writes the header, the machine and the server's state before the load. During the
    /// load, machine and server are sampled at the intervals of `cadence`.
    pub(crate) fn begin(
        path: &Path,
        header: RunHeader,
        stage: &Stage,
        cadence: Cadence,
        context: &'a Context,
        progress: RunProgress<'a>,
        events: Option<Events>,
    ) -> Result<Self, Blamed> {
        let server_host = stage
            .observation
            .as_deref()
            .map(|it| ServerHost::reach(it, context));
        let server_host = server_host.transpose()?;
        let writer = RecordWriter::create(path)?;
        let comes_back = events.as_ref().is_some_and(Events::restart_the_server);
        let (connections, every) = (header.connections, cadence.server);
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
        let mut recording = Self {
            writer,
            sampler: Some(sampler),
            sampling: None,
            server_host,
            cadence,
            has_server: server.is_some(),
            asks_the_server: server.is_some(),
            server,
            context,
            started: None,
            failed: None,
            header: None,
            machine: machine.clone(),
            statements: StatementRate::default(),
            events,
            course: TimeSeries::default(),
            loads_a_table: false,
            stage: String::new(),
            changes_by_plan: false,
            progress,
        };
        recording.write(&Line::Run(header));
        // The observer provides more about a machine that client and server share.
        if !is_shared {
            recording.write(&Line::Machine(machine));
        }
        recording.write_server_lines();
        Ok(recording)
    }

    /// Seconds since the start of the load; 0 before it.
    pub(crate) fn elapsed_s(&self) -> f64 {
        self.started
            .map_or(0.0, |start| (reactor::system_now() - start).as_secs_f64())
    }

    /// Writes the load's results at its end.
    pub(crate) fn outcome(&mut self, outcome: &Outcome) {
        self.end_sampling();
        self.finish_server();
        for connects in &outcome.connects {
            self.write(&Line::Connects(connects.clone()));
        }
        self.write(&Line::Offered(outcome.offered.clone()));
        for stage in &outcome.stages {
            self.write(&Line::LoadStage(Box::new(stage.clone())));
        }
        for error in &outcome.errors {
            self.write(&Line::Error(error.clone()));
        }
    }

    /// Ends the planned events, if that has not been done; a server that is being started is waited for.
    pub(crate) fn end_events(&mut self) {
        let Some(events) = self.events.take() else {
            return;
        };
        let carried = events.finish();
        self.failed = self.failed.take().or(carried.failed);
        if let Some(first_s) = carried.first_s {
            // What an event does is no unsteadiness of the run.
            self.course.end_at(first_s);
        }
    }

    fn write_server_lines(&mut self) {
        let lines: Vec<Line> = self.server.iter().flat_map(ServerSampler::lines).collect();
        lines.iter().for_each(|line| self.write(line));
    }

    /// Takes the last sample of the server, if that has not been done.
    fn finish_server(&mut self) {
        if let Some(server) = self.server.take() {
            server.finish().iter().for_each(|line| self.write(line));
        }
    }

    /// Writes the last line: the end of the run, or why it is incomplete. An error is a line that could not be written.
    pub(crate) fn end(mut self, ended: Result<&str, &Blamed>) -> Result<(), Blamed> {
        self.end_events();
        self.finish_server();
        self.write(&Line::End(End {
            t_s: self.elapsed_s(),
            complete: ended.is_ok(),
            why: match ended {
                Ok(why) => why.to_owned(),
                Err(error) => format!("{error:#}"),
            },
        }));
        match self.failed {
            Some(error) => Err(error.into()),
            None => Ok(()),
        }
    }

    /// Writes the cost of sampling, and changes of the machine since the start.
    pub(crate) fn end_sampling(&mut self) {
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

    /// Appends a line. The storage of the server's directories follows its first line, and the client's share of its
    /// ceiling precedes the last line. After the first failure nothing more is written, and that failure is kept.
    pub(crate) fn write(&mut self, line: &Line) {
        match line {
            Line::Run(header) => self.header = Some(header.clone()),
            Line::ServerStatus(status) => self.course.add_status(status),
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
            Line::DiskLoad(load) if self.sampler.is_some() => {
                self.append(line);
                let test_file = of_test_file(load.directory.clone().into());
                let storage = self.sampler.as_mut();
                if let Some(storage) = storage.and_then(|it| it.storage(vec![test_file])) {
                    self.append(&Line::Storage(storage));
                }
                return;
            }
            Line::Loaded(_) => self.loads_a_table = true,
            Line::ServerObservation(_) => self.asks_the_server = false,
            Line::End(_) => {
                self.end_sampling();
                self.append_steadiness();
                if let Some(header) = self.header.take().filter(|_| self.has_server) {
                    let kept = Calibration::kept();
                    let per_s = self.statements.per_s();
                    let ceiling =
                        calibration::ceiling(kept.as_ref(), &header, &self.machine, per_s);
                    self.append(&Line::Ceiling(ceiling));
                }
            }
            _ => {}
        }
        self.append(line);
    }

    /// Appends the judged steadiness, unless nothing was measured, the load filled a table or its level changed by plan,
    /// without a steady state.
    fn append_steadiness(&mut self) {
        let has_one_state = !self.loads_a_table && !self.changes_by_plan;
        if has_one_state && self.course.is_measured() {
            self.append(&Line::Steadiness(steadiness(&self.course)));
        }
    }

    fn append(&mut self, line: &Line) {
        if self.failed.is_some() {
            return;
        }
        if let Err(error) = self.writer.append(line) {
            self.failed = Some(error);
            self.context.interrupt.raise();
        }
    }
}

impl Observer for Recording<'_> {
    fn connected(&mut self, open: u64, total: u64) {
        let label = &self.progress.label;
        self.progress
            .step
            .say(&format!("{label}: {open} of {total} connected"));
    }

    fn runs(&mut self, pid: u32) {
        if let Some(sampler) = &mut self.sampler {
            sampler.client_runs(pid);
        }
    }

    fn started(&mut self) {
        let now = reactor::system_now();
        self.started = Some(now);
        let every = self.cadence.machine;
        let sampler = self.sampler.take();
        if let Some(host) = &mut self.server_host {
            host.start(
                now,
                every,
                self.writer.clone(),
                self.context.interrupt.clone(),
            );
        }
        let is_shared = self.server_host.as_ref().is_some_and(ServerHost::is_shared);
        // Only the observer samples a machine that client and server share.
        let sampler = sampler.filter(|_| !is_shared);
        self.sampling =
            sampler.map(|sampler| Sampling::start(sampler, self.writer.clone(), now, every));
        self.server.iter().for_each(|server| server.started(now));
    }

    fn phase(&mut self, mark: PhaseMark) {
        if mark.phase == Phase::WarmUp {
            // Previous measurements are a part of the warm-up.
            self.statements = StatementRate::default();
        }
        let begins = (mark.phase == Phase::Measurement).then_some(mark.t_s);
        self.write(&Line::Phase(mark));
        if let (Some(begin_s), Some(start), Some(events)) = (begins, self.started, &mut self.events)
        {
            let begin = start + Duration::from_secs_f64(begin_s);
            events.measured_from(begin, begin_s, self.writer.clone(), self.context);
        }
    }

    fn stage(&mut self, stage: LoadStage) {
        self.changes_by_plan |= stage.number > 1 || stage.is_ramp();
        self.stage = format!("stage {} ({}), ", stage.number, stage.in_words());
        self.write(&Line::LoadStage(Box::new(stage)));
    }

    fn interval(&mut self, interval: Interval) {
        let elapsed_s = self.elapsed_s();
        let events = self.events.as_ref();
        let event = events.and_then(Events::running);
        let event = event.map_or_else(String::new, |event| format!("event {event}, "));
        let now = format!("{}{event}", self.stage);
        self.progress.show(&interval, elapsed_s, &now);
        let new_pid = events.and_then(Events::new_server_pid);
        if let (Some(pid), Some(sampling)) = (new_pid, &self.sampling) {
            sampling.server_runs(pid);
        }
        self.statements.add(&interval);
        self.course.add(&interval);
        self.write(&Line::Interval(interval));
        self.write_server_lines();
    }

    fn counters(&mut self, since_s: f64) -> Counters {
        let counted = self.course.counted_since(since_s);
        let is_early = self.elapsed_s() < COUNTERS_AWAITED.as_secs_f64();
        Counters {
            are_awaited: self.asks_the_server && is_early && !self.course.is_counted(),
            misses_per_s: counted.misses_per_s,
            checkpoint_age_bytes: counted.checkpoint_age_bytes,
            dirty_pages: counted.dirty_pages,
        }
    }
}

impl RunProgress<'_> {
    /// Shows the figures of an interval; `now` is the stage of the load and the event that runs, if any.
    fn show(&self, interval: &Interval, elapsed_s: f64, now: &str) {
        let mut histogram = Histogram::new();
        for operation in &interval.operations {
            histogram.add(&operation.histogram);
        }
        let per_s = interval.succeeded() as f64 / interval.length_s;
        let p95 = histogram.quantile_ns(0.95);
        let p95 = p95.map_or("–".to_owned(), |ns| units::duration(ns as f64));
        let left = self.left.saturating_sub(Duration::from_secs_f64(elapsed_s));
        let throughput = units::per_s(per_s);
        let words = format!("{throughput}, p95 {p95}, {now}{}", self.label);
        self.step.say_with(&words, left);
        let share = (elapsed_s / self.expected_s).clamp(0.0, 1.0);
        self.step
            .reach(self.runs_before * 1000 + (share * 1000.0) as u64);
    }
}
