//! What the runs of a plan run on: private and given servers, the null server of a simulation, or directories.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use blame::{Blame, Blamed};
use experiment::{Design, Experiment, PlannedRun, Restart, ServerSpec, server_bytes_at_least};
use protocol::Endpoint;
use results::ResultsDirectory;

use crate::{
    benchmark::PlanBenchmarks,
    buffer_pools::BufferPools,
    data::WantedData,
    limit,
    listener::{Context, Event},
    named_server,
    prepared_statements::PreparedStatements,
    runner::choices::Choices,
    stage::{
        Stage,
        created_tables::CreatedTables,
        disk_room::{DiskRoom, provide_for_new},
        given_server::GivenServer,
        null_process::NullProcess,
        private_server::{PrivateServer, ServerLocation, settings_of},
        test_directory::TestDirectory,
    },
};

/// Everything that was started or claimed for the runs of one experiment.
pub(super) struct Servers<'a> {
    experiment: &'a Experiment,
    results: &'a ResultsDirectory,
    choices: &'a Choices,
    context: &'a Context,
    private: BTreeMap<ServerKey, PrivateServer>,
    given: BTreeMap<String, GivenServer>,
    /// Directories of loads without a server.
    directories: BTreeMap<PathBuf, Arc<TestDirectory>>,
    /// Replaces all of them in a simulation.
    null: Option<NullProcess>,
    /// The most prepared statements of any run on each server so far.
    prepared: Vec<(ServerSpec, PreparedStatements)>,
}

/// What distinguishes the private servers of a plan.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct ServerKey {
    /// Flavour and version.
    version: Option<String>,
    datadir: Option<PathBuf>,
    /// The levels of runs side by side, each of which has a server of its own; `None` where runs share one.
    combination: Option<BTreeMap<String, String>>,
}

impl ServerKey {
    /// That of the server of a run; `None` for a run on another one.
    fn of(run: &PlannedRun, design: Design) -> Option<Self> {
        let ServerSpec::Private {
            run: version,
            datadir,
            ..
        } = &run.server
        else {
            return None;
        };
        let has_own = matches!(design, Design::SideBySide(_));
        Some(Self {
            version: version.clone(),
            datadir: datadir.clone(),
            combination: has_own.then(|| run.combination.clone()),
        })
    }
}

impl<'a> Servers<'a> {
    /// None yet.
    pub(super) fn new(
        experiment: &'a Experiment,
        results: &'a ResultsDirectory,
        choices: &'a Choices,
        context: &'a Context,
    ) -> Self {
        Self {
            experiment,
            results,
            choices,
            context,
            private: BTreeMap::new(),
            given: BTreeMap::new(),
            directories: BTreeMap::new(),
            null: None,
            prepared: Vec::new(),
        }
    }

    /// Starts the null server, which takes the place of all others.
    pub(super) fn simulate(&mut self) -> Result<(), Blamed> {
        self.null = Some(NullProcess::start()?);
        Ok(())
    }

    /// Prepares the stages of runs side by side, whose servers run at the same time. An error if memory or disk have no room
    /// for all of the private ones, or if two given ones are the same.
    pub(super) fn stages(
        &mut self,
        runs: &[&PlannedRun],
        benchmarks: &PlanBenchmarks,
    ) -> Result<Vec<Stage>, Blamed> {
        let room = if self.null.is_some() {
            None
        } else {
            self.make_servers(runs)?
        };
        let mut stages = Vec::new();
        for run in runs {
            stages.push(self.stage(run, benchmarks)?);
            if let (1, Some(room)) = (stages.len(), &room) {
                room.provide_for(runs.len() - 1)?;
            }
        }
        Ok(stages)
    }

    /// Makes the servers of runs side by side, before any of them is started or gets its data; an error if the disk has no
    /// room for private ones or the memory none for their buffer pools, or if two given ones are the same. Returns the disk
    /// before private ones get their data; `None` where they exist already.
    fn make_servers(&mut self, runs: &[&PlannedRun]) -> Result<Option<DiskRoom>, Blamed> {
        self.provide_room_for_new(runs)?;
        let before = self.private.len();
        let mut bytes = Vec::new();
        let mut room = None;
        for run in runs {
            if let ServerSpec::Given { address, .. } = &run.server {
                self.given_server(run, address)?;
                continue;
            }
            let server = self.private_server(run)?;
            bytes.push(server.planned_pool_bytes()?);
            room = Some(DiskRoom::now(&server.directory()));
        }
        if self.private.len() == before {
            return Ok(None);
        }
        let pools = BufferPools {
            servers: format!("{} side by side", units::counted(runs.len(), "server")),
            bytes,
            beside: None,
            fewer: "compare fewer combinations, or write design = \"classical\", which runs one server at a time",
            option_place: "in `set` under [server]",
        };
        pools.lacking(false)?;
        Ok(room)
    }

    /// An error unless the disk has room for all private servers that these runs still lack.
    fn provide_room_for_new(&self, runs: &[&PlannedRun]) -> Result<(), Blamed> {
        let design = self.experiment.plan().design;
        let is_new = |run: &PlannedRun| {
            let key = ServerKey::of(run, design);
            key.is_some_and(|key| !self.private.contains_key(&key))
        };
        let new = runs.iter().filter(|run| is_new(run));
        let needed_bytes: Vec<u64> = new.map(|run| server_bytes_at_least(run)).collect();
        if needed_bytes.is_empty() {
            return Ok(());
        }
        // No run side by side has a data directory elsewhere.
        provide_for_new(&named_server::root()?, &needed_bytes)
    }

    /// Prepares the stage of a run.
    pub(super) fn stage(
        &mut self,
        run: &PlannedRun,
        benchmarks: &PlanBenchmarks,
    ) -> Result<Stage, Blamed> {
        let load = &run.data_load;
        let of_load = benchmarks.benchmark(load.source.name());
        let Some(database) = of_load.on_server() else {
            let named = of_load.directory(load);
            let named = named.expect("a load without a server names a directory");
            return Ok(Stage::without_server(self.test_directory(&named)?));
        };
        let database = database.name(load)?;
        let data = run.data.as_ref().and_then(|data| {
            let of_data = benchmarks.data_maker(data.source.name());
            WantedData::of(run, of_data.data_set(data, load))
        });
        if let Some(null) = &self.null {
            return Ok(Stage::simulated(data.as_ref(), null, database));
        }
        let prepared = self.prepared_statements(run, benchmarks)?;
        match &run.server {
            ServerSpec::Private { .. } => {
                let server = self.private_server(run)?;
                server.prepare(run, data, &database, prepared)
            }
            ServerSpec::Given { address, .. } => {
                let server = self.given_server(run, address)?;
                server.prepare(run, data, &database, prepared)
            }
            ServerSpec::Absent => unreachable!("a load on a server has one"),
        }
    }

    /// The private server of a run, which is made for the first one.
    fn private_server(&mut self, run: &PlannedRun) -> Result<&mut PrivateServer, Blamed> {
        let plan = self.experiment.plan();
        let key = ServerKey::of(run, plan.design).expect("the run has a private server");
        if !self.private.contains_key(&key) {
            let (version, datadir) = (key.version.as_deref(), key.datadir.as_deref());
            let server = PrivateServer::create(
                &self.place_of_next(datadir)?,
                version,
                self.choices.mysqld.as_deref(),
                settings_of(&run.server),
                self.context.clone(),
                limit::group(plan, version, datadir)?,
            )?;
            self.private.insert(key.clone(), server);
        }
        Ok(self.private.get_mut(&key).expect("it was made above"))
    }

    /// The given server of a run, at this address; it is kept for the other runs on it.
    fn given_server(
        &mut self,
        run: &PlannedRun,
        address: &str,
    ) -> Result<&mut GivenServer, Blamed> {
        if !self.given.contains_key(address) {
            let endpoint = match &self.choices.endpoint {
                Some(endpoint) => Endpoint {
                    statement_timeout: (run.server.access().statement_timeout)
                        .or(endpoint.statement_timeout),
                    ..endpoint.clone()
                },
                None => (self.choices.reach)(&run.server)?,
            };
            self.refuse_second_name(address, &endpoint)?;
            let created = CreatedTables::read(self.results.path())?;
            let server = GivenServer::new(endpoint, created, self.context.clone());
            self.given.insert(address.to_owned(), server);
        }
        Ok(self.given.get_mut(address).expect("it was made above"))
    }

    /// An error if another combination of an experiment side by side names the same server by another address: the server
    /// would be compared with itself, and the load of each combination could change the data of the other.
    fn refuse_second_name(&self, address: &str, endpoint: &Endpoint) -> Result<(), Blamed> {
        if self.experiment.plan().design == Design::Classical {
            return Ok(());
        }
        let mut given = self.given.iter();
        let is_same = |server: &GivenServer| *server.address() == endpoint.address;
        match given.find(|(_, server)| is_same(server)) {
            None => Ok(()),
            Some((other, _)) => {
                let at = &endpoint.address;
                let message = format!(
                    "{other} and {address} are the same server ({at}), and combinations side by side need different servers"
                );
                let hint = "name another server for one of them";
                Err(Blamed::new(Blame::Input, message).hint(hint.to_owned()))
            }
        }
    }

    /// Stops the private server of a run if the next run on it restarts it anyway: no server runs that is not needed.
    pub(super) fn rest(&mut self, run: &PlannedRun) -> Result<(), Blamed> {
        let restarts = matches!(
            &run.server,
            ServerSpec::Private {
                restart: Restart::PerRun,
                ..
            }
        );
        let key = ServerKey::of(run, self.experiment.plan().design).filter(|_| restarts);
        let server = key.and_then(|key| self.private.get_mut(&key));
        server.map_or(Ok(()), PrivateServer::stop)
    }

    /// The most prepared statements of any run of its block on the same server: the data is loaded for all of them. Runs side
    /// by side on one given server have their connections at the same time, and count together. They are the same in every
    /// block, and scripts are read for them.
    fn prepared_statements(
        &mut self,
        run: &PlannedRun,
        benchmarks: &PlanBenchmarks,
    ) -> Result<PreparedStatements, Blamed> {
        let mut known = self.prepared.iter();
        if let Some((_, most)) = known.find(|(server, _)| *server == run.server) {
            return Ok(*most);
        }
        let plan = self.experiment.plan();
        let is_given = matches!(run.server, ServerSpec::Given { .. });
        let are_together = is_given && plan.design != Design::Classical;
        let has_server = |it: &PlannedRun| {
            if are_together {
                it.server.starts_like(&run.server)
            } else {
                it.server == run.server
            }
        };
        let mut most = PreparedStatements::default();
        let all = plan.runs.iter();
        for run in all.filter(|it| it.block == run.block && has_server(it)) {
            let mut of_run = PreparedStatements::default();
            for load in &run.loads {
                let of_load = benchmarks.benchmark(load.spec.source.name());
                of_run = of_run + of_load.prepared_statements(run, load)?;
            }
            if are_together {
                most = most + of_run;
            } else if of_run.statements > most.statements {
                most = of_run;
            }
        }
        self.prepared.push((run.server.clone(), most));
        Ok(most)
    }

    /// The directory of dbdyno's own below this one; it is kept for later runs.
    fn test_directory(&mut self, named: &Path) -> Result<Arc<TestDirectory>, Blamed> {
        if let Some(known) = self.directories.get(named) {
            return Ok(Arc::clone(known));
        }
        let made = Arc::new(TestDirectory::claim(named, self.context)?);
        self.directories.insert(named.to_owned(), Arc::clone(&made));
        Ok(made)
    }

    /// Location of the next private server, and the name by which a sweep finds it.
    fn place_of_next(&self, elsewhere: Option<&Path>) -> Result<ServerLocation, Blamed> {
        let plain = |character: char| {
            if character.is_ascii_alphanumeric() {
                character
            } else {
                '-'
            }
        };
        let name: String = self.experiment.name().chars().map(plain).collect();
        let (process, number) = (std::process::id(), self.private.len() + 1);
        let name = format!("run-{name}-{process}-{number}");
        let path = named_server::path(&name)?;
        let directory = elsewhere.map_or_else(|| path.clone(), |elsewhere| elsewhere.join(&name));
        Ok(ServerLocation { directory, path })
    }

    /// Reports the last lines of the logs of servers that have died.
    pub(super) fn show_logs_of_dead(&self) {
        for server in self.private.values().filter(|server| !server.is_running()) {
            self.context.notify(Event::ServerLog(&server.log_tail()));
        }
    }

    /// Stops and removes the private servers, and drops the tables created on other servers if the plan is done,
    /// unless everything is to be kept.
    pub(super) fn tidy_up(self, plan_is_done: bool) -> Result<(), Blamed> {
        for server in self.private.into_values() {
            if self.choices.keep {
                let directory = server.keep()?;
                let name = directory.file_name().unwrap_or_default();
                self.context
                    .notify(Event::ServerKept(&name.to_string_lossy()));
            } else {
                server.destroy()?;
            }
        }
        if let Some(null) = self.null {
            null.stop()?;
        }
        if plan_is_done && !self.choices.keep {
            for mut server in self.given.into_values() {
                server.drop_created()?;
            }
        }
        Ok(())
    }
}
