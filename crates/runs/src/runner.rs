//! Executes the remaining runs of a plan one after the other, and cleans up after failures.

mod disturbed_runs;
mod time_budget;
mod time_left;

use std::{
    collections::{BTreeMap, VecDeque},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use blame::{Blame, Blamed};
use experiment::{Experiment, PlannedRun, Restart, ServerSpec};
use protocol::Endpoint;
use results::{Origin, ResultsDirectory};

use crate::{
    benchmark::PlanBenchmarks,
    data::WantedData,
    limit,
    listener::{Context, Event, Length, Step},
    named_server,
    prepared_statements::PreparedStatements,
    record::recording::RunProgress,
    run::{self, Identity, PlannedWork, StagedRun, driver::LoadRules, load_outcome::first_error},
    runner::{
        disturbed_runs::DisturbedRuns,
        time_budget::TimeBudget,
        time_left::{RemainingTime, TimeLeft},
    },
    stage::{
        Stage,
        created_tables::CreatedTables,
        given_server::GivenServer,
        null_process::NullProcess,
        private_server::{PrivateServer, ServerLocation, settings_of},
        proxy_process::{ProxyAccess, ProxyProcess},
        test_directory::TestDirectory,
    },
};

/// Settings from the command line, not from the experiment.
#[derive(Debug)]
pub struct Choices {
    /// The server binary, instead of the one found by default.
    pub mysqld: Option<PathBuf>,
    /// Keep the private servers, and the tables created on other servers, for inspection.
    pub keep: bool,
    /// The server for an experiment that uses an existing server.
    pub endpoint: Option<Endpoint>,
    /// Returns the endpoint, with account, of a server that an experiment names.
    pub reach: fn(&ServerSpec) -> Result<Endpoint, Blamed>,
    /// Sampling interval of the machine; by default that of the record.
    pub sample_every: Option<Duration>,
}

/// Runs the plan of one experiment.
pub struct Runner<'a> {
    experiment: &'a Experiment,
    results: &'a ResultsDirectory,
    choices: &'a Choices,
    context: &'a Context,
    /// Private servers by program and location.
    private: BTreeMap<(Option<String>, Option<PathBuf>), PrivateServer>,
    given: BTreeMap<String, GivenServer>,
    /// Directories of loads without a server.
    directories: BTreeMap<PathBuf, Arc<TestDirectory>>,
    /// Replaces all of them in a simulation.
    null: Option<NullProcess>,
    benchmarks: PlanBenchmarks,
    /// The most prepared statements of any run on each server so far.
    prepared: Vec<(ServerSpec, PreparedStatements)>,
}

impl<'a> Runner<'a> {
    /// A runner that has started nothing yet.
    pub fn new(
        experiment: &'a Experiment,
        results: &'a ResultsDirectory,
        choices: &'a Choices,
        context: &'a Context,
        benchmarks: PlanBenchmarks,
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
            benchmarks,
            prepared: Vec::new(),
        }
    }

    /// The remaining runs of the plan. An incomplete record is renamed, and the listener receives its new name.
    pub fn left(&self) -> Result<Vec<&'a PlannedRun>, Blamed> {
        let renamed = |kept: &Path| self.context.notify(Event::IncompleteKept(kept));
        self.results.left(self.experiment.plan(), &renamed)
    }

    /// Executes the remaining runs; everything that was started is stopped again, also after an error.
    pub fn run(mut self, runs: &[&PlannedRun]) -> Result<(), Blamed> {
        server::sweep(&named_server::root()?).map_err(Blamed::from)?;
        if self.experiment.is_simulated() {
            self.null = Some(NullProcess::start()?);
        }
        let step = self
            .context
            .step("runs", Length::Paced(runs.len() as u64 * 1000));
        let begin = reactor::system_now();
        let mut time_is_spent = false;
        let result = self.all(runs, &*step, &mut time_is_spent);
        drop(step);
        let took = reactor::system_now() - begin;
        let noted = Origin::note_end(self.results.path(), took, time_is_spent);
        self.tidy_up(result.is_ok())?;
        result?;
        noted
    }

    /// Executes one run after the other, until the experiment's question is decided; runs that other work disturbed are
    /// repeated at the end of their block.
    fn all(
        &mut self,
        runs: &[&PlannedRun],
        step: &dyn Step,
        time_is_spent: &mut bool,
    ) -> Result<(), Blamed> {
        let mut time_left = TimeLeft::of(runs);
        let start = reactor::system_now();
        let mut queue = self.needed(runs)?;
        let mut budget = self.time_budget(queue.front().copied())?;
        let mut block_begin = start;
        let mut disturbed = DisturbedRuns::default();
        let mut done = 0;
        let mut block = None;
        while let Some(run) = queue.pop_front() {
            if self.context.interrupt.is_raised() {
                return Err(Blamed::new(Blame::Interrupted, "interrupted"));
            }
            let begin = reactor::system_now();
            if block != Some(run.block) {
                if block.replace(run.block).is_some() {
                    budget.block_took(begin - block_begin);
                }
                block_begin = begin;
                if let Some(note) = self.results.decided_before(self.experiment, run.block)? {
                    step.note(&note);
                    break;
                }
                if let Some(note) = budget.spent_before(run.block, begin - start) {
                    step.note(&note);
                    *time_is_spent = true;
                    break;
                }
                let left_out = self.results.left_out(self.experiment, run.block)?;
                queue.retain(|next| !left_out.contains(&next.combination));
                if left_out.contains(&run.combination) {
                    continue;
                }
            }
            let begin = reactor::system_now();
            let coming = disturbed.coming(self.results, self.experiment)?;
            let others = queue.iter().copied().chain(coming);
            let others = others.map(|it| it.run);
            let left = time_left.until_end(run.run, others, budget.left(begin - start));
            let load = self.one(run, done, left, step)?;
            time_left.done(run.run, load, reactor::system_now() - begin);
            done += 1;
            disturbed.add(run, self.results, self.experiment)?;
            if queue.front().is_none_or(|next| next.block != run.block) {
                let again = disturbed.again(self.results, self.experiment, step)?;
                again
                    .into_iter()
                    .rev()
                    .for_each(|run| queue.push_front(run));
            }
        }
        Ok(())
    }

    /// The runs from the first that is needed on: a resumed experiment may have left out some of earlier blocks.
    fn needed<'r>(&self, runs: &[&'r PlannedRun]) -> Result<VecDeque<&'r PlannedRun>, Blamed> {
        let mut queue: VecDeque<&PlannedRun> = runs.iter().copied().collect();
        let mut known = None;
        while let Some(run) = queue.front() {
            if known.as_ref().is_none_or(|(block, _)| *block != run.block) {
                known = Some((
                    run.block,
                    self.results.left_out(self.experiment, run.block)?,
                ));
            }
            if !known
                .iter()
                .any(|(_, left_out)| left_out.contains(&run.combination))
            {
                break;
            }
            queue.pop_front();
        }
        Ok(queue)
    }

    /// The time budget, less the time used by earlier commands; `first` is the first run that is left.
    fn time_budget(&self, first: Option<&PlannedRun>) -> Result<TimeBudget, Blamed> {
        let limit = self.experiment.plan().repeats.time();
        let earlier = match limit {
            Some(_) => Origin::read(self.results.path())?.took(),
            None => Duration::ZERO,
        };
        let blocks = first.map_or(0, |run| run.block - 1);
        Ok(TimeBudget::new(limit, earlier, blocks))
    }

    /// Does one run; returns how long its load took, connecting and draining included.
    fn one(
        &mut self,
        run: &PlannedRun,
        runs_before: u64,
        left: RemainingTime,
        step: &dyn Step,
    ) -> Result<Duration, Blamed> {
        let levels: Vec<_> = run
            .combination
            .iter()
            .map(|(factor, level)| format!("{factor}={level}"))
            .collect();
        let planned = self.experiment.plan().runs.len();
        let label = [format!("run {} of {planned}", run.run), levels.join(" ")];
        let label = label.join(" ").trim_end().to_owned();
        step.announce(&label, left.whole);
        let mut stage = self.stage(run)?;
        if let (Some(proxy), Some(server)) = (&run.proxy, &stage.endpoint) {
            let access = run.server.access();
            let access = ProxyAccess {
                connect: access.connect,
                compress: access.compress,
                seed: run.seed,
            };
            stage.proxy = Some(ProxyProcess::start(proxy, access, server)?);
        }
        let works = run.loads.iter().map(|load| {
            let of_load = self.benchmarks.benchmark(load.spec.source.name());
            of_load.work(run, load, &mut stage, self.context)
        });
        let mut works = works.collect::<Result<Vec<_>, _>>()?;
        let of_loads = works.iter_mut().zip(&run.loads);
        let mut planned = StagedRun {
            identity: Identity {
                experiment: self.experiment.name(),
                sha256: &self.experiment.sha256(),
                command: None,
            },
            run,
            works: of_loads
                .map(|(work, load)| PlannedWork {
                    work: &mut **work,
                    rules: LoadRules::of(run, &load.spec),
                })
                .collect(),
            observer: None,
            stage: &stage,
            sample_every: self.choices.sample_every,
            context: self.context,
        };
        let progress = RunProgress {
            step,
            label,
            runs_before,
            left: left.prepared,
            expected_s: left.load.as_secs_f64(),
        };
        self.results
            .list_at_first_run(&|what| self.context.warn(what));
        let begin = reactor::system_now();
        let recorded = run::record(&mut planned, &self.results.records_of(run), progress);
        let recorded = recorded.and_then(|driven| first_error(driven).map_or(Ok(()), Err));
        if recorded.is_err() && !self.context.interrupt.is_raised() {
            self.show_logs_of_dead_servers();
        }
        recorded?;
        let load = reactor::system_now() - begin;
        self.rest(run)?;
        step.reach((runs_before + 1) * 1000);
        Ok(load)
    }

    /// Stops the private server of a run if the next run restarts it anyway: only one of several servers may run at a
    /// time.
    fn rest(&mut self, run: &PlannedRun) -> Result<(), Blamed> {
        match &run.server {
            ServerSpec::Private {
                run,
                datadir,
                restart: Restart::PerRun,
                ..
            } => self
                .private
                .get_mut(&(run.clone(), datadir.clone()))
                .map_or(Ok(()), PrivateServer::stop),
            _ => Ok(()),
        }
    }

    fn stage(&mut self, run: &PlannedRun) -> Result<Stage, Blamed> {
        let load = &run.data_load;
        let of_load = self.benchmarks.benchmark(load.source.name());
        let Some(database) = of_load.on_server() else {
            let named = of_load.directory(load);
            let named = named.expect("a load without a server names a directory");
            return Ok(Stage::without_server(self.test_directory(&named)?));
        };
        let database = database.name(load)?;
        let data = run.data.as_ref().and_then(|data| {
            let of_data = self.benchmarks.data_maker(data.source.name());
            WantedData::of(run, of_data.data_set(data, load))
        });
        if let Some(null) = &self.null {
            return Ok(Stage::simulated(data.as_ref(), null, database));
        }
        let prepared = self.prepared_statements(run)?;
        match &run.server {
            ServerSpec::Private {
                run: wanted,
                datadir,
                ..
            } => {
                let key = (wanted.clone(), datadir.clone());
                if !self.private.contains_key(&key) {
                    let server = PrivateServer::create(
                        &self.place_of_next(datadir.as_deref())?,
                        wanted.as_deref(),
                        self.choices.mysqld.as_deref(),
                        settings_of(&run.server),
                        self.context.clone(),
                        limit::group(
                            self.experiment.plan(),
                            wanted.as_deref(),
                            datadir.as_deref(),
                        )?,
                    )?;
                    self.private.insert(key.clone(), server);
                }
                let server = self.private.get_mut(&key).expect("it was made above");
                server.prepare(run, data, &database, prepared)
            }
            ServerSpec::Given { address, .. } => {
                if !self.given.contains_key(address) {
                    let endpoint = match &self.choices.endpoint {
                        Some(endpoint) => Endpoint {
                            statement_timeout: (run.server.access().statement_timeout)
                                .or(endpoint.statement_timeout),
                            ..endpoint.clone()
                        },
                        None => (self.choices.reach)(&run.server)?,
                    };
                    let created = CreatedTables::read(self.results.path())?;
                    let server = GivenServer::new(endpoint, created, self.context.clone());
                    self.given.insert(address.clone(), server);
                }
                let server = self.given.get_mut(address).expect("it was made above");
                server.prepare(run, data, &database, prepared)
            }
            ServerSpec::Absent => unreachable!("a load on a server has one"),
        }
    }

    /// The most prepared statements of any run of its block on the same server: the data is loaded for all of them. They are
    /// the same in every block, and scripts are read for them.
    fn prepared_statements(&mut self, run: &PlannedRun) -> Result<PreparedStatements, Blamed> {
        let mut known = self.prepared.iter();
        if let Some((_, most)) = known.find(|(server, _)| *server == run.server) {
            return Ok(*most);
        }
        let all = self.experiment.plan().runs.iter();
        let mut most = PreparedStatements::default();
        for run in all.filter(|it| it.block == run.block && it.server == run.server) {
            let mut of_run = PreparedStatements::default();
            for load in &run.loads {
                let of_load = self.benchmarks.benchmark(load.spec.source.name());
                of_run = of_run + of_load.prepared_statements(run, load)?;
            }
            if of_run.statements > most.statements {
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

    fn show_logs_of_dead_servers(&self) {
        for server in self.private.values().filter(|server| !server.is_running()) {
            self.context.notify(Event::ServerLog(&server.log_tail()));
        }
    }

    /// Stops and removes the private servers, and drops the tables created on other servers if the plan is done,
    /// unless everything is to be kept.
    fn tidy_up(self, plan_is_done: bool) -> Result<(), Blamed> {
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
