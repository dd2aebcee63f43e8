//! The pace of one event loop: operations that are due, waiting and in flight.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    iter::Peekable,
    time::Duration,
};

use reactor::Instant;
use samples::{Durations, Phase};

use settings::Arrivals;

use crate::{
    arrivals::{Schedule, Share},
    stages::Stages,
    think_times::ThinkTimes,
    timeline::DueIn,
};

/// The pace of an event loop in one interval; the values of several can be added.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct LoopPace {
    /// Operations that were due in it.
    pub(crate) due: u64,
    /// Operations that were due by its end and had not started.
    pub(crate) waiting: u64,
    /// Maximum number of waiting operations at a check.
    pub(crate) waiting_max: u64,
    /// Mean number of operations in flight over the checks.
    pub(crate) in_flight: f64,
    /// CPU time of the loop's thread; for several loops, the maximum.
    pub(crate) cpu: Duration,
    /// Maximum delay of the loop's timer; for several loops, the maximum.
    pub(crate) delay: Duration,
}

impl LoopPace {
    /// Adds the values of another event loop for the same interval.
    pub(crate) fn add(&mut self, other: &Self) {
        self.due += other.due;
        self.waiting += other.waiting;
        self.waiting_max += other.waiting_max;
        self.in_flight += other.in_flight;
        self.cpu = self.cpu.max(other.cpu);
        self.delay = self.delay.max(other.delay);
    }
}

/// The state of one event loop at its end.
#[derive(Debug, Clone, Default)]
pub(crate) struct LoopTotals {
    /// Operations in flight, whatever the phase in which they were due.
    pub(crate) in_flight: u64,
    /// Operations due in the measurement that were not completed.
    pub(crate) unanswered: Unanswered,
    /// The same by the stage in which they were due; empty without stages.
    pub(crate) by_stage: BTreeMap<u32, Unanswered>,
    /// Number and sum of the service times of operations that started while at most half of the users were busy.
    pub(crate) calm: (u64, Duration),
}

/// Operations that were not completed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Unanswered {
    /// In flight.
    pub(crate) unfinished: u64,
    /// Never started.
    pub(crate) not_started: u64,
    /// Waiting times of both so far.
    pub(crate) waits: Durations,
}

impl Unanswered {
    fn add(&mut self, other: &Self) {
        self.unfinished += other.unfinished;
        self.not_started += other.not_started;
        self.waits.add(&other.waits);
    }
}

impl LoopTotals {
    /// Adds the state of another event loop.
    pub(crate) fn add(&mut self, other: &Self) {
        self.in_flight += other.in_flight;
        self.unanswered.add(&other.unanswered);
        self.calm.0 += other.calm.0;
        self.calm.1 += other.calm.1;
        for (stage, more) in &other.by_stage {
            self.by_stage.entry(*stage).or_default().add(more);
        }
    }

    /// Takes note of an operation that was due in this part, if that is the measurement; `count` adds it.
    fn leave(&mut self, due_in: DueIn, wait: Duration, count: impl Fn(&mut Unanswered)) {
        if due_in.phase != Phase::Measurement {
            return;
        }
        let of_stage = due_in.stage.map(|it| self.by_stage.entry(it).or_default());
        for sum in of_stage.into_iter().chain([&mut self.unanswered]) {
            count(sum);
            sum.waits.record(wait.as_nanos() as u64);
        }
    }
}

/// The pace of one event loop.
pub(crate) struct Pace {
    start: Instant,
    /// The arrivals that no user has taken; `None` in a closed loop.
    unclaimed: Option<RefCell<Peekable<Schedule>>>,
    /// A copy of the same arrivals: those that were not due at the last check.
    uncounted: RefCell<Option<Peekable<Schedule>>>,
    think_times: Option<RefCell<ThinkTimes>>,
    /// Scheduled start of each user's operation in flight.
    flying: RefCell<Vec<Option<Instant>>>,
    in_flight: Cell<u64>,
    /// Total number of operations that were due, and that started.
    due: Cell<u64>,
    begun: Cell<u64>,
    calm: Cell<(u64, Duration)>,
    open: RefCell<Open>,
}

#[derive(Default)]
struct Open {
    due_before: u64,
    waiting_max: u64,
    in_flight_sum: u64,
    looks: u64,
    delay: Duration,
    cpu_before: Duration,
}

impl Pace {
    /// The pace of an event loop with this number of users.
    pub(crate) fn new(
        arrivals: &Arrivals,
        stages: &Stages,
        seed: u64,
        share: Share,
        users: usize,
        start: Instant,
    ) -> Self {
        let schedule = || {
            let schedule = Schedule::in_stages(arrivals, stages, seed, share);
            schedule.map(Iterator::peekable)
        };
        Self {
            start,
            unclaimed: schedule().map(RefCell::new),
            uncounted: RefCell::new(schedule()),
            think_times: ThinkTimes::new(arrivals, seed, share).map(RefCell::new),
            flying: RefCell::new(vec![None; users]),
            in_flight: Cell::new(0),
            due: Cell::new(0),
            begun: Cell::new(0),
            calm: Cell::new((0, Duration::ZERO)),
            open: RefCell::new(Open {
                cpu_before: reactor::thread_cpu_time(),
                ..Open::default()
            }),
        }
    }

    /// Takes the next arrival of an open loop out of the schedule; `None` in a closed loop.
    pub(crate) fn claim(&self) -> Option<Instant> {
        let due = self.unclaimed.as_ref()?.borrow_mut().next()?;
        Some(self.start + due)
    }

    /// The next user's think time; `None` if users have none.
    pub(crate) fn think(&self) -> Option<Duration> {
        Some(self.think_times.as_ref()?.borrow_mut().next())
    }

    pub(crate) fn is_open(&self) -> bool {
        self.unclaimed.is_some()
    }

    pub(crate) fn users(&self) -> u64 {
        self.flying.borrow().len() as u64
    }

    /// Records the start of this user's operation; true while at most half of the active users are busy.
    pub(crate) fn begin(&self, user: usize, scheduled: Instant, active: u64) -> bool {
        self.flying.borrow_mut()[user] = Some(scheduled);
        let in_flight = self.in_flight.get() + 1;
        self.in_flight.set(in_flight);
        self.begun.set(self.begun.get() + 1);
        in_flight == 1 || 2 * in_flight <= active
    }

    /// Records the end of this user's operation.
    pub(crate) fn end(&self, user: usize) {
        self.flying.borrow_mut()[user] = None;
        self.in_flight.set(self.in_flight.get() - 1);
    }

    /// Records the service time of an operation that started while at most half of the users were busy.
    pub(crate) fn was_calm(&self, service: Duration) {
        let (count, sum) = self.calm.get();
        self.calm.set((count + 1, sum + service));
    }

    /// Checks the queue and the connections; `delay` is the delay of the loop's timer.
    pub(crate) fn look(&self, now: Instant, stop: Option<Instant>, delay: Duration) {
        let waiting = self.waiting(stop.map_or(now, |stop| stop.min(now)));
        let mut open = self.open.borrow_mut();
        open.waiting_max = open.waiting_max.max(waiting);
        open.in_flight_sum += self.in_flight.get();
        open.looks += 1;
        open.delay = open.delay.max(delay);
    }

    /// Closes the interval that ends at `to`, and starts the next one.
    pub(crate) fn close(&self, to: Instant, stop: Option<Instant>) -> LoopPace {
        let until = stop.map_or(to, |stop| stop.min(to));
        self.look(until, stop, Duration::ZERO);
        let waiting = self.waiting(until);
        let cpu = reactor::thread_cpu_time();
        let next = Open {
            due_before: self.due.get(),
            cpu_before: cpu,
            ..Open::default()
        };
        let open = self.open.replace(next);
        LoopPace {
            due: self.due.get() - open.due_before,
            waiting,
            waiting_max: open.waiting_max,
            in_flight: open.in_flight_sum as f64 / open.looks as f64,
            cpu: cpu.saturating_sub(open.cpu_before),
            delay: open.delay,
        }
    }

    /// Counts the operations due by `until`; returns the number of those that have not started.
    fn waiting(&self, until: Instant) -> u64 {
        match &mut *self.uncounted.borrow_mut() {
            Some(uncounted) => {
                let since_start = until - self.start;
                let mut due = self.due.get();
                while uncounted.next_if(|at| *at < since_start).is_some() {
                    due += 1;
                }
                self.due.set(due);
                due.saturating_sub(self.begun.get())
            }
            None => {
                self.due.set(self.begun.get());
                0
            }
        }
    }

    /// The state when the loop gives up at `now`; `due_in` returns the part of the load in which an operation was due.
    /// Without a stop no operation is due any more.
    pub(crate) fn left(
        &self,
        now: Instant,
        stop: Option<Instant>,
        due_in: impl Fn(Instant) -> DueIn,
    ) -> LoopTotals {
        let mut left = LoopTotals {
            in_flight: self.in_flight.get(),
            calm: self.calm.get(),
            ..LoopTotals::default()
        };
        let flying = self.flying.borrow();
        for scheduled in flying.iter().flatten() {
            left.leave(due_in(*scheduled), now - *scheduled, |it| {
                it.unfinished += 1
            });
        }
        if let (Some(unclaimed), Some(stop)) = (&self.unclaimed, stop) {
            let mut unclaimed = unclaimed.borrow_mut();
            while let Some(due) = unclaimed.next_if(|at| self.start + *at < stop) {
                let due = self.start + due;
                left.leave(due_in(due), now - due, |it| it.not_started += 1);
            }
        }
        left
    }
}
