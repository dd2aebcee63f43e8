//! Executes the remaining runs of a plan one after the other, and cleans up after failures.

pub(crate) mod choices;
mod disturbed_runs;
mod servers;
mod time_budget;
mod time_left;

use std::{collections::VecDeque, path::Path, time::Duration};

use blame::{Blame, Blamed};
use experiment::{Design, Experiment, PlannedLoad, PlannedRun, Slicing};
use reactor::Instant;
use results::{Origin, ResultsDirectory, question, read_record};

use crate::{
    benchmark::{PlanBenchmarks, Work},
    global_variables::changed_variables::ChangedVariables,
    listener::{Context, Event, Length, Step},
    named_server,
    record::run_progress::{RUN_LENGTH, RunProgress},
    run::{
        self, Identity, PlannedWork, StagedRun,
        driver::LoadRules,
        load_outcome::first_error,
        session::{Session, batch_judge::BatchJudge},
    },
    runner::{
        choices::Choices,
        disturbed_runs::DisturbedRuns,
        servers::Servers,
        time_budget::TimeBudget,
        time_left::{RemainingTime, TimeLeft},
    },
    stage::{
        Stage,
        proxy_process::{ProxyAccess, ProxyProcess},
    },
};

/// Runs the plan of one experiment.
pub struct Runner<'a> {
    experiment: &'a Experiment,
    results: &'a ResultsDirectory,
    choices: &'a Choices,
    context: &'a Context,
    servers: Servers<'a>,
    benchmarks: PlanBenchmarks,
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
            servers: Servers::new(experiment, results, choices, context),
            benchmarks,
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
            self.servers.simulate()?;
        }
        let step = self
            .context
            .step("runs", Length::Paced(runs.len() as u64 * RUN_LENGTH));
        let begin = reactor::system_now();
        let mut time_is_spent = false;
        let result = self.all(runs, &*step, &mut time_is_spent);
        drop(step);
        let took = reactor::system_now() - begin;
        let noted = Origin::note_end(self.results.path(), took, time_is_spent);
        self.servers.tidy_up(result.is_ok())?;
        result?;
        noted
    }

    /// Executes one run after the other, or one session of runs side by side, until the experiment's question is decided;
    /// runs that other work disturbed are repeated at the end of their block.
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
                if let Some(note) = self.results.ended_before(self.experiment, run.block)? {
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
            let together = self.with_those_beside(run, &mut queue);
            let numbers: Vec<u32> = together.iter().map(|it| it.run).collect();
            let others = queue.iter().copied().chain(coming);
            let others = others.map(|it| it.run);
            let budget_left = budget.left(begin - start);
            let left = time_left.until_end(&numbers, others, budget_left);
            let deadline = (budget_left < Duration::MAX).then(|| begin + budget_left);
            let load = match self.experiment.plan().design {
                Design::Classical => self.one(run, done, left, step)?,
                Design::SideBySide(slicing) => {
                    self.session(&together, slicing, done, left, deadline, step)?
                }
            };
            time_left.done(&numbers, load, reactor::system_now() - begin);
            let left_after = budget.left(reactor::system_now() - start);
            if queue.is_empty() && self.lacks_time_for_batch(&together, left_after)? {
                *time_is_spent = true;
            }
            done += together.len() as u64;
            // Pairs of slices share what other work does, so that a session is not repeated.
            if self.experiment.plan().design == Design::Classical {
                disturbed.add(run, self.results, self.experiment)?;
            }
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

    /// True if these runs were a session that leaves the question open, and no time is left for another batch.
    fn lacks_time_for_batch(&self, runs: &[&PlannedRun], left: Duration) -> Result<bool, Blamed> {
        let Design::SideBySide(slicing) = self.experiment.plan().design else {
            return Ok(false);
        };
        if left >= slicing.time_of_batch(runs.len()) {
            return Ok(false);
        }
        let next = runs[0].block + 1;
        let ended = self.results.ended_before(self.experiment, next)?;
        Ok(ended.is_none())
    }

    /// The runs that are measured at the same time as this one, itself included: those of its block in an experiment side
    /// by side.
    fn with_those_beside<'r>(
        &self,
        run: &'r PlannedRun,
        queue: &mut VecDeque<&'r PlannedRun>,
    ) -> Vec<&'r PlannedRun> {
        let mut runs = vec![run];
        if self.experiment.plan().design != Design::Classical {
            while queue.front().is_some_and(|next| next.block == run.block) {
                runs.extend(queue.pop_front());
            }
        }
        runs
    }

    /// Does one run; returns how long its load took, connecting and draining included.
    fn one(
        &mut self,
        run: &PlannedRun,
        runs_before: u64,
        left: RemainingTime,
        step: &dyn Step,
    ) -> Result<Duration, Blamed> {
        let rate = self.results.next_rate(self.experiment, run)?;
        let levels = run.combination.iter();
        let levels = levels.map(|(factor, level)| format!("{factor}={level}"));
        let levels: Vec<_> = levels
            .chain(rate.map(|rate| format!("rate={rate}")))
            .collect();
        let at_rate = rate.map(|rate| run.at_rate(rate));
        let run = at_rate.as_ref().unwrap_or(run);
        let planned = self.experiment.plan().runs.len();
        let label = [format!("run {} of {planned}", run.run), levels.join(" ")];
        let label = label.join(" ").trim_end().to_owned();
        step.announce(&label, left.whole);
        let mut stage = self.servers.stage(run, &self.benchmarks)?;
        if let (Some(proxy), Some(server)) = (&run.proxy, &stage.endpoint) {
            let access = run.server.access();
            let access = ProxyAccess {
                connect: access.connect,
                compress: access.compress,
                seed: run.seed,
            };
            stage.proxy = Some(ProxyProcess::start(proxy, access, server)?);
        }
        let mut works = self.works(run, &mut stage)?;
        let sha256 = self.experiment.sha256();
        let mut planned = self.staged(run, &stage, &mut works, &sha256);
        let progress = RunProgress {
            step,
            label,
            runs_before,
            runs: 1,
            left: left.prepared,
            expected_s: left.load.as_secs_f64(),
        };
        self.results
            .list_at_first_run(&|what| self.context.warn(what));
        let begin = reactor::system_now();
        let recorded = run::record(&mut planned, &self.results.records_of(run), progress);
        let recorded = recorded.and_then(|driven| first_error(driven).map_or(Ok(()), Err));
        self.show_logs_after(&recorded);
        recorded?;
        let load = reactor::system_now() - begin;
        self.servers.rest(run)?;
        step.reach((runs_before + 1) * RUN_LENGTH);
        Ok(load)
    }

    /// Does one session: these runs side by side; returns how long their loads took, connecting and draining included.
    fn session(
        &mut self,
        runs: &[&PlannedRun],
        slicing: Slicing,
        runs_before: u64,
        left: RemainingTime,
        deadline: Option<Instant>,
        step: &dyn Step,
    ) -> Result<Duration, Blamed> {
        let first = runs[0];
        let planned = self.experiment.plan().runs.len();
        let numbers = numbers_in_words(runs);
        let label = format!("{numbers} of {planned} side by side");
        step.announce(&label, left.whole);
        let mut stages = self.servers.stages(runs, &self.benchmarks)?;
        let works = runs.iter().zip(&mut stages);
        let works = works.map(|(run, stage)| self.works(run, stage));
        let mut works = works.collect::<Result<Vec<_>, Blamed>>()?;
        let variables = self.variables(runs, &stages[0])?;
        let sha256 = self.experiment.sha256();
        let staged = runs.iter().zip(&stages).zip(&mut works);
        let mut staged: Vec<StagedRun<'_>> = staged
            .map(|((run, stage), works)| self.staged(run, stage, works, &sha256))
            .collect();
        let session = Session {
            runs: &mut staged,
            slicing,
            slices_at_most: slicing.slices_at_most(first.data_load.duration),
            seed: first.seed,
            judge: self.judge_before(first.block)?,
            variables,
            deadline,
            context: self.context,
        };
        let progress = RunProgress {
            step,
            label,
            runs_before,
            runs: runs.len() as u64,
            left: left.prepared,
            expected_s: left.load.as_secs_f64(),
        };
        let paths: Vec<_> = runs
            .iter()
            .map(|run| self.results.records_of(run))
            .collect();
        self.results
            .list_at_first_run(&|what| self.context.warn(what));
        let begin = reactor::system_now();
        let recorded = session.record(&paths, progress);
        self.show_logs_after(&recorded);
        recorded?;
        let load = reactor::system_now() - begin;
        for run in runs {
            self.servers.rest(run)?;
        }
        step.reach((runs_before + runs.len() as u64) * RUN_LENGTH);
        Ok(load)
    }

    /// The variables that these runs set before each of their turns on the server of this stage, which they share; `None` if
    /// they set none. In a simulation nothing is set.
    fn variables(
        &self,
        runs: &[&PlannedRun],
        stage: &Stage,
    ) -> Result<Option<ChangedVariables<'a>>, Blamed> {
        if stage.is_simulated {
            return Ok(None);
        }
        ChangedVariables::of(runs, stage.server(), self.context)
    }

    /// What the clients of each load of a run do on its stage.
    fn works(&self, run: &PlannedRun, stage: &mut Stage) -> Result<Vec<Box<dyn Work>>, Blamed> {
        let works = run.loads.iter().map(|load| {
            let of_load = self.benchmarks.benchmark(load.spec.source.name());
            of_load.work(run, load, stage, self.context)
        });
        works.collect()
    }

    /// A run of the plan on its stage, with the work of each of its loads.
    fn staged<'r>(
        &self,
        run: &'r PlannedRun,
        stage: &'r Stage,
        works: &'r mut [Box<dyn Work>],
        sha256: &'r str,
    ) -> StagedRun<'r>
    where
        'a: 'r,
    {
        let rules = |load: &PlannedLoad| match self.experiment.plan().design {
            Design::Classical => LoadRules::of(run, &load.spec),
            Design::SideBySide(_) => LoadRules::side_by_side(run, &load.spec),
        };
        let of_loads = works.iter_mut().zip(&run.loads);
        StagedRun {
            identity: Identity {
                experiment: self.experiment.name(),
                sha256,
                command: None,
            },
            run,
            works: of_loads
                .map(|(work, load)| PlannedWork {
                    work: &mut **work,
                    rules: rules(load),
                })
                .collect(),
            side_by_side: None,
            observer: None,
            stage,
            sample_every: self.choices.sample_every,
            context: self.context,
        }
    }

    /// What ends a session of this block early; `None` unless the experiment runs until decided.
    fn judge_before(&self, block: u32) -> Result<Option<BatchJudge>, Blamed> {
        let asked = question(self.experiment, false).filter(|it| it.until_decided.is_some());
        let Some(asked) = asked else {
            return Ok(None);
        };
        let earlier = self.experiment.plan().runs.iter();
        let earlier = earlier.filter(|run| run.block < block);
        let paths = earlier.flat_map(|run| self.results.records_of(run));
        let records = paths.filter(|path| path.exists());
        let records = records.map(|path| read_record(&path));
        let records = records.collect::<Result<Vec<_>, Blamed>>()?;
        Ok(Some(BatchJudge::new(asked, &records)))
    }

    /// Reports the logs of the servers that have died, if a run failed and was not interrupted.
    fn show_logs_after(&self, recorded: &Result<(), Blamed>) {
        if recorded.is_err() && !self.context.interrupt.is_raised() {
            self.servers.show_logs_of_dead();
        }
    }
}

/// The runs of a session, `run 1-2`.
fn numbers_in_words(runs: &[&PlannedRun]) -> String {
    let numbers = || runs.iter().map(|run| run.run);
    let (first, last) = (numbers().min(), numbers().max());
    let ends: Vec<String> = first
        .into_iter()
        .chain(last)
        .map(|it| it.to_string())
        .collect();
    format!("run {}", ends.join("-"))
}
