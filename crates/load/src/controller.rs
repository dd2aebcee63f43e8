//! Conducts a load: keeps the timeline, finds the steady state, merges what the event loops measure.

use std::{
    sync::{Arc, mpsc},
    time::Duration,
};

use reactor::Instant;
use samples::{
    Connects, ErrorCount, Interval, OperationInterval, Phase, PhaseMark, StatementInterval,
};

use crate::{
    event_loop::Message,
    intervals::{Intervals, MergedInterval},
    load::{Group, Load, Observer},
    outcome::{Ended, Error, OperationTotal, Outcome},
    recorder::{Cell, Cells, FailureCounts, StatementCell},
    schedule::{Interrupt, OnError, Stop, WarmUp},
    timeline::Timeline,
};

/// How often the controller looks for an interruption.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// From the decision to the first operation, so that every event loop has seen the start.
const START_AFTER: Duration = Duration::from_millis(5);

/// Keeps the timeline of one load and merges what its event loops measure.
pub(crate) struct Controller<'a> {
    timeline: Arc<Timeline>,
    inbox: mpsc::Receiver<Message>,
    observer: &'a mut dyn Observer,
    /// Group and name of every operation type.
    operations: Vec<(usize, String)>,
    /// Group and name of every statement.
    statements: Vec<(usize, String)>,
    connects: Vec<Connects>,
    users: u64,
    interval: Duration,
    warm_up: WarmUp,
    stop: Stop,
    on_error: OnError,
    intervals: Intervals,
    totals: Vec<Cell>,
    failures: FailureCounts,
    /// Throughput of the warm-up's intervals, operations per second.
    warm_up_series: Vec<f64>,
    phase: Option<Phase>,
    phase_why: String,
    ended: Ended,
    last_end: Option<Instant>,
    unfinished: u64,
    finished: usize,
}

impl<'a> Controller<'a> {
    /// A controller that has seen nothing yet.
    pub(crate) fn new<U>(
        load: &Load<U>,
        timeline: Arc<Timeline>,
        inbox: mpsc::Receiver<Message>,
        observer: &'a mut dyn Observer,
    ) -> Self {
        let named = |names: fn(&Group<U>) -> &[String]| {
            let groups = load.groups.iter().enumerate();
            groups
                .flat_map(|(index, group)| {
                    names(group).iter().map(move |name| (index, name.clone()))
                })
                .collect::<Vec<_>>()
        };
        let operations = named(|group| &group.operations);
        let connects = load.groups.iter().map(|group| Connects {
            load: group.name.clone(),
            count: 0,
            errors: 0,
            min_ns: 0,
            max_ns: 0,
            sum_ns: 0,
        });
        Self {
            timeline,
            inbox,
            observer,
            connects: connects.collect(),
            users: load.groups.iter().map(|group| u64::from(group.users)).sum(),
            interval: load.interval,
            warm_up: load.warm_up,
            stop: load.stop,
            on_error: load.on_error,
            intervals: Intervals::new(load.loops.max(1) as usize),
            totals: vec![Cell::default(); operations.len()],
            operations,
            statements: named(|group| &group.statements),
            failures: FailureCounts::new(),
            warm_up_series: Vec::new(),
            phase: None,
            phase_why: String::new(),
            ended: Ended::Planned,
            last_end: None,
            unfinished: 0,
            finished: 0,
        }
    }

    /// Empty cells for all operation types and statements.
    pub(crate) fn cells(&self) -> Cells {
        Cells::new(self.operations.len(), self.statements.len())
    }

    /// The next event loop takes its cells back here.
    pub(crate) fn gives_back_to(&mut self, give_back: mpsc::Sender<Cells>) {
        self.intervals.give_back_to(give_back);
    }

    /// Conducts the load to its end.
    pub(crate) fn conduct(mut self, interrupt: &Interrupt) -> Result<Outcome, Error> {
        self.wait_for_connections(interrupt)?;
        let start = self.begin();
        while self.finished < self.intervals.loops() {
            match self.inbox.recv_timeout(LOOK_EVERY) {
                Ok(message) => self.take(message),
                Err(mpsc::RecvTimeoutError::Timeout) => {}
                Err(mpsc::RecvTimeoutError::Disconnected) => break,
            }
            if interrupt.is_raised() && self.ended == Ended::Planned {
                self.ended = Ended::Interrupted;
                self.timeline.stop_by(reactor::system_now());
            }
        }
        self.merge_ready(start);
        Ok(self.outcome(start))
    }

    fn wait_for_connections(&mut self, interrupt: &Interrupt) -> Result<(), Error> {
        let mut tried = 0;
        let mut open = 0;
        let mut ready = 0;
        while ready < self.intervals.loops() {
            if interrupt.is_raised() {
                return Err(Error::Interrupted);
            }
            match self.inbox.recv_timeout(LOOK_EVERY) {
                Ok(Message::Connect { group, result }) => {
                    tried += 1;
                    open += u64::from(result.is_ok());
                    let last_chance = open == 0 && tried == self.users;
                    match result {
                        Ok(duration) => count_connect(&mut self.connects[group], duration),
                        Err(failure) if self.on_error == OnError::Stop || last_chance => {
                            return Err(Error::Connect {
                                number: tried,
                                total: self.users,
                                failure,
                            });
                        }
                        Err(_) => self.connects[group].errors += 1,
                    }
                    self.observer.connected(open, self.users);
                }
                Ok(Message::Ready) => ready += 1,
                Ok(_) | Err(mpsc::RecvTimeoutError::Timeout) => {}
                // A loop that could not be set up: its own error is found when its thread is joined.
                Err(mpsc::RecvTimeoutError::Disconnected) => return Err(Error::Interrupted),
            }
        }
        Ok(())
    }

    /// Sets the start and every moment that is known already.
    fn begin(&mut self) -> Instant {
        let start = reactor::system_now() + START_AFTER;
        match self.warm_up {
            WarmUp::None => self.measure_from(start, "no warm-up asked for"),
            WarmUp::For(warm_up) => {
                let why = format!("warm-up of {:.1} s over", warm_up.as_secs_f64());
                self.measure_from(start + warm_up, &why);
            }
            WarmUp::UntilSteady { .. } => {}
        }
        // Last: once they see the start, the loops begin.
        self.timeline.set_start(start);
        self.observer.started();
        start
    }

    fn measure_from(&mut self, at: Instant, why: &str) {
        self.phase_why = why.to_owned();
        self.timeline.set_measure_from(at);
        if let Stop::After(duration) = self.stop {
            self.timeline.stop_by(at + duration);
        }
    }

    fn take(&mut self, message: Message) {
        match message {
            Message::Connect { .. } | Message::Ready => {}
            Message::Interval {
                event_loop,
                from,
                to,
                cells,
            } => {
                self.intervals.add(event_loop, from, to, cells);
            }
            Message::Halt(ended) => {
                if self.ended == Ended::Planned {
                    self.ended = ended;
                }
            }
            Message::Finished {
                event_loop,
                failures,
                last_end,
                unfinished,
            } => {
                self.intervals.finish(event_loop);
                self.finished += 1;
                self.unfinished += unfinished;
                self.last_end = self.last_end.max(Some(last_end));
                for (key, more) in failures {
                    self.failures
                        .entry(key)
                        .and_modify(|known| {
                            known.count += more.count;
                            known.retried += more.retried;
                        })
                        .or_insert(more);
                }
            }
        }
        if let Some(start) = self.timeline.start() {
            self.merge_ready(start);
        }
    }

    /// Emits every interval that all loops have handed over.
    fn merge_ready(&mut self, start: Instant) {
        while let Some(interval) = self.intervals.next_whole() {
            self.emit(start, interval);
        }
    }

    fn emit(&mut self, start: Instant, interval: MergedInterval) {
        let from = interval.from;
        let phase = self.timeline.phase(from);
        let length_s = (interval.to - from).as_secs_f64();
        for (total, cell) in self.totals.iter_mut().zip(&interval.cells.operations) {
            total.add(cell);
        }
        let counts = interval
            .cells
            .operations
            .iter()
            .map(|cell| cell.response.count);
        let count: u64 = counts.sum();
        if phase == Phase::Drain && interval.cells.is_empty() {
            return;
        }
        self.announce(phase, (from - start).as_secs_f64());
        self.observer.interval(Interval {
            t_s: (from - start).as_secs_f64(),
            length_s,
            phase,
            operations: self.operation_intervals(interval.cells.operations),
            statements: self.statement_intervals(interval.cells.statements),
        });
        if phase == Phase::WarmUp {
            self.warm_up_series.push(count as f64 / length_s);
            self.look_for_steady_state(start, interval.to);
        }
    }

    fn announce(&mut self, phase: Phase, t_s: f64) {
        if self.phase == Some(phase) {
            return;
        }
        self.phase = Some(phase);
        let why = match phase {
            Phase::WarmUp => "start of the load".to_owned(),
            Phase::Measurement => self.phase_why.clone(),
            Phase::Drain => "operations still in flight at the stop".to_owned(),
        };
        self.observer.phase(PhaseMark { t_s, phase, why });
    }

    fn operation_intervals(&self, cells: Vec<Cell>) -> Vec<OperationInterval> {
        let mut operations: Vec<_> = self
            .operations
            .iter()
            .zip(cells)
            .filter(|(_, cell)| cell.response.count + cell.errors > 0)
            .map(|((group, operation), cell)| OperationInterval {
                load: self.connects[*group].load.clone(),
                operation: operation.clone(),
                count: cell.response.count,
                errors: cell.errors,
                sum_ns: cell.response.sum_ns,
                min_ns: cell.response.min_ns,
                max_ns: cell.response.max_ns,
                histogram: cell.response.histogram,
            })
            .collect();
        operations.sort_by(|a, b| (&a.load, &a.operation).cmp(&(&b.load, &b.operation)));
        operations
    }

    fn statement_intervals(&self, cells: Vec<StatementCell>) -> Vec<StatementInterval> {
        let mut statements: Vec<_> = self
            .statements
            .iter()
            .zip(cells)
            .filter(|(_, cell)| cell.times.count > 0)
            .map(|((group, statement), cell)| StatementInterval {
                load: self.connects[*group].load.clone(),
                statement: statement.clone(),
                reads: cell.reads,
                writes: cell.writes,
                others: cell.others,
                sum_ns: cell.times.sum_ns,
                min_ns: cell.times.min_ns,
                max_ns: cell.times.max_ns,
                histogram: cell.times.histogram,
            })
            .collect();
        statements.sort_by(|a, b| (&a.load, &a.statement).cmp(&(&b.load, &b.statement)));
        statements
    }

    /// Begins the measurement at the next interval once the warm-up's throughput is steady, or has lasted too long.
    fn look_for_steady_state(&mut self, start: Instant, to: Instant) {
        let WarmUp::UntilSteady { steady, at_most } = self.warm_up else {
            return;
        };
        if self.timeline.measure_from().is_some() || self.timeline.stop_at().is_some() {
            return;
        }
        let why = if let Some(index) = steady(&self.warm_up_series) {
            let since_s = index as f64 * self.interval.as_secs_f64();
            format!("throughput steady since {since_s:.1} s")
        } else if to - start >= at_most {
            let limit_s = at_most.as_secs_f64();
            format!("throughput not steady after {limit_s:.1} s: still warming")
        } else {
            return;
        };
        self.measure_from(self.next_boundary(start), &why);
    }

    /// The first regular interval boundary that no loop has passed yet.
    fn next_boundary(&self, start: Instant) -> Instant {
        let soon = reactor::system_now() + LOOK_EVERY;
        let passed = (soon - start).as_nanos() / self.interval.as_nanos();
        let boundary_ns = (passed + 1) * self.interval.as_nanos();
        start + Duration::from_nanos(boundary_ns as u64)
    }

    fn outcome(self, start: Instant) -> Outcome {
        let errors = self
            .failures
            .iter()
            .map(|(&(operation, number), failures)| ErrorCount {
                load: self.connects[self.operations[operation].0].load.clone(),
                operation: self.operations[operation].1.clone(),
                number,
                sqlstate: failures.first.sqlstate.clone(),
                message: failures.first.message.clone(),
                count: failures.count,
                retried: failures.retried,
            });
        let totals = self
            .operations
            .iter()
            .zip(&self.totals)
            .map(|((group, operation), cell)| OperationTotal {
                load: self.connects[*group].load.clone(),
                operation: operation.clone(),
                count: cell.response.count,
                errors: cell.errors,
                min_ns: cell.response.min_ns,
                max_ns: cell.response.max_ns,
                sum_ns: cell.response.sum_ns,
                histogram: cell.response.histogram.clone(),
            });
        Outcome {
            elapsed: self.last_end.map_or(Duration::ZERO, |end| end - start),
            errors: errors.collect(),
            totals: totals.collect(),
            connects: self.connects,
            ended: self.ended,
            unfinished: self.unfinished,
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
