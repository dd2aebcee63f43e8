//! A session: runs side by side, on servers that run at the same time. Their loads take turns, and each run has a record of
//! its own.

pub(crate) mod batch_judge;
mod full_disk;
mod quiet_wait;
mod sampled_moments;
mod session_progress;

use std::{collections::BTreeMap, path::PathBuf, slice, sync::Arc};

use blame::{Blame, Blamed};
use experiment::{ServerSpec, Slicing};
use load::{LoadListener, Outcome, PlannedEnd, Termination, Turn, Turns, WarmUp};
use reactor::Instant;
use samples::{Interval, Line, MeasuredState, ServerState, SideBySide};

use crate::{
    control,
    global_variables::changed_variables::ChangedVariables,
    listener::Context,
    open_files,
    record::{
        load_record::NewRecord, recording::Recording, run_progress::RunProgress, sampling::Moments,
    },
    run::{
        StagedRun, end,
        load_outcome::{LoadOutcome, end_together, first_error},
        load_threads::{CommonTimes, Report, ReportReceiver, drive_on_threads},
        record_outcomes,
        session::{
            batch_judge::BatchJudge,
            full_disk::refuse_full_disk,
            quiet_wait::{QuietWait, ServerReading},
            session_progress::SessionProgress,
        },
        turn_planner::{Orders, SessionEnd, TurnPlanner},
    },
};

/// Runs side by side, on their stages.
pub(crate) struct Session<'s, 'a> {
    /// The runs, each with one load.
    pub runs: &'s mut [StagedRun<'a>],
    pub slicing: Slicing,
    /// Most blocks of slices.
    pub slices_at_most: u32,
    /// Seed of the order of the slices.
    pub seed: u64,
    /// Ends the session after the batch that decides the experiment's question; `None` where all slices are measured.
    pub judge: Option<BatchJudge>,
    /// The variables of the server of all runs that are set before each turn; `None` if none are.
    pub variables: Option<ChangedVariables<'a>>,
    /// Time at which the plan's budget is used up; `None` without a budget of time.
    pub deadline: Option<Instant>,
    pub context: &'a Context,
}

impl<'a> Session<'_, 'a> {
    /// Drives the loads in turns, and writes the record of each run to its path. The records are complete together: if a load
    /// fails, or a record cannot be written, all of them contain the reason why they are incomplete, which is the error.
    pub(crate) fn record(
        mut self,
        paths: &[Vec<PathBuf>],
        progress: RunProgress<'_>,
    ) -> Result<(), Blamed> {
        open_files::provide_for(self.runs.iter().map(StagedRun::connections).sum())?;
        let pause = self.runs.iter().map(StagedRun::pause).max();
        if let Some(pause) = pause.filter(|pause| !pause.is_zero()) {
            control::wait(reactor::sleep(pause))?;
        }
        let turns = self.turns();
        for (at, run) in self.runs.iter_mut().enumerate() {
            let variables = self.variables.as_ref();
            run.side_by_side = Some(SideBySide {
                set_global: variables.map_or_else(BTreeMap::new, |it| it.values(at).clone()),
                ..turns.clone()
            });
        }
        let runs = self.runs.iter().zip(paths);
        let records: Vec<Vec<NewRecord<'_>>> =
            runs.map(|(run, paths)| run.new_records(paths)).collect();
        let mut recordings = Vec::new();
        let begun = self.begin(&records, &turns, &mut recordings);
        let driven = begun.and_then(|()| self.perform(&mut recordings, progress));
        let variables = self.variables.take();
        let are_back = variables.map_or(Ok(()), ChangedVariables::put_back);
        let mut ended = Ok(());
        for (at, recording) in recordings.into_iter().enumerate() {
            let own = driven.as_ref();
            let own = own.map(|driven| driven.get(at..=at).unwrap_or_default());
            ended = ended.and(end(recording, 1, own));
        }
        let failed = match (ended, driven) {
            (Err(error), _) | (Ok(()), Err(error)) => Some(error),
            (Ok(()), Ok(driven)) => first_error(driven),
        };
        match (failed, are_back) {
            (Some(error), are_back) => {
                if let Err(not_back) = are_back {
                    self.context.warn(&not_back.to_string());
                }
                Err(error)
            }
            (None, are_back) => are_back,
        }
    }

    /// How the loads take turns, for their records.
    fn turns(&self) -> SideBySide {
        let runs = self.runs.iter();
        SideBySide {
            combinations: runs.map(|it| it.run.combination.clone()).collect(),
            slice_s: self.slicing.slice.as_secs_f64(),
            settle_s: self.slicing.settle.as_secs_f64(),
            slices_per_batch: Slicing::BATCH,
            slices_at_most: self.slices_at_most,
            on_one_server: share_a_server(self.runs),
            set_global: BTreeMap::new(),
            quiet: self.slicing.quiet,
        }
    }

    /// Begins the record of each run.
    fn begin<'r>(
        &mut self,
        records: &[Vec<NewRecord<'_>>],
        turns: &SideBySide,
        recordings: &mut Vec<Recording<'r>>,
    ) -> Result<(), Blamed>
    where
        'a: 'r,
    {
        for (run, records) in self.runs.iter().zip(records) {
            recordings.push(run.begin(records, None)?);
            if let Some(judge) = &mut self.judge {
                judge.begin(&records[0].header, turns);
            }
        }
        Ok(())
    }

    /// Executes everything between the first lines and the last lines; returns what became of the load of each run.
    fn perform(
        &mut self,
        recordings: &mut [Recording<'_>],
        progress: RunProgress<'_>,
    ) -> Result<Vec<LoadOutcome>, Blamed> {
        for (at, (run, recording)) in self.runs.iter().zip(&mut *recordings).enumerate() {
            // The record has the server's variables as they are in the turns of this run.
            if let Some(variables) = &mut self.variables {
                variables.set_for(at)?;
            }
            run.before(recording)?;
        }
        let names = self.runs.iter().map(combination_in_words);
        let names: Vec<String> = names.map(|levels| format!("run of {levels}")).collect();
        let outcomes = self.drive(recordings, progress);
        for recording in &mut *recordings {
            recording.end_load();
        }
        let mut took_s = Vec::new();
        for (recording, outcome) in recordings.iter_mut().zip(&outcomes) {
            took_s.push(record_outcomes(recording, slice::from_ref(outcome)));
        }
        let mut driven: Vec<LoadOutcome> = outcomes.into_iter().map(LoadOutcome::of).collect();
        for (driven, run) in driven.iter_mut().zip(self.runs.iter()) {
            refuse_full_disk(driven, run.stage.datadir.as_deref());
        }
        for (driven, recording) in driven.iter_mut().zip(recordings.iter()) {
            if let Some(failure) = recording.failure() {
                driven.ended = Err(Blamed::new(Blame::Machine, failure));
            }
        }
        end_together(&mut driven, &names);
        if driven.iter().all(|it| it.outcome.is_none()) {
            return first_error(driven).map_or(Ok(Vec::new()), Err);
        }
        let is_complete = driven.iter().all(|it| it.ended.is_ok());
        let ended = self.runs.iter().zip(recordings).zip(took_s);
        for (at, ((run, recording), took_s)) in ended.enumerate() {
            if let Some(variables) = self.variables.as_mut().filter(|_| is_complete) {
                variables.set_for(at)?;
            }
            run.after(took_s, is_complete, recording)?;
        }
        Ok(driven)
    }

    /// Drives the loads to their end; returns what became of each of them.
    fn drive(
        &mut self,
        recordings: &mut [Recording<'_>],
        progress: RunProgress<'_>,
    ) -> Vec<Result<Outcome, Blamed>> {
        let context = self.context;
        let turns: Vec<Arc<Turns>> = self.runs.iter().map(|_| Arc::default()).collect();
        let times = CommonTimes::of(turns.len());
        let combinations = self.runs.iter().map(combination_in_words).collect();
        let warm_up: Vec<bool> = self.runs.iter().map(warms_up).collect();
        let (slicing, most) = (self.slicing, self.slices_at_most);
        let planner = TurnPlanner::new(&warm_up, slicing, most, self.seed);
        let mut controller = TurnController {
            slicing,
            pids: self.runs.iter().map(|it| it.stage.server_pid).collect(),
            quiet: None,
            planner: (planner.ending_by(self.deadline))
                .changing_the_server(self.variables.is_some()),
            turns: &turns,
            times: &times,
            recordings,
            states: self.runs.iter().map(state).collect(),
            context,
            judge: self.judge.as_mut(),
            variables: self.variables.as_mut(),
            failed: None,
            is_warned_of_slices: false,
            progress: SessionProgress::new(progress, combinations, most),
            started: 0,
        };
        let mut loads = Vec::new();
        for (run, turns) in self.runs.iter_mut().zip(&turns) {
            loads.extend(run.loads(Some(turns)));
        }
        let mut outcomes = drive_on_threads(loads, &context.interrupt, &times, &mut controller);
        if let Some((failed, error)) = controller.failed {
            for outcome in outcomes.iter_mut().flatten() {
                outcome.ended = Termination::Interrupted;
            }
            outcomes[failed] = Err(error);
        }
        outcomes
    }
}

/// The levels of a run, `flush=2`.
fn combination_in_words(run: &StagedRun<'_>) -> String {
    let levels = run.run.combination.iter();
    let levels = levels.map(|(factor, level)| format!("{factor}={level}"));
    levels.collect::<Vec<_>>().join(" ")
}

fn warms_up(run: &StagedRun<'_>) -> bool {
    let mut loads = run.run.loads.iter();
    loads.any(|load| load.spec.warmup != WarmUp::None)
}

/// True if several of these runs have the same existing server.
fn share_a_server(runs: &[StagedRun<'_>]) -> bool {
    let servers = runs.iter().map(|it| &it.run.server);
    let given: Vec<&ServerSpec> = servers
        .filter(|server| matches!(server, ServerSpec::Given { .. }))
        .collect();
    let mut all = given.iter().enumerate();
    all.any(|(at, one)| given[..at].iter().any(|other| other.starts_like(one)))
}

/// The state in which the server of a run is to be measured.
fn state(run: &StagedRun<'_>) -> ServerState {
    let mut loads = run.run.loads.iter();
    if loads.any(|load| matches!(load.spec.warmup, WarmUp::UntilSteady { .. })) {
        ServerState::Steady
    } else {
        ServerState::Fresh
    }
}

/// Gives the loads of a session their turns, and passes what they report to the recordings of their runs.
struct TurnController<'c, 'r, 'v> {
    slicing: Slicing,
    /// The process of the server of each load, where it is on this machine.
    pids: Vec<Option<u32>>,
    /// The wait for the server of the last turn, where each turn is followed by a pause.
    quiet: Option<QuietWait>,
    planner: TurnPlanner,
    turns: &'c [Arc<Turns>],
    times: &'c CommonTimes,
    recordings: &'c mut [Recording<'r>],
    /// In which state the server of each load is to be measured.
    states: Vec<ServerState>,
    context: &'c Context,
    judge: Option<&'c mut BatchJudge>,
    /// What is set before each turn, on the server of all loads.
    variables: Option<&'c mut ChangedVariables<'v>>,
    /// The load for whose turn the server could not be changed, and why.
    failed: Option<(usize, Blamed)>,
    /// True after the warning that the slices are too short.
    is_warned_of_slices: bool,
    progress: SessionProgress<'c>,
    /// Loads that have begun.
    started: usize,
}

impl ReportReceiver for TurnController<'_, '_, '_> {
    fn take(&mut self, load: usize, report: Report) {
        let now = reactor::system_now();
        match report {
            Report::Connected(open, total) => self.progress.connected(load, open, total),
            Report::Started => {
                // All loads begin at one moment.
                let at = self.times.start.moment().unwrap_or(now);
                self.recordings[load].start(at);
                if self.states[load] == ServerState::Fresh {
                    self.record_state(load, None);
                }
                self.started += 1;
                if self.started == self.turns.len() {
                    let orders = self.planner.begin(now);
                    self.carry_out(orders);
                }
            }
            Report::WarmedUp(end) => {
                if self.states[load] == ServerState::Steady {
                    self.record_state(load, end.is_too_early.then_some(end.why));
                }
                let orders = self.planner.warmed_up(load, now);
                self.carry_out(orders);
            }
            Report::Interval(interval) => self.take_interval(load, interval),
            report => report.pass_to(&mut self.recordings[load].of_load(0)),
        }
    }

    fn wakes_at(&self) -> Option<Instant> {
        self.quiet.as_ref().map(QuietWait::next_at)
    }

    /// Reads the server of the last turn; the next turn begins when it is quiet.
    fn wake(&mut self) {
        let Some(wait) = &mut self.quiet else {
            return;
        };
        let (load, now) = (wait.load(), reactor::system_now());
        let recording = &mut self.recordings[load];
        recording.take_server_lines();
        let reading = ServerReading {
            at: now,
            written_bytes: self.pids[load].and_then(telemetry::written_bytes),
            dirty_pages: recording.dirty_pages(),
        };
        if !wait.is_over(reading) {
            recording.sample_at(Moments {
                machine: Vec::new(),
                server: vec![now + QuietWait::COUNT_AFTER],
            });
            return;
        }
        self.quiet = None;
        // What the server does from here on falls into the turns of the others.
        recording.sample_at(Moments {
            machine: vec![now],
            server: Vec::new(),
        });
        let orders = self.planner.quiet(now);
        self.carry_out(orders);
    }
}

impl TurnController<'_, '_, '_> {
    /// Writes in which state the server of a load is measured. The user hears of a server that is not steady as requested.
    fn record_state(&mut self, load: usize, not_reached: Option<String>) {
        if let Some(why) = &not_reached {
            let combination = self.progress.combination(load);
            self.context.warn(&format!(
                "{combination}: {why}; it is measured in this state (for more time, use a larger warmup_at_most in the experiment file, or `dbdyno ab --warmup auto`)"
            ));
        }
        let state = self.states[load];
        let state = MeasuredState { state, not_reached };
        self.recordings[load].write_of(0, &Line::MeasuredState(state));
    }

    fn take_interval(&mut self, load: usize, interval: Interval) {
        let elapsed_s = self.recordings[load].elapsed_s();
        let warms_up = self.planner.warms_up();
        self.progress.interval(load, &interval, warms_up, elapsed_s);
        if let Some(judge) = &mut self.judge {
            judge.add(load, &interval);
        }
        let (slice, length_s) = (interval.slice, interval.length_s);
        self.recordings[load].of_load(0).interval(interval);
        if self.planner.interval(load, slice, length_s) {
            let orders = self.planner.next_of_batch().unwrap_or_else(|| {
                let is_decided = self.judge_batches(elapsed_s);
                self.planner.judged(is_decided, reactor::system_now())
            });
            self.carry_out(orders);
        }
    }

    /// Judges the batches so far, at this time after the start, and shows the answer; true if all comparisons are decided.
    fn judge_batches(&mut self, elapsed_s: f64) -> bool {
        let Some(judge) = self.judge.as_deref_mut() else {
            return false;
        };
        let answers = judge.answers();
        let short = verdict::undecidable_slices(&answers);
        if let Some(short) = short.filter(|_| !self.is_warned_of_slices) {
            self.is_warned_of_slices = true;
            let why = short.in_words();
            (self.context).warn(&format!("nothing is decided in this session: {why}"));
        }
        let is_decided = verdict::are_decided(&answers);
        let loaded_s = judge.earlier_s() + elapsed_s;
        self.progress.judged(&answers, is_decided, loaded_s);
        is_decided
    }

    /// Waits for the server of this load after this turn, unless it is the warm-up.
    fn wait_after(&mut self, load: usize, turn: Turn) {
        if let (Some(_), Some(end)) = (turn.slice, turn.to) {
            let before = self.recordings[load].dirty_pages();
            self.quiet = Some(QuietWait::after(load, end, self.slicing.settle, before));
        }
    }

    /// Tells the loads their turns and their end, and the samplers their moments.
    fn carry_out(&mut self, orders: Orders) {
        if let Some((load, at)) = orders.close {
            self.turns[load].close(at);
        }
        let last = orders.turns.last().copied();
        if let Some((load, turn)) = last.filter(|_| self.slicing.quiet && orders.end.is_none()) {
            self.wait_after(load, turn);
        }
        let mut turns = vec![Vec::new(); self.turns.len()];
        for (load, turn) in orders.turns {
            self.turns[load].add(turn);
            turns[load].push(turn);
        }
        for (recording, turns) in self.recordings.iter().zip(&turns) {
            let moments = Moments::of(turns);
            if !moments.machine.is_empty() {
                recording.sample_at(moments);
            }
        }
        if let Some(end) = orders.end {
            let end = PlannedEnd {
                at: end.at,
                why: end_in_words(end),
            };
            // A session has one end.
            let _ = self.times.end.set(end);
        }
        if let Some(load) = orders.change_for {
            self.change_server(load, orders.close.map(|(_, at)| at));
        }
    }

    /// Sets the variables of the server for this load, once a turn that still ends is over, and tells the load its turn.
    fn change_server(&mut self, load: usize, turn_end: Option<Instant>) {
        let Some(variables) = &mut self.variables else {
            return;
        };
        let is_over = turn_end.map_or(Ok(()), |at| control::wait(reactor::sleep_until(at)));
        match is_over.and_then(|()| variables.set_for(load)) {
            Ok(()) => {
                let orders = self.planner.changed(reactor::system_now());
                self.carry_out(orders);
            }
            Err(error) => {
                self.failed = Some((load, error));
                // The loads ask for it after each interval.
                let _ = self.times.end.set(PlannedEnd {
                    at: reactor::system_now(),
                    why: "the variables of the server could not be set".to_owned(),
                });
            }
        }
    }
}

/// Why a session ends, `decided after 15 slices`.
fn end_in_words(end: SessionEnd) -> String {
    let slices = units::counted(end.slices as usize, "slice");
    if end.is_decided {
        format!("decided after {slices}")
    } else if end.is_late {
        format!("no time is left for more than {slices}")
    } else {
        format!("{slices} measured")
    }
}

#[cfg(test)]
mod tests;
