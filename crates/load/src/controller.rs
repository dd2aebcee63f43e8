//! Controls a load: keeps the timeline, finds the steady state, merges the figures of the event loops.

use settings::{Arrivals, OnRefusal, WarmUp};
use std::{collections::BTreeMap, mem, sync::Arc, time::Duration};

use crate::{
    event_loop::Message,
    intervals::{Intervals, LoopInterval},
    lines::{self, Names},
    load::{Load, LoadListener},
    offered_load::{self, LoadEnd},
    opening::Opening,
    outcome::{Error, Outcome, Termination, UserTotal},
    pace::LoopTotals,
    precision::Precise,
    recorder::{self, CellCounts, Cells, FailureCounts},
    rules::Stop,
    shortfall::Sample,
    steady_state::{Progress, SteadyState},
    timeline::{DueIn, Timeline},
};
use reactor::{Instant, Interrupt, channel};
use samples::{Connects, Durations, Histogram, Phase, PhaseMark};
use units::{moment, percent};

/// Interval at which the opening is checked: one that has failed is waited for only for some time.
const CHECK_OPENING_EVERY: Duration = Duration::from_millis(20);
/// Time before an event on the timeline from which on it is not moved any more: every event loop has seen it by then.
const FIXED_AHEAD: Duration = Duration::from_millis(20);
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
    totals: Cells,
    /// Successful operations that were due in the measurement, or completed in it.
    succeeded: u64,
    failures: FailureCounts,
    /// Failed attempts to open a connection, at the start without success or to replace a lost one, by group and error
    /// number.
    refusals: FailureCounts,
    samples: Vec<Sample>,
    /// Send lags of the operations due in the measurement.
    send_lag: Durations,
    /// The same of each stage.
    send_lag_by_stage: BTreeMap<u32, Durations>,
    precise: Precise,
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
            totals: Cells::new(shape),
            succeeded: 0,
            failures: FailureCounts::new(),
            refusals: FailureCounts::new(),
            samples: Vec::new(),
            send_lag: Durations::default(),
            send_lag_by_stage: BTreeMap::new(),
            precise: Precise::default(),
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
        match self.steady.warm_up() {
            WarmUp::None => self.measure_from(start, "no warm-up requested"),
            WarmUp::For(warm_up) => {
                let why = format!("warm-up of {} over", moment(warm_up.as_secs_f64()));
                self.measure_from(start + warm_up, &why);
            }
            WarmUp::UntilSteady { .. } => {}
        }
        // Set last: the loops begin as soon as they see the start.
        self.timeline.set_start(start);
        self.observer.started();
        start
    }

    fn measure_from(&mut self, at: Instant, why: &str) {
        self.phase_why = why.to_owned();
        self.timeline.set_measure_from(at);
        match self.stop {
            Stop::After(duration) | Stop::AfterOrOperations(duration, _) => {
                self.timeline.stop_by(at + duration);
            }
            Stop::UntilPrecise(precision) => self.timeline.stop_by(at + precision.at_most),
            Stop::Operations(_) | Stop::WhenUsersEnd => {}
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
        let sample = self.sample(&interval, part, users, t_s);
        let per_s = sample.back as f64 / length_s;
        self.totals.add(&interval.cells);
        for cells in interval.carried.values() {
            self.totals.add(cells);
        }
        let own = [(&part, &interval.cells)];
        for (due_in, cells) in interval.carried.iter().chain(own) {
            let is_due = due_in.phase == Phase::Measurement;
            // Operations of a warm-up's backlog that are completed in the measurement are results as well.
            if is_due || phase == Phase::Measurement {
                self.succeeded += cells.succeeded();
            }
            if is_due {
                self.send_lag.add(&cells.send_lag);
            }
            if let Some(stage) = due_in.stage {
                let of_stage = self.send_lag_by_stage.entry(stage).or_default();
                of_stage.add(&cells.send_lag);
            }
        }
        if phase == Phase::Measurement {
            self.look_at_precision(start, &interval);
        }
        self.announce(phase, t_s);
        self.announce_stage(part.stage);
        self.observer
            .interval(self.names.interval(t_s, part, users, interval));
        if phase != Phase::Drain {
            self.samples.push(sample);
        }
        let share = length_s / self.interval.as_secs_f64();
        self.steady.add(phase, t_s, per_s, share);
        match phase {
            Phase::WarmUp => self.look_for_steady_state(start, to),
            Phase::Measurement => self.look_whether_it_is_steady(start, to),
            Phase::Drain => {}
        }
    }

    /// Users that have operations at this time since the start of the load.
    fn active_users(&self, since_start: Duration) -> u64 {
        let all = self.names.users();
        let of_stage = self.timeline.stages().connections_at(since_start);
        of_stage.map_or(all, |it| all - self.staged_users + u64::from(it))
    }

    /// The figures of an interval for the rule about a missed rate.
    fn sample(&self, interval: &LoopInterval, part: DueIn, users: u64, t_s: f64) -> Sample {
        let length_s = (interval.to - interval.from).as_secs_f64();
        let back = || interval.carried.values().chain([&interval.cells]);
        let service = back().flat_map(|cells| &cells.service);
        Sample {
            t_s,
            length_s,
            phase: part.phase,
            stage: part.stage,
            pace: lines::pace(interval.pace, length_s, users),
            back: back().map(Cells::succeeded).sum(),
            service_sum_ns: service.map(|durations| durations.sum_ns).sum(),
        }
    }

    fn announce(&mut self, phase: Phase, t_s: f64) {
        if self.phase == Some(phase) {
            return;
        }
        self.phase = Some(phase);
        let why = match phase {
            Phase::WarmUp if self.steady.has_begun_anew() => self.phase_why.clone(),
            Phase::WarmUp => "start of the load".to_owned(),
            Phase::Measurement => self.phase_why.clone(),
            Phase::Drain => "operations that were due before the stop".to_owned(),
        };
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

    /// Starts the measurement at the next interval once the warm-up is over, or has lasted too long.
    fn look_for_steady_state(&mut self, start: Instant, to: Instant) {
        if self.timeline.measure_from().is_some() || self.timeline.stop_at().is_some() {
            return;
        }
        let elapsed = to - start;
        let counters = self.observer.counters(self.steady.since_s());
        if let Some(why) = self
            .steady
            .end_of_warm_up(elapsed, self.interval, &counters)
        {
            self.measure_from(self.next_boundary(start), &why);
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
        let is_in_time = reactor::system_now() + FIXED_AHEAD < stop;
        if !is_in_time || !self.steady.is_to_be_judged(&progress) {
            return;
        }
        let counters = self.observer.counters(self.steady.since_s());
        if let Some(why) = self.steady.why_anew(&counters)
            && self.timeline.begin_anew(stop)
        {
            self.phase_why = why;
            self.steady.begin_anew();
            self.send_lag = Durations::default();
            self.succeeded = 0;
            self.precise = Precise::default();
            self.stop_why = None;
            for sample in &mut self.samples {
                sample.phase = Phase::WarmUp;
            }
        }
    }

    /// The first regular interval boundary that no loop has passed yet.
    fn next_boundary(&self, start: Instant) -> Instant {
        let soon = reactor::system_now() + FIXED_AHEAD;
        let passed = (soon - start).as_nanos() / self.interval.as_nanos();
        let boundary_ns = (passed + 1) * self.interval.as_nanos();
        start + Duration::from_nanos(boundary_ns as u64)
    }

    fn outcome(mut self, start: Instant) -> Outcome {
        let counters = self.observer.counters(self.steady.since_s());
        let not_steady = self.steady.why_not(&counters);
        let stop_why = self.stop_why.take().into_iter().chain(not_steady);
        let stop_why = stop_why.reduce(|first, second| format!("{first}; {second}"));
        let measured = self.samples.iter();
        let measured = measured.filter(|sample| sample.phase == Phase::Measurement);
        let due = measured.map(|sample| sample.pace.due).sum();
        let stop_at = self.timeline.stop_at();
        if stop_at.is_none_or(|stop| reactor::system_now() < stop) {
            // In the last interval, users have reached their end: the waiting operations were not theirs.
            self.samples.pop();
        }
        let load_end = LoadEnd {
            arrivals: self.arrivals,
            stages: self.timeline.stages(),
            due,
            spin: self.spin,
            ends_by_itself: matches!(self.stop, Stop::WhenUsersEnd | Stop::Operations(_)),
            connections: self.connects.iter().map(|connects| connects.count).sum(),
            samples: &self.samples,
            send_lag: &self.send_lag,
            send_lag_by_stage: &self.send_lag_by_stage,
            left: &self.left,
        };
        let (offered, stages) = (load_end.whole(), load_end.stages());
        Outcome {
            elapsed: self.last_end.map_or(Duration::ZERO, |end| end - start),
            errors: self.names.errors(&self.failures, &self.refusals),
            succeeded: self.succeeded,
            totals: self.names.totals(&self.totals),
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
