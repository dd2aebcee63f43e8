//! Runs a load: sets up the event loops, keeps the timeline, merges what they measure.

use std::{
    collections::BTreeMap,
    num::NonZero,
    sync::{Arc, mpsc},
    thread,
    time::Duration,
};

use reactor::{Clock, Instant};
use samples::{Connects, ErrorCount, Interval, OperationInterval, Phase, PhaseMark};
use workload::User;

use crate::{
    event_loop::{self, Message, Place, Task},
    outcome::{Ended, Error, OperationTotal, Outcome},
    recorder::{Cell, FailureCounts},
    schedule::{Interrupt, OnError, Stop, WarmUp},
    timeline::Timeline,
};

/// How often the controller looks for an interruption.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// From the decision to the first operation, so that every event loop has seen the start.
const START_AFTER: Duration = Duration::from_millis(5);

/// Users of one kind.
pub struct Group<U> {
    /// Name in the record.
    pub name: String,
    /// Names of the operation types, in the order of the users' [`User::operations`].
    pub operations: Vec<String>,
    /// How many users.
    pub users: u32,
    /// Makes the user with this index, not connected yet; called on the thread of its event loop.
    pub make: Box<dyn Fn(u32) -> U + Send + Sync>,
}

/// What to drive, and how.
pub struct Load<U> {
    /// Groups that run together.
    pub groups: Vec<Group<U>>,
    /// Event loops.
    pub loops: u32,
    /// When the measurement begins.
    pub warm_up: WarmUp,
    /// When it ends.
    pub stop: Stop,
    /// What a failure does.
    pub on_error: OnError,
    /// Length of an interval.
    pub interval: Duration,
}

/// Looks on while a load runs; called on the thread that called [`drive`].
pub trait Observer {
    /// So many of `total` connections are open.
    fn connected(&mut self, open: u64, total: u64);
    /// The first operations start now.
    fn started(&mut self);
    /// A phase begins.
    fn phase(&mut self, mark: PhaseMark);
    /// An interval is over.
    fn interval(&mut self, interval: Interval);
}

/// Event loops for so many connections: min(connections, 2 x CPUs).
pub fn default_loops(connections: u32) -> u32 {
    let cpus = thread::available_parallelism().map_or(1, NonZero::get) as u32;
    connections.min(2 * cpus).max(1)
}

/// Runs a load to its end.
pub fn drive<U: User + 'static>(
    load: Load<U>,
    interrupt: &Interrupt,
    observer: &mut dyn Observer,
) -> Result<Outcome, Error> {
    let timeline = Arc::new(Timeline::new(load.interval));
    let (messages, inbox) = mpsc::channel();
    let mut controller = Controller::new(&load, Arc::clone(&timeline), inbox, observer);
    let (on_error, operations) = (load.on_error, controller.operations.len());
    let shares = share_out(&load);
    let groups = Arc::new(load.groups);
    let threads = shares
        .into_iter()
        .enumerate()
        .map(|(event_loop, share)| {
            let groups = Arc::clone(&groups);
            let (give_back, used_cells) = mpsc::channel();
            controller.give_back.push(give_back);
            let task = Task {
                event_loop,
                operations,
                on_error,
                timeline: Arc::clone(&timeline),
                messages: messages.clone(),
                used_cells,
            };
            thread::Builder::new()
                .name(format!("loop-{event_loop}"))
                .spawn(move || {
                    let make =
                        |(place, index): (Place, u32)| (place, (groups[place.group].make)(index));
                    event_loop::run(task, Clock::System, share.into_iter().map(make).collect())
                })
        })
        .collect::<Result<Vec<_>, _>>();
    // From here on, the only senders are the loops: the inbox closes when the last one is gone.
    drop(messages);
    let result = match threads.as_ref() {
        Ok(_) => controller.conduct(interrupt),
        Err(_) => Err(Error::Interrupted),
    };
    timeline.stop_by(reactor::system_now());
    for thread in threads? {
        match thread.join() {
            Ok(end) => end?,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
    result
}

/// Deals the users out to the event loops, one after the other.
fn share_out<U>(load: &Load<U>) -> Vec<Vec<(Place, u32)>> {
    let mut shares = vec![Vec::new(); load.loops.max(1) as usize];
    let mut first_operation = 0;
    let mut dealt = 0;
    for (
        group,
        Group {
            operations, users, ..
        },
    ) in load.groups.iter().enumerate()
    {
        for index in 0..*users {
            let place = Place {
                group,
                first_operation,
            };
            let share = dealt % shares.len();
            shares[share].push((place, index));
            dealt += 1;
        }
        first_operation += operations.len();
    }
    shares
}

/// An interval that not all loops have handed over yet.
struct OpenInterval {
    to: Instant,
    cells: Vec<Cell>,
}

struct Controller<'a> {
    timeline: Arc<Timeline>,
    inbox: mpsc::Receiver<Message>,
    observer: &'a mut dyn Observer,
    give_back: Vec<mpsc::Sender<Vec<Cell>>>,
    /// Group and name of every operation type.
    operations: Vec<(usize, String)>,
    connects: Vec<Connects>,
    users: u64,
    interval: Duration,
    warm_up: WarmUp,
    stop: Stop,
    on_error: OnError,
    /// Up to where each loop has handed over.
    reached: Vec<Option<Instant>>,
    open: BTreeMap<Instant, OpenInterval>,
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
    fn new<U: User>(
        load: &Load<U>,
        timeline: Arc<Timeline>,
        inbox: mpsc::Receiver<Message>,
        observer: &'a mut dyn Observer,
    ) -> Self {
        let operations: Vec<_> = load
            .groups
            .iter()
            .enumerate()
            .flat_map(|(index, group)| {
                group
                    .operations
                    .iter()
                    .map(move |name| (index, name.clone()))
            })
            .collect();
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
            give_back: Vec::new(),
            connects: connects.collect(),
            users: load.groups.iter().map(|group| u64::from(group.users)).sum(),
            interval: load.interval,
            warm_up: load.warm_up,
            stop: load.stop,
            on_error: load.on_error,
            reached: vec![None; load.loops.max(1) as usize],
            open: BTreeMap::new(),
            totals: vec![Cell::default(); operations.len()],
            operations,
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

    fn conduct(mut self, interrupt: &Interrupt) -> Result<Outcome, Error> {
        self.wait_for_connections(interrupt)?;
        let start = self.begin();
        while self.finished < self.reached.len() {
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
        while ready < self.reached.len() {
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
                self.collect(event_loop, from, to, cells);
                self.reached[event_loop] = Some(to);
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
                self.reached[event_loop] = Some(Instant::from_ns(u64::MAX));
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

    fn collect(&mut self, event_loop: usize, from: Instant, to: Instant, mut cells: Vec<Cell>) {
        let fresh = || vec![Cell::default(); cells.len()];
        let open = self
            .open
            .entry(from)
            .or_insert_with(|| OpenInterval { to, cells: fresh() });
        open.to = open.to.max(to);
        for (sum, cell) in open.cells.iter_mut().zip(&mut cells) {
            sum.add(cell);
            cell.clear();
        }
        // A loop that has ended takes nothing back; the cells are dropped with the message.
        let _ = self.give_back[event_loop].send(cells);
    }

    /// Emits every interval that all loops have handed over.
    fn merge_ready(&mut self, start: Instant) {
        let Some(reached) = self.reached.iter().copied().min().flatten() else {
            return;
        };
        while let Some(entry) = self.open.first_entry() {
            if entry.get().to > reached {
                return;
            }
            let (from, interval) = entry.remove_entry();
            self.emit(start, from, interval);
        }
    }

    fn emit(&mut self, start: Instant, from: Instant, interval: OpenInterval) {
        let phase = self.timeline.phase(from);
        let length_s = (interval.to - from).as_secs_f64();
        for (total, cell) in self.totals.iter_mut().zip(&interval.cells) {
            total.add(cell);
        }
        let count: u64 = interval.cells.iter().map(|cell| cell.count).sum();
        if phase == Phase::Drain
            && interval
                .cells
                .iter()
                .all(|cell| cell.count + cell.errors == 0)
        {
            return;
        }
        self.announce(phase, (from - start).as_secs_f64());
        self.observer.interval(Interval {
            t_s: (from - start).as_secs_f64(),
            length_s,
            phase,
            operations: self.operation_intervals(interval.cells),
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
            .filter(|(_, cell)| cell.count + cell.errors > 0)
            .map(|((group, operation), cell)| OperationInterval {
                load: self.connects[*group].load.clone(),
                operation: operation.clone(),
                count: cell.count,
                errors: cell.errors,
                sum_ns: cell.sum_ns,
                min_ns: cell.min_ns,
                max_ns: cell.max_ns,
                histogram: cell.histogram,
            })
            .collect();
        operations.sort_by(|a, b| (&a.load, &a.operation).cmp(&(&b.load, &b.operation)));
        operations
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
                count: cell.count,
                errors: cell.errors,
                min_ns: cell.min_ns,
                max_ns: cell.max_ns,
                sum_ns: cell.sum_ns,
                histogram: cell.histogram.clone(),
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
