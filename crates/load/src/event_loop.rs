//! One event loop: connects its users, drives them, hands its figures over once per interval.

use std::{
    cell::{Cell as StdCell, RefCell},
    rc::Rc,
    sync::{Arc, mpsc},
    time::Duration,
};

use reactor::{Instant, Options, Reactor};
use samples::Phase;
use workload::{Failure, User};

use crate::{
    arrivals::{Arrivals, Share},
    budget::Allowance,
    intervals::LoopInterval,
    outcome::{Ended, UserTotal},
    pace::{Left, Pace},
    recorder::{Cells, FailureCounts, Recorder, Shape},
    schedule::{Drain, OnError},
    timeline::Timeline,
};

mod connecting;
mod driving;

use driving::Leave;

/// How often an event loop looks whether the controller has moved a moment.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// One user's place in the load.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    /// Index of the group.
    pub(crate) group: usize,
    /// Index of the group's first operation type among those of all groups.
    pub(crate) first_operation: usize,
    /// Index of the group's first statement among those of all groups.
    pub(crate) first_statement: usize,
}

/// One user of an event loop.
#[derive(Debug, Clone, Copy)]
struct Seat {
    place: Place,
    /// Its index among the loop's users.
    seat: usize,
}

/// What an event loop tells the controller.
#[derive(Debug)]
pub(crate) enum Message {
    /// One connection was opened, or failed for good.
    Connect {
        group: usize,
        result: Result<Duration, Failure>,
    },
    /// All of this loop's connections were tried.
    Ready,
    /// What the loop measured between two moments.
    Interval {
        event_loop: usize,
        measured: Box<LoopInterval>,
    },
    /// The load must end.
    Halt(Ended),
    /// The loop is over.
    Finished {
        event_loop: usize,
        failures: FailureCounts,
        /// Lost connections that could not be opened again at once.
        refusals: FailureCounts,
        /// End of the last operation.
        last_end: Instant,
        /// What didn't come back, or begin, in time.
        left: Box<Left>,
        /// What each user did.
        users: Vec<UserTotal>,
    },
}

/// What one event loop needs to know.
pub(crate) struct Task {
    pub(crate) share: Share,
    pub(crate) shape: Shape,
    pub(crate) arrivals: Arrivals,
    pub(crate) allowance: Allowance,
    pub(crate) on_error: OnError,
    pub(crate) drain: Drain,
    pub(crate) timeline: Arc<Timeline>,
    pub(crate) messages: mpsc::Sender<Message>,
    /// Cells that the controller has read and gives back, so that no interval allocates a histogram.
    pub(crate) used_cells: mpsc::Receiver<Cells>,
}

/// State that all users of one event loop share.
struct Shared {
    task: Task,
    recorder: RefCell<Recorder>,
    /// What each user did, by seat.
    users: RefCell<Vec<UserTotal>>,
    pace: Pace,
    start: Instant,
    /// Begin of the interval that is open.
    from: StdCell<Instant>,
    last_end: StdCell<Instant>,
    running: StdCell<u64>,
    /// Users that are done and hand over what they still hold.
    finishing: StdCell<u64>,
    /// How often this loop has seen the measurement begin anew.
    begun_anew: StdCell<u64>,
}

/// Runs one event loop to its end.
pub(crate) fn run<U: User + 'static>(
    task: Task,
    options: Options,
    users: Vec<(Place, U)>,
) -> std::io::Result<()> {
    let reactor = Reactor::with_options(options)?;
    reactor.run(async move {
        let connected = connecting::connect_all(&task.messages, &task.timeline, users).await;
        task.send(Message::Ready);
        let Some(start) = wait_for_start(&task.timeline).await else {
            return;
        };
        let shared = Rc::new(Shared {
            recorder: RefCell::new(Recorder::new(task.shape)),
            users: RefCell::new(vec![UserTotal::default(); connected.len()]),
            pace: Pace::new(&task.arrivals, task.share, connected.len(), start),
            start,
            from: StdCell::new(start),
            last_end: StdCell::new(start),
            running: StdCell::new(connected.len() as u64),
            finishing: StdCell::new(0),
            begun_anew: StdCell::new(0),
            task,
        });
        for (seat, (place, user)) in connected.into_iter().enumerate() {
            reactor::spawn(live(Rc::clone(&shared), Seat { place, seat }, user));
        }
        shared.keep_time().await;
    });
    Ok(())
}

impl Task {
    fn send(&self, message: Message) {
        // The controller outlives its loops unless it panicked; then nobody is left to tell.
        let _ = self.messages.send(message);
    }
}

/// The start as the controller sets it; `None` when it called the load off.
async fn wait_for_start(timeline: &Timeline) -> Option<Instant> {
    loop {
        if timeline.is_over(reactor::now()) {
            return None;
        }
        if let Some(start) = timeline.start() {
            reactor::sleep_until(start).await;
            return Some(start);
        }
        reactor::sleep(Duration::from_millis(1)).await;
    }
}

/// One user from its first operation to its last.
async fn live<U: User>(shared: Rc<Shared>, seat: Seat, mut user: U) {
    if let Leave::Done { last } = shared.drive(seat, &mut user).await {
        shared.finish_user(seat, last, &mut user).await;
    }
    user.disconnect().await;
    shared.running.set(shared.running.get() - 1);
}

impl Shared {
    /// Hands over every interval that is over, until no user is left or the drain has lasted too long.
    async fn keep_time(&self) {
        let mut wake_at = reactor::now();
        loop {
            let now = reactor::now();
            let stop = self.task.timeline.stop_at();
            // First: a look counts what is due, and that must not reach beyond the interval that is open.
            self.close_intervals(now);
            self.pace.look(now, stop, now - wake_at);
            if self.running.get() == 0 || self.drained_by(now, stop) {
                break;
            }
            let next = self.task.timeline.interval_end(self.from.get());
            wake_at = next.min(now + LOOK_EVERY);
            reactor::sleep_until(wake_at).await;
        }
        self.finish(reactor::now());
    }

    /// True when operations in flight have had all the time that they may take after the stop.
    fn drained_by(&self, now: Instant, stop: Option<Instant>) -> bool {
        let limit = self.task.drain.limit(self.task.timeline.is_cut_off());
        stop.zip(limit)
            .is_some_and(|(stop, limit)| now >= stop + limit)
    }

    /// Hands over what is left.
    fn finish(&self, now: Instant) {
        if now > self.from.get() {
            self.hand_over(now);
        }
        let timeline = &self.task.timeline;
        let measured = |due| timeline.phase(due) == Phase::Measurement;
        // Users that came to their end before it owe nothing that would have been due until then.
        let stop = timeline.stop_at().filter(|stop| now >= *stop);
        let (failures, refusals) = self.recorder.borrow_mut().take_failures();
        let mut left = self.pace.left(now, stop, measured);
        left.in_flight += self.finishing.get();
        self.task.send(Message::Finished {
            event_loop: self.task.share.index as usize,
            failures,
            refusals,
            last_end: self.last_end.get(),
            left: Box::new(left),
            users: self.users.take(),
        });
    }

    /// Closes every interval that ended by `now`.
    #[inline]
    fn close_intervals(&self, now: Instant) {
        loop {
            let end = self.task.timeline.interval_end(self.from.get());
            if now < end {
                return;
            }
            self.hand_over(end);
        }
    }

    #[cold]
    fn hand_over(&self, to: Instant) {
        let begun_anew = self.task.timeline.begun_anew();
        if self.begun_anew.replace(begun_anew) != begun_anew {
            self.users.borrow_mut().fill(UserTotal::default());
            self.recorder.borrow_mut().begin_anew();
        }
        let fresh = self.task.used_cells.try_recv().ok();
        let (cells, carried) = self.recorder.borrow_mut().take(fresh);
        self.task.send(Message::Interval {
            event_loop: self.task.share.index as usize,
            measured: Box::new(LoopInterval {
                from: self.from.replace(to),
                to,
                cells,
                carried,
                pace: self.pace.close(to, self.task.timeline.stop_at()),
            }),
        });
    }
}

#[cfg(test)]
mod tests;
