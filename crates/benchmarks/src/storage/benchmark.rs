//! Requests to a disk without a server in the runs of an experiment: fio's, under the experiment's record.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use blame::{Blame, Blamed};
use experiment::{LoadSpec, PlannedLoad, PlannedRun};
use load::{LoadListener, Outcome, Termination};
use runs::{
    Benchmark, Context, Driver, Length, OnServer, Stage, TestDirectory, Work,
    limit::{guard::GuardedGroup, recorded_limit},
};
use samples::{DiskLimit, DiskLoad, Line, RunHeader, ServerLimit};
use server::Cgroup;
use settings::{DiskLimits, OptionTable};
use storage::{Fio, FioLoad, StorageLoad};

use crate::storage::course::Course;

/// fio's job file among the test files.
const JOB_FILE: &str = "load.fio";

/// Requests to a disk.
pub(crate) struct Storage;

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

    fn disk_limits(&self, load: &LoadSpec) -> Option<DiskLimits> {
        storage::limits_of(&load.source.values)
    }

    fn check(&self, run: &PlannedRun) -> Result<(), Blamed> {
        for load in run.loads_of(StorageLoad.name()) {
            FioLoad::of(&load.spec.source.values)?;
        }
        Fio::find()?;
        Ok(())
    }

    fn work(
        &self,
        _run: &PlannedRun,
        load: &PlannedLoad,
        stage: &mut Stage,
        context: &Context,
    ) -> Result<Box<dyn Work>, Blamed> {
        let directory = stage.directory.as_ref();
        let directory = Arc::clone(directory.expect("a load without a server has a directory"));
        let seconds = load.spec.expected().as_secs() + 1;
        let load = FioLoad::of(&load.spec.source.values)?;
        if load.direct && !directory.is_direct() {
            let message = format!(
                "{}: its file system refuses requests that bypass the page cache",
                directory.path().display()
            );
            let hint = "direct = \"off\" measures through the page cache, or name a directory on another file system";
            return Err(Blamed::new(Blame::Input, message).hint(hint.to_owned()));
        }
        if let Some(bytes) = load.room_bytes.filter(|_| load.filled_bytes().is_none()) {
            directory.refuse_unless_room(bytes)?;
        }
        let test = directory.test();
        let (data, job_file) = (test.data(), test.path(JOB_FILE));
        let below = data.parent().unwrap_or(directory.path());
        let text = load.job_file(below, &data, seconds);
        files::replace(&job_file, text.as_bytes())
            .map_err(|error| Blamed::new(Blame::Machine, error))?;
        let group = load
            .limits
            .map(|limits| Cgroup::create(directory.path(), limits));
        let group = group.transpose()?.map(GuardedGroup::new).transpose()?;
        let limited = load.limits.zip(group.as_deref());
        let fio = Fio::find()?;
        match load.filled_bytes() {
            Some(bytes) => directory.fill(bytes, context)?,
            None => {
                // fio knows what it has laid out already.
                let _step = context.step("laying out the files of the jobs", Length::Unknown);
                fio.lay_out(&job_file, &context.interrupt)?;
            }
        }
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

struct Requests {
    known: DiskLoad,
    load: FioLoad,
    fio: Fio,
    job_file: PathBuf,
    limit: Option<DiskLimit>,
    /// Holds the limits of the disk.
    group: Option<GuardedGroup>,
    /// Its files stay as long as the load may use them.
    _directory: Arc<TestDirectory>,
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

    fn drive(
        &self,
        driver: &Driver<'_>,
        observer: &mut dyn LoadListener,
    ) -> Result<Outcome, Blamed> {
        let spec = &driver.load.spec;
        let mut course = Course::new(&self.load, spec.warmup, spec.duration, observer);
        let every = driver.rules.interval;
        let begin = reactor::system_now();
        let fio = self
            .fio
            .start(&self.job_file, every, self.group.as_deref())?;
        course.observer.runs(fio.pid());
        course.observer.started();
        let ended = fio.watch(&driver.context.interrupt, |part| {
            course.add(&part, (reactor::system_now() - begin).as_secs_f64())
        });
        let ended = match ended {
            Ok(()) => Termination::Planned,
            Err(storage::Error::Interrupted) => Termination::Interrupted,
            Err(error) => return Err(error.into()),
        };
        let elapsed = reactor::system_now() - begin;
        Ok(course.outcome(ended, elapsed))
    }
}
