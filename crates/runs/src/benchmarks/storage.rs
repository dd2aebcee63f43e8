//! Requests to a disk without a server in the runs of an experiment: fio's, under the experiment's record.

use std::{
    collections::BTreeMap,
    ops::ControlFlow,
    path::{Path, PathBuf},
    rc::Rc,
    time::Duration,
};

use experiment::{LoadSpec, PlannedRun};
use load::{Ended, Observer, OperationTotal, Outcome};
use samples::{
    DiskLimit, DiskLoad, Durations, Interval, Line, Offered, OperationInterval, Phase, PhaseMark,
    ReturnedRows, RunHeader, ServerLimit,
};
use server::Cgroup;
use settings::WarmUp;
use storage::{Fio, FioInterval, FioLoad, StorageLoad};

use crate::{
    benchmarks::{
        benchmark::{Benchmark, OnServer, Work},
        smack::files::SmackFiles,
    },
    blame::Blamed,
    exit_code::Blame,
    limit::recorded_limit,
    listener::Context,
    run::driver::{Driver, interval},
    stage::{Stage, test_directory::TestDirectory},
};

/// The load's name in a record.
const LOAD: &str = "storage";
/// A measurement is over this much before its time, where a report comes then, seconds.
const EARLY_S: f64 = 0.05;
/// fio's job file among the test files.
const JOB_FILE: &str = "load.fio";

/// Requests to a disk.
pub struct Storage;

impl Benchmark for Storage {
    fn on_server(&self) -> Option<&dyn OnServer> {
        None
    }

    fn load_options(&self) -> &'static dyn settings::LoadKind {
        &StorageLoad
    }

    fn directory(&self, load: &LoadSpec) -> Option<PathBuf> {
        load.source.values.directory("dir").map(Path::to_owned)
    }

    fn check(&self, run: &PlannedRun) -> Result<(), Blamed> {
        FioLoad::of(&run.load.source.values)?;
        Fio::find()?;
        Ok(())
    }

    fn work(
        &self,
        run: &PlannedRun,
        _files: &SmackFiles,
        stage: &mut Stage,
        context: &Context,
    ) -> Result<Box<dyn Work>, Blamed> {
        let directory = stage.directory.as_ref();
        let directory = Rc::clone(directory.expect("a load without a server has a directory"));
        let load = FioLoad::of(&run.load.source.values)?;
        if load.direct && !directory.is_direct() {
            let message = format!(
                "{}: its file system refuses requests past the page cache",
                directory.path().display()
            );
            let hint = "direct = \"off\" measures through the page cache, or name a directory on another file system";
            return Err(Blamed::new(Blame::Input, message).hint(hint.to_owned()));
        }
        if let Some(bytes) = load.room_bytes.filter(|_| load.filled_bytes().is_none()) {
            directory.refuse_unless_room(bytes)?;
        }
        let test = directory.test();
        let seconds = run.load.expected().as_secs() + 1;
        let (data, job_file) = (test.data(), test.path(JOB_FILE));
        let below = data.parent().unwrap_or(directory.path());
        let text = load.job_file(below, &data, seconds);
        files::replace(&job_file, text.as_bytes())
            .map_err(|error| Blamed::new(Blame::Machine, error))?;
        let group = load
            .limits
            .map(|limits| Cgroup::create(directory.path(), limits));
        let group = group.transpose()?;
        let limited = load.limits.zip(group.as_ref());
        let fio = Fio::find()?;
        directory.provide(&fio, &load, &job_file, context)?;
        Ok(Box::new(Requests {
            known: DiskLoad {
                directory: directory.path().display().to_string(),
                engine: load.engine.clone(),
                direct: load.direct,
                sync: load.sync.clone(),
                file_bytes: load.file_bytes,
                memory_bytes: telemetry::usable_memory_bytes(),
                fio_version: fio.version().to_owned(),
                jobs: load.jobs.clone(),
                job_file: text,
            },
            limit: limited.map(|(limits, group)| recorded_limit(limits, group)),
            group,
            load,
            fio,
            job_file,
            _directory: directory,
        }))
    }
}

/// The requests of a run.
struct Requests {
    known: DiskLoad,
    load: FioLoad,
    fio: Fio,
    job_file: PathBuf,
    limit: Option<DiskLimit>,
    /// Holds the limits of the disk.
    group: Option<Cgroup>,
    /// Its files stay as long as the load may use them.
    _directory: Rc<TestDirectory>,
}

impl Work for Requests {
    fn identify(&self, header: &mut RunHeader) {
        header.connections = self.known.requests_in_flight();
        header.loops = 1;
        // fio's, whose threads drive them instead of dbdyno's event loops.
        header.io.clone_from(&self.known.engine);
    }

    fn known_before(&self) -> Vec<Line> {
        let limit = self.limit.clone().map(|disk| {
            Line::Limit(ServerLimit {
                disk: Some(disk),
                ..ServerLimit::default()
            })
        });
        let load = Line::DiskLoad(Box::new(self.known.clone()));
        limit.into_iter().chain([load]).collect()
    }

    fn drive(&self, driver: &Driver<'_>, observer: &mut dyn Observer) -> Result<Outcome, Blamed> {
        let spec = &driver.run.load;
        let mut course = Course {
            load: &self.load,
            warm_up: spec.warmup,
            duration: spec.duration,
            observer,
            phase: None,
            offset_s: 0.0,
            measured_from_s: 0.0,
            totals: BTreeMap::new(),
            succeeded: 0,
        };
        let interrupt = driver.context.interrupt.flag();
        let every = interval(spec);
        let begin = reactor::system_now();
        let fio = self.fio.start(&self.job_file, every, self.group.as_ref())?;
        course.observer.runs(fio.pid());
        course.observer.started();
        let ended = fio.watch(&interrupt, |part| {
            course.add(&part, (reactor::system_now() - begin).as_secs_f64())
        });
        let ended = match ended {
            Ok(()) => Ended::Planned,
            Err(storage::Error::Interrupted) => Ended::Interrupted,
            Err(error) => return Err(error.into()),
        };
        let elapsed = reactor::system_now() - begin;
        Ok(course.outcome(ended, elapsed))
    }
}

/// What was measured so far of a run.
struct Course<'a> {
    load: &'a FioLoad,
    warm_up: WarmUp,
    duration: Duration,
    observer: &'a mut dyn Observer,
    phase: Option<Phase>,
    /// When fio's jobs began, seconds since the start.
    offset_s: f64,
    measured_from_s: f64,
    /// By operation, over all phases.
    totals: BTreeMap<String, Durations>,
    succeeded: u64,
}

impl Course<'_> {
    /// Takes the part of the course that a report adds, `now_s` after the start; breaks when the time is over.
    fn add(&mut self, part: &FioInterval, now_s: f64) -> ControlFlow<()> {
        let seconds = |ms: u64| ms as f64 / 1000.0;
        if self.phase.is_none() {
            self.offset_s = (now_s - seconds(part.to_ms)).max(0.0);
        }
        let (from_s, to_s) = (
            self.offset_s + seconds(part.from_ms),
            self.offset_s + seconds(part.to_ms),
        );
        self.enter_phase(part.from_ms, from_s);
        let phase = self.phase.expect("it was entered above");
        let operations: Vec<OperationInterval> = part
            .requests
            .iter()
            .map(|done| OperationInterval {
                load: LOAD.to_owned(),
                operation: self.load.operation(&done.job, done.are_reads),
                count: done.count,
                errors: 0,
                sum_ns: done.sum_ns,
                min_ns: done.min_ns,
                max_ns: done.max_ns,
                histogram: done.histogram.clone(),
                service: None,
                returned: ReturnedRows::default(),
            })
            .collect();
        for operation in &operations {
            let known = self.totals.entry(operation.operation.clone());
            known.or_default().add(&operation.response());
            if phase == Phase::Measurement {
                self.succeeded += operation.count;
            }
        }
        self.observer.interval(Interval {
            t_s: from_s,
            length_s: to_s - from_s,
            phase,
            operations,
            statements: Vec::new(),
            send_lag: None,
            pace: None,
            carried: Vec::new(),
        });
        if phase == Phase::Measurement {
            // Reports come a little early now and then: the last one must not be waited for in vain.
            let measured_s = to_s - self.measured_from_s + EARLY_S;
            if measured_s >= self.duration.as_secs_f64() {
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    }

    /// A phase begins with the first interval that is wholly in it.
    fn enter_phase(&mut self, from_ms: u64, from_s: f64) {
        let warm_up = self.warm_up.at_most();
        let phase = if u128::from(from_ms) < warm_up.as_millis() {
            Phase::WarmUp
        } else {
            Phase::Measurement
        };
        if self.phase == Some(phase) {
            return;
        }
        let why = match phase {
            Phase::WarmUp => "start".to_owned(),
            _ if warm_up.is_zero() => "no warm-up".to_owned(),
            _ => format!("warm-up of {} over", units::span(warm_up)),
        };
        if phase == Phase::Measurement {
            self.measured_from_s = from_s;
        }
        self.phase = Some(phase);
        self.observer.phase(PhaseMark {
            t_s: from_s,
            phase,
            why,
        });
    }

    fn outcome(self, ended: Ended, elapsed: Duration) -> Outcome {
        let totals = self.totals.into_iter();
        let totals = totals.map(|(operation, all)| OperationTotal {
            load: LOAD.to_owned(),
            operation,
            count: all.count,
            errors: 0,
            min_ns: all.min_ns,
            max_ns: all.max_ns,
            sum_ns: all.sum_ns,
            histogram: all.histogram,
        });
        Outcome {
            ended,
            elapsed,
            offered: Offered::of_closed_loop(self.succeeded),
            stop_why: None,
            connects: Vec::new(),
            totals: totals.collect(),
            users: Vec::new(),
            succeeded: self.succeeded,
            unfinished: 0,
            errors: Vec::new(),
        }
    }
}
