//! What runs need of a benchmark (its tables of options, its data sets, and what its clients do), and the registry of the
//! benchmarks that an experiment can name.

use std::{
    borrow::Cow,
    path::{Path, PathBuf},
};

use blame::Blamed;
use experiment::{DataSpec, Experiment, LoadSpec, Plan, PlannedLoad, PlannedRun};
use load::{LoadListener, Outcome};
use protocol::Endpoint;
use samples::{Line, RunHeader};
use server::Cgroup;
use settings::{DataKind, DiskLimits, LoadKind, Vocabulary};

use crate::{
    data::DataSet, limit::check_limits_of_servers, listener::Context,
    prepared_statements::PreparedStatements, run::driver::Driver, stage::Stage,
};

/// A benchmark in the runs of an experiment.
pub trait Benchmark: Send + Sync {
    /// Its table below `[load]`, of the same name.
    fn load_options(&self) -> &'static dyn LoadKind;

    /// An error where the data or the loads of a run cannot be what they say, if they are its own; starts and writes
    /// nothing.
    fn check(&self, _run: &PlannedRun) -> Result<(), Blamed> {
        Ok(())
    }

    /// This benchmark with what it has read of a plan's files, each once; `None` for one that keeps none.
    fn with_files(
        &self,
        _plan: &Plan,
        _context: &Context,
    ) -> Result<Option<Box<dyn Benchmark>>, Blamed> {
        Ok(None)
    }

    /// The content of a file in the benchmark's own language without its passwords; `None` for any other file.
    fn without_passwords<'f>(&self, _file: &'f [u8]) -> Option<Cow<'f, [u8]>> {
        None
    }

    /// What it has on a server; `None` for one that uses none.
    fn on_server(&self) -> Option<&dyn OnServer>;

    /// The prepared statements that the connections of a load keep.
    fn prepared_statements(
        &self,
        _run: &PlannedRun,
        _load: &PlannedLoad,
    ) -> Result<PreparedStatements, Blamed> {
        Ok(PreparedStatements::default())
    }

    /// The directory that a load without a server uses.
    fn directory(&self, _load: &LoadSpec) -> Option<PathBuf> {
        None
    }

    /// The limits that such a load sets on the disk of that directory.
    fn disk_limits(&self, _load: &LoadSpec) -> Option<DiskLimits> {
        None
    }

    /// What the clients of a load of a run do on its stage; finds existing tables if the plan creates none.
    fn work(
        &self,
        run: &PlannedRun,
        load: &PlannedLoad,
        stage: &mut Stage,
        context: &Context,
    ) -> Result<Box<dyn Work>, Blamed>;
}

/// What a benchmark has on a server.
pub trait OnServer {
    /// Name of the database that its clients use.
    fn name(&self, load: &LoadSpec) -> Result<String, Blamed>;

    /// The data that it makes; `None` for one that uses what is there, or another's.
    fn data_maker(&self) -> Option<&dyn DataMaker>;
}

/// The data that a benchmark makes.
pub trait DataMaker: Sync {
    /// Its table below `[data]`.
    fn data_options(&self) -> &'static dyn DataKind;

    /// The data set that a run meets.
    fn data_set(&self, data: &DataSpec, load: &LoadSpec) -> Box<dyn DataSet>;
}

/// What the clients of a load do.
pub trait Work: Send {
    /// Corrects what the record's first line says of the clients, where other clients than dbdyno's own do it.
    fn identify(&self, _header: &mut RunHeader) {}

    /// What the record says of it before it begins.
    fn known_before(&self) -> Vec<Line> {
        Vec::new()
    }

    fn drive(
        &self,
        driver: &Driver<'_>,
        observer: &mut dyn LoadListener,
    ) -> Result<Outcome, Blamed>;

    /// Lines of the record after its end, given its duration in seconds, whether it succeeded or not.
    fn known_after(&self, _endpoint: &Endpoint, _took_s: f64, _context: &Context) -> Vec<Line> {
        Vec::new()
    }

    /// An error when it did what its rules forbid; `tell` hears what was found.
    fn check(
        &self,
        _endpoint: &Endpoint,
        _context: &Context,
        _tell: &mut dyn FnMut(Line),
    ) -> Result<(), Blamed> {
        Ok(())
    }
}

/// Benchmarks and data sets, one entry each.
pub struct Registry {
    /// If a file has the tables of several benchmarks, the later one in this list has precedence.
    pub benchmarks: &'static [&'static dyn Benchmark],
    /// Data sets without a load of their own.
    pub data: &'static [&'static dyn DataMaker],
}

impl Registry {
    /// The options of all benchmarks in an experiment file.
    pub fn vocabulary(&self) -> Vocabulary {
        let loads = self.benchmarks.iter();
        Vocabulary {
            data: self.data_makers().map(DataMaker::data_options).collect(),
            loads: loads.map(|known| known.load_options()).collect(),
        }
    }

    /// Checks that all runs of a plan are possible, and reads its files; starts and writes nothing.
    pub fn read(&'static self, plan: &Plan, context: &Context) -> Result<PlanBenchmarks, Blamed> {
        for run in &plan.runs {
            let data = run.data.as_ref().map(|data| data.source.name());
            if let Some(maker) = data.and_then(|data| self.maker_among_benchmarks(data)) {
                maker.check(run)?;
            }
            for load in &run.loads {
                self.benchmark(load.spec.source.name()).check(run)?;
            }
        }
        let mut with_files = Vec::new();
        for known in self.benchmarks {
            with_files.extend(known.with_files(plan, context)?);
        }
        Ok(PlanBenchmarks {
            registry: self,
            with_files,
        })
    }

    /// An error if a limit of the experiment, on its servers or on the disks of its loads, cannot be set on this machine.
    pub fn check_limits(&self, experiment: &Experiment) -> Result<(), Blamed> {
        if experiment.is_simulated() {
            return Ok(());
        }
        let plan = experiment.plan();
        check_limits_of_servers(plan)?;
        let mut limited = Vec::new();
        for load in plan.runs.iter().flat_map(|run| &run.loads) {
            let load = &load.spec;
            let of_load = self.benchmark(load.source.name());
            let disk = of_load.directory(load).zip(of_load.disk_limits(load));
            limited.extend(disk.filter(|disk| !limited.contains(disk)));
        }
        for (directory, limits) in limited {
            // It is made only to see whether that is possible, and removed at once.
            Cgroup::create(&directory, limits)?;
        }
        Ok(())
    }

    /// The content of an experiment's file without its passwords, for the copy beside its results; `None` if it contains
    /// none.
    ///
    /// No run needs them: clients log in according to `[server]`, and a private server reads its own option file groups.
    pub fn masked(&self, path: &Path, content: &[u8], context: &Context) -> Option<Vec<u8>> {
        let mut benchmarks = self.benchmarks.iter();
        let masked = match benchmarks.find_map(|known| known.without_passwords(content)) {
            Some(Cow::Owned(without)) => Some(without),
            Some(Cow::Borrowed(_)) => None,
            None => {
                let option_file = String::from_utf8_lossy(content);
                mycnf::without_passwords(&option_file).map(String::into_bytes)
            }
        };
        if masked.is_some() {
            let name = path.display();
            context.note(&format!(
                "{name}: its passwords are not copied into the results"
            ));
        }
        masked
    }

    /// The benchmark whose load has this name.
    fn benchmark(&self, name: &str) -> &'static dyn Benchmark {
        let mut benchmarks = self.benchmarks.iter().copied();
        let found = benchmarks.find(|known| known.load_options().name() == name);
        found.expect("an experiment knows no other table than the vocabulary's")
    }

    fn maker_among_benchmarks(&self, data: &str) -> Option<&'static dyn Benchmark> {
        let mut benchmarks = self.benchmarks.iter().copied();
        benchmarks.find(|known| {
            let maker = known.on_server().and_then(OnServer::data_maker);
            maker.is_some_and(|maker| maker.data_options().name() == data)
        })
    }

    fn data_makers(&self) -> impl Iterator<Item = &'static dyn DataMaker> {
        let of_benchmarks = self.benchmarks.iter().copied();
        let of_benchmarks = of_benchmarks.filter_map(|known| known.on_server());
        let of_benchmarks = of_benchmarks.filter_map(OnServer::data_maker);
        of_benchmarks.chain(self.data.iter().copied())
    }
}

/// The benchmarks of a plan, with what they have read of its files.
pub struct PlanBenchmarks {
    registry: &'static Registry,
    /// Those that keep what they read; they take the place of the registry's.
    with_files: Vec<Box<dyn Benchmark>>,
}

impl PlanBenchmarks {
    /// The benchmark whose load has this name.
    pub(crate) fn benchmark(&self, name: &str) -> &dyn Benchmark {
        let mut own = self.with_files.iter().map(Box::as_ref);
        let own = own.find(|known| known.load_options().name() == name);
        own.unwrap_or_else(|| self.registry.benchmark(name))
    }

    /// What makes the data with the option table of this name.
    pub(crate) fn data_maker(&self, name: &str) -> &dyn DataMaker {
        let own = self.with_files.iter().filter_map(|known| known.on_server());
        let mut own = own.filter_map(OnServer::data_maker);
        let own = own.find(|known| known.data_options().name() == name);
        own.unwrap_or_else(|| {
            let mut makers = self.registry.data_makers();
            let found = makers.find(|known| known.data_options().name() == name);
            found.expect("an experiment knows no other table than the vocabulary's")
        })
    }
}
