//! Controls a load: keeps the timeline, finds the steady state, merges the figures of the event loops.

use settings::{Arrivals, OnRefusal};
use std::{mem, sync::Arc, time::Duration};

use crate::{
    event_loop::Message,
    interval_sums::IntervalSums,
    intervals::{Intervals, LoopInterval},
    lines::Names,
    load::{Load, LoadListener},
    offered_load::{self, LoadEnd},
    opening::Opening,
    outcome::{Error, Outcome, Termination, UserTotal},
    pace::LoopTotals,
    precision::Precise,
    recorder::{self, CellCounts, Cells, FailureCounts},
    rules::Stop,
    steady_state::{Progress, SteadyState},
    timeline::{DueIn, Timeline},
    turns::AHEAD,
};
use reactor::{Instant, Interrupt, channel};
use samples::{Connects, Histogram, Phase, PhaseMark};
use units::percent;

/// Interval at which the opening is checked: one that has failed is waited for only for some time.
const CHECK_OPENING_EVERY: Duration = Duration::from_millis(20);
/// Time from the decision to the first operation, so that every event loop has seen the start.
const START_AFTER: Duration = Duration::from_millis(5);

/// Keeps the timeline of one load and merges the figures of its event loops.
pub(crate) struct Controller<'a> {
    timeline: Arc<Timeline>,
    inbox: channel::Receiver<Message>,
    observer: &'a mut dyn LoadListener,
    names: Names,
    arrivals: Arrivals,
    /// Users of the first group, of which a stage needs a part.
    staged_users: u64,
    spin: bool,
    connects: Vec<Connects>,
    interval: Duration,
    stop: Stop,
    on_refusal: OnRefusal,
    steady: SteadyState,
    intervals: Intervals,
    sums: IntervalSums,
    failures: FailureCounts,
    /// Failed attempts to open a connection, at the start without success or to replace a lost one, by group and error
    /// number.
    refusals: FailureCounts,
    precise: Precise,
    /// True once the observer knows that the warm-up of a load with turns is over.
    has_warmed_up: bool,
    phase: Option<Phase>,
    stage: Option<u32>,
    phase_why: String,
    stop_why: Option<String>,
    ended: Termination,
    /// Intervals after the stop in which nothing came back so far: they are emitted only before one in which something did.
    empty_drain: Vec<LoopInterval>,
    last_end: Option<Instant>,
    left: LoopTotals,
    user_totals: Vec<UserTotal>,
    finished: usize,
}

impl<'a> Controller<'a> {
    /// A controller before the start.
    pub(crate) fn new<U>(
        load: &Load<U>,
        timeline: Arc<Timeline>,
        inbox: channel::Receiver<Message>,
        observer: &'a mut dyn LoadListener,
    ) -> Self {
        let names = Names::of(load);
        let shape = names.shape();
        Self {
            timeline,
            inbox,
            observer,
            connects: names.connects(),
            names,
            arrivals: load.arrivals,
            staged_users: load.groups.first().map_or(0, |group| group.users.into()),
            spin: load.spin,
            interval: load.interval,
            steady: SteadyState::new(load.warm_up, load.judge),
            stop: load.stop,
            on_refusal: load.on_refusal,
            intervals: Intervals::new(load.loops.max(1) as usize, shape),
            sums: IntervalSums::new(shape),
            failures: FailureCounts::new(),
            refusals: FailureCounts::new(),
            precise: Precise::default(),
            has_warmed_up: false,
            phase: None,
            stage: None,
            phase_why: String::new(),
            stop_why: None,
            ended: Termination::Planned,
            empty_drain: Vec::new(),
            last_end: None,
            left: LoopTotals::default(),
            user_totals: Vec::new(),
            finished: 0,
        }
    }

    /// The cells that the event loops need.
    pub(crate) fn shape(&self) -> CellCounts {
        self.names.shape()
    }

    /// Adds the channel by which the next event loop gets its cells back.
    pub(crate) fn gives_back_to(&mut self, give_back: channel::Sender<Cells>) {
        self.intervals.give_back_to(give_back);
    }

    /// Controls the load to its end.
    pub(crate) fn conduct(mut self, interrupt: &Interrupt) -> Result<Outcome, Error> {
        self.wait_for_connections(interrupt)?;
        let start = self.begin();
        while self.finished < self.intervals.loops() {
            let message = if self.ended == Termination::Planned {
                interrupt.receive(&self.inbox, Duration::MAX)
            } else {
                self.inbox.recv().map_err(channel::RecvTimeoutError::from)
            };
            match message {
                Ok(message) => self.take(message),
                Err(channel::RecvTimeoutError::Timeout) => {}
                Err(channel::RecvTimeoutError::Disconnected) => break,
            }
            if interrupt.is_raised() && self.ended == Termination::Planned {
                self.ended = Termination::Interrupted;
                self.timeline.cut_off(reactor::system_now());
            }
        }
        self.merge_ready(start);
        Ok(self.outcome(start))
    }

    fn wait_for_connections(&mut self, interrupt: &Interrupt) -> Result<(), Error> {
        let mut opening = Opening::new(self.names.users(), self.on_refusal);
        let mut ready = 0;
        while ready < self.intervals.loops() {
            if interrupt.is_raised() {
                return Err(Error::Interrupted);
            }
            match interrupt.receive(&self.inbox, CHECK_OPENING_EVERY) {
                Ok(Message::Connect { group, result }) => {
                    match &result {
                        Ok(duration) => count_connect(&mut self.connects[group], *duration),
                        Err(failure) => {
                            self.connects[group].errors += 1;
                            // Nothing is measured yet.
                            let phase = Phase::WarmUp;
                            recorder::count(&mut self.refusals, group, phase, failure);
                        }
                    }
                    opening.add(result.map(drop));
                    self.observer.connected(opening.open(), self.names.users());
                }
                Ok(Message::Ready) => ready += 1,
                Ok(_) | Err(channel::RecvTimeoutError::Timeout) => {}
                // A loop could not be set up: joining its thread returns its own error.
                Err(channel::RecvTimeoutError::Disconnected) => return Err(Error::Interrupted),
            }
            if let Some(error) = opening.failed(reactor::system_now()) {
                return Err(error);
            }
        }
        Ok(())
    }

    /// Sets the start and all times that are known already.
    fn begin(&mut self) -> Instant {
        let common = self.observer.begin_at();
        let start = common.unwrap_or_else(|| reactor::system_now() + START_AFTER);
        match self.steady.fixed_warm_up() {
            _ if self.timeline.turns().is_some() => {
                self.phase_why = "the first slice begins".to_owned();
            }
            Some((length, why)) => self.measure_from(start + length, why),
            None => {}
        }
        // Set last: the loops begin as soon as they see the start.
        self.timeline.set_start(start);
        self.observer.started();
        start
    }

    fn measure_from(&mut self, at: Instant, why: String) {
        self.phase_why = why;
        self.timeline.set_measure_from(at);
        match self.stop {
            Stop::After(duration) | Stop::AfterOrOperations(duration, _) => {
                self.timeline.stop_by(at + duration);
            }
            Stop::UntilPrecise(precision) => self.timeline.stop_by(at + precision.at_most),
            Stop::Operations(_) | Stop::WhenUsersEnd | Stop::WhenTold => {}
        }
    }

    fn take(&mut self, message: Message) {
        match message {
            Message::Connect { .. } | Message::Ready => {}
            Message::Interval {
                event_loop,
                measured,
            } => self.intervals.add(event_loop, *measured),
            Message::Halt(ended) => {
                if self.ended == Termination::Planned {
                    self.ended = ended;
                }
            }
            Message::Finished {
                event_loop,
                failures,
                refusals,
                last_end,
                left,
                users,
            } => {
                self.intervals.finish(event_loop);
                self.finished += 1;
                self.user_totals.extend(users);
                self.left.add(&left);
                self.last_end = self.last_end.max(Some(last_end));
                recorder::add(&mut self.failures, failures);
                recorder::add(&mut self.refusals, refusals);
            }
        }
        if let Some(start) = self.timeline.start() {
            self.merge_ready(start);
        }
    }

    /// Emits every interval that all loops have delivered.
    fn merge_ready(&mut self, start: Instant) {
        while let Some(interval) = self.intervals.next_whole() {
            self.emit(start, interval);
        }
    }

    fn emit(&mut self, start: Instant, interval: LoopInterval) {
        let part = self.timeline.due_in(interval.from);
        if part.phase == Phase::Drain && interval.cells.is_empty() && interval.carried.is_empty() {
            self.empty_drain.push(interval);
            return;
        }
        for empty in mem::take(&mut self.empty_drain) {
            self.emit_in(part, start, empty);
        }
        self.emit_in(part, start, interval);
    }

    fn emit_in(&mut self, part: DueIn, start: Instant, interval: LoopInterval) {
        let phase = part.phase;
        let (from, to) = (interval.from, interval.to);
        let t_s = (from - start).as_secs_f64();
        let length_s = (to - from).as_secs_f64();
        let users = self.active_users(from + (to - from) / 2 - start);
        let per_s = self.sums.add(t_s, part, users, &interval) as f64 / length_s;
        if phase == Phase::Measurement {
            self.look_at_precision(start, &interval);
        }
        self.announce(phase, t_s);
        self.announce_stage(part.stage);
        self.observer
            .interval(self.names.interval(t_s, part, users, interval));
        if let Some(warm_up_from) = self.judged_since(phase, start, from) {
            let share = length_s / self.interval.as_secs_f64();
            self.steady.add(phase, t_s, per_s, share);
            match phase {
                Phase::WarmUp => self.look_for_steady_state(start, warm_up_from, to),
                Phase::Measurement => self.look_whether_it_is_steady(start, to),
                Phase::Pause | Phase::Drain => {}
            }
        }
        self.look_for_planned_end();
    }

    /// The begin of the warm-up, if the steadiness of the load is judged by the interval that starts at `from`. A load with
    /// turns has a warm-up only in its turns, and its slices are not judged: they are too short.
    fn judged_since(&self, phase: Phase, start: Instant, from: Instant) -> Option<Instant> {
        let Some(turns) = self.timeline.turns() else {
            return Some(start);
        };
        let turn = turns.turn_at(from).filter(|_| phase == Phase::WarmUp)?;
        Some(turn.from)
    }

    /// Users that have operations at this time since the start of the load.
    fn active_users(&self, since_start: Duration) -> u64 {
        let all = self.names.users();
        let of_stage = self.timeline.stages().connections_at(since_start);
        of_stage.map_or(all, |it| all - self.staged_users + u64::from(it))
    }

    fn announce(&mut self, phase: Phase, t_s: f64) {
        if self.phase == Some(phase) {
            return;
        }
        let why = match phase {
            Phase::WarmUp if self.steady.has_begun_anew() => self.phase_why.clone(),
            Phase::WarmUp => "start of the load".to_owned(),
            Phase::Measurement => self.phase_why.clone(),
            // The measurement of a load with turns lasts from its first slice to its stop.
            Phase::Pause => return,
            Phase::Drain => "operations that were due before the stop".to_owned(),
        };
        self.phase = Some(phase);
        self.observer.phase(PhaseMark { t_s, phase, why });
    }

    fn announce_stage(&mut self, stage: Option<u32>) {
        let Some(number) = stage.filter(|_| self.stage != stage) else {
            return;
        };
        self.stage = stage;
        let placed = self.timeline.stages().placed().get(number as usize - 1);
        let begun = placed.map(|placed| offered_load::line(placed, number, None));
        begun
            .into_iter()
            .for_each(|stage| self.observer.stage(stage));
    }

    /// Ends the measurement at the next interval once the requested quantile is known precisely enough.
    fn look_at_precision(&mut self, start: Instant, interval: &LoopInterval) {
        let Stop::UntilPrecise(precision) = self.stop else {
            return;
        };
        let mut responses = Histogram::new();
        for cell in &interval.cells.operations {
            responses.add(&cell.response.histogram);
        }
        self.precise.add(&precision, &responses);
        let reached = self.precise.half_width(&precision);
        let quantile = 100.0 * precision.quantile;
        self.stop_why = Some(match reached {
            Some(width) => format!("p{quantile} known within {}", percent(width)),
            None => format!("too few operations to estimate the precision of p{quantile}"),
        });
        if reached.is_some_and(|width| width <= precision.within) {
            self.timeline.stop_by(self.next_boundary(start));
        }
    }

    /// Ends the warm-up once the load is steady, or it has lasted long enough: the measurement starts at the next interval;
    /// of a load with turns, the observer decides when.
    fn look_for_steady_state(&mut self, start: Instant, warm_up_from: Instant, to: Instant) {
        let is_over = self.timeline.measure_from().is_some() || self.has_warmed_up;
        if is_over || self.timeline.stop_at().is_some() {
            return;
        }
        let elapsed = to - warm_up_from;
        let counters = self.observer.counters(self.steady.since_s());
        let end = self
            .steady
            .end_of_warm_up(elapsed, self.interval, &counters);
        match end {
            Some(end) if self.timeline.turns().is_some() => {
                self.has_warmed_up = true;
                self.observer.warmed_up(&end);
                self.phase_why = end.why;
            }
            Some(end) => self.measure_from(self.next_boundary(start), end.why),
            None => {}
        }
    }

    /// Sets the stop of a load that ends when told to.
    fn look_for_planned_end(&mut self) {
        if !matches!(self.stop, Stop::WhenTold) || self.timeline.stop_at().is_some() {
            return;
        }
        if let Some(end) = self.observer.planned_end() {
            let soon = reactor::system_now() + AHEAD;
            self.timeline.stop_by(end.at.max(soon));
            self.stop_why = Some(end.why);
        }
    }

    /// Makes the measurement so far a part of the warm-up if it is not steady and more time may make it so.
    fn look_whether_it_is_steady(&mut self, start: Instant, to: Instant) {
        let (Some(from), Some(stop)) = (self.timeline.measure_from(), self.timeline.stop_at())
        else {
            return;
        };
        let progress = Progress {
            elapsed: to - start,
            measured: to - from,
            planned: stop - from,
            interval: self.interval,
        };
        // A load that has reached its end cannot continue.
        let is_in_time = reactor::system_now() + AHEAD < stop;
        if !is_in_time || !self.steady.is_to_be_judged(&progress) {
            return;
        }
        let counters = self.observer.counters(self.steady.since_s());
        if let Some(why) = self.steady.why_anew(&counters)
            && self.timeline.begin_anew(stop)
        {
            self.phase_why = why;
            self.steady.begin_anew();
            self.sums.begin_anew();
            self.precise = Precise::default();
            self.stop_why = None;
        }
    }

    /// The first regular interval boundary that no loop has passed yet.
    fn next_boundary(&self, start: Instant) -> Instant {
        let soon = reactor::system_now() + AHEAD;
        let passed = (soon - start).as_nanos() / self.interval.as_nanos();
        let boundary_ns = (passed + 1) * self.interval.as_nanos();
        start + Duration::from_nanos(boundary_ns as u64)
    }

    fn outcome(mut self, start: Instant) -> Outcome {
        let counters = self.observer.counters(self.steady.since_s());
        let not_steady = self.steady.why_not(&counters);
        let stop_why = self.stop_why.take().into_iter().chain(not_steady);
        let stop_why = stop_why.reduce(|first, second| format!("{first}; {second}"));
        let measured = self.sums.samples.iter();
        let measured = measured.filter(|sample| sample.phase == Phase::Measurement);
        let due = measured.map(|sample| sample.pace.due).sum();
        let stop_at = self.timeline.stop_at();
        if stop_at.is_none_or(|stop| reactor::system_now() < stop) {
            // In the last interval, users have reached their end: the waiting operations were not theirs.
            self.sums.samples.pop();
        }
        let load_end = LoadEnd {
            arrivals: self.arrivals,
            stages: self.timeline.stages(),
            due,
            spin: self.spin,
            ends_by_itself: matches!(self.stop, Stop::WhenUsersEnd | Stop::Operations(_)),
            connections: self.connects.iter().map(|connects| connects.count).sum(),
            samples: &self.sums.samples,
            send_lag: &self.sums.send_lag,
            send_lag_by_stage: &self.sums.send_lag_by_stage,
            left: &self.left,
        };
        let (offered, stages) = (load_end.whole(), load_end.stages());
        Outcome {
            elapsed: self.last_end.map_or(Duration::ZERO, |end| end - start),
            errors: self.names.errors(&self.failures, &self.refusals),
            succeeded: self.sums.succeeded,
            totals: self.names.totals(&self.sums.cells),
            users: std::mem::take(&mut self.user_totals),
            unfinished: self.left.in_flight,
            offered,
            stages,
            connects: self.connects,
            stop_why,
            ended: self.ended,
        }
    }
}

fn count_connect(connects: &mut Connects, duration: Duration) {
    let ns = duration.as_nanos() as u64;
    connects.min_ns = if connects.count == 0 {
        ns
    } else {
        connects.min_ns.min(ns)
    };
    connects.max_ns = connects.max_ns.max(ns);
    connects.sum_ns += ns;
    connects.count += 1;
}
