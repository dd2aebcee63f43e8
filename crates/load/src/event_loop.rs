//! One event loop: connects its users, drives them, hands its figures over once per interval.

use std::{
    cell::{Cell as StdCell, RefCell},
    collections::VecDeque,
    rc::Rc,
    sync::{Arc, mpsc},
    time::Duration,
};

use reactor::{Clock, Instant, Reactor};
use workload::{Class, Failure, Next, User, Watch};

use crate::{
    outcome::Ended,
    recorder::{Cells, FailureCounts, Recorder},
    schedule::OnError,
    timeline::Timeline,
};

/// How often an event loop looks whether the controller has moved a moment.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// How long operations in flight may take after the stop.
const DRAIN_AT_MOST: Duration = Duration::from_secs(5);
/// How long a user tries to get a lost connection back.
const RECONNECT_FOR: Duration = Duration::from_secs(2);
/// Connections that one loop opens at the same time: a server's backlog is short.
const CONNECTING_AT_ONCE: usize = 32;
/// Attempts to open one connection before it counts as failed.
const CONNECT_ATTEMPTS: u32 = 3;

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
        from: Instant,
        to: Instant,
        cells: Cells,
    },
    /// The load must end.
    Halt(Ended),
    /// The loop is over.
    Finished {
        event_loop: usize,
        failures: FailureCounts,
        /// End of the last operation.
        last_end: Instant,
        /// Users whose operation didn't come back in time.
        unfinished: u64,
    },
}

/// What one event loop needs to know.
pub(crate) struct Task {
    pub(crate) event_loop: usize,
    /// Empty cells for all operation types and statements.
    pub(crate) cells: Cells,
    pub(crate) on_error: OnError,
    pub(crate) timeline: Arc<Timeline>,
    pub(crate) messages: mpsc::Sender<Message>,
    /// Cells that the controller has read and gives back, so that no interval allocates a histogram.
    pub(crate) used_cells: mpsc::Receiver<Cells>,
}

/// State that all users of one event loop share.
struct Shared {
    task: Task,
    recorder: RefCell<Recorder>,
    /// Begin of the interval that is open.
    from: StdCell<Instant>,
    last_end: StdCell<Instant>,
    running: StdCell<u64>,
}

/// Runs one event loop to its end.
pub(crate) fn run<U: User + 'static>(
    task: Task,
    clock: Clock,
    users: Vec<(Place, U)>,
) -> std::io::Result<()> {
    let reactor = Reactor::new(clock)?;
    reactor.run(async move {
        let connected = connect_all(&task.messages, users).await;
        task.send(Message::Ready);
        let Some(start) = wait_for_start(&task.timeline).await else {
            return;
        };
        let shared = Rc::new(Shared {
            recorder: RefCell::new(Recorder::new(task.cells.clone())),
            from: StdCell::new(start),
            last_end: StdCell::new(start),
            running: StdCell::new(connected.len() as u64),
            task,
        });
        for (place, user) in connected {
            reactor::spawn(live(Rc::clone(&shared), place, user));
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

/// Opens the connections of all users, some at a time; those that fail for good are left out.
async fn connect_all<U: User + 'static>(
    messages: &mpsc::Sender<Message>,
    users: Vec<(Place, U)>,
) -> Vec<(Place, U)> {
    let total = users.len();
    let waiting = Rc::new(RefCell::new(VecDeque::from(users)));
    let connected = Rc::new(RefCell::new(Vec::with_capacity(total)));
    let open = Rc::new(StdCell::new(CONNECTING_AT_ONCE.min(total)));
    for _ in 0..open.get() {
        let (waiting, connected, open) =
            (Rc::clone(&waiting), Rc::clone(&connected), Rc::clone(&open));
        let messages = messages.clone();
        reactor::spawn(async move {
            loop {
                let next = waiting.borrow_mut().pop_front();
                let Some((place, mut user)) = next else { break };
                let result = connect(&mut user).await;
                let is_open = result.is_ok();
                let _ = messages.send(Message::Connect {
                    group: place.group,
                    result,
                });
                if is_open {
                    connected.borrow_mut().push((place, user));
                }
            }
            open.set(open.get() - 1);
        });
    }
    while open.get() > 0 {
        reactor::sleep(Duration::from_millis(1)).await;
    }
    connected.take()
}

/// Opens one connection; the time is that of the attempt that succeeded.
async fn connect<U: User>(user: &mut U) -> Result<Duration, Failure> {
    let mut attempt = 1;
    loop {
        let begin = reactor::now();
        match user.connect().await {
            Ok(()) => return Ok(reactor::now() - begin),
            // The server said no: asking again changes nothing, unless it was out of connections (1040).
            Err(failure) if failure.number != 0 && failure.number != 1040 => return Err(failure),
            Err(failure) if attempt == CONNECT_ATTEMPTS => return Err(failure),
            Err(_) => reactor::sleep(Duration::from_millis(50) * attempt).await,
        }
        attempt += 1;
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
async fn live<U: User>(shared: Rc<Shared>, place: Place, mut user: U) {
    shared.drive(place, &mut user).await;
    user.disconnect().await;
    shared.running.set(shared.running.get() - 1);
}

impl Shared {
    /// Hands over every interval that is over, until no user is left or the drain has lasted too long.
    async fn keep_time(&self) {
        loop {
            let now = reactor::now();
            self.close_intervals(now);
            if self.running.get() == 0 {
                break;
            }
            let timeline = &self.task.timeline;
            if timeline
                .stop_at()
                .is_some_and(|stop| now >= stop + DRAIN_AT_MOST)
            {
                break;
            }
            let next = timeline.interval_end(self.from.get());
            reactor::sleep_until(next.min(now + LOOK_EVERY)).await;
        }
        let now = reactor::now();
        if now > self.from.get() {
            self.hand_over(now);
        }
        self.task.send(Message::Finished {
            event_loop: self.task.event_loop,
            failures: self.recorder.borrow_mut().take_failures(),
            last_end: self.last_end.get(),
            unfinished: self.running.get(),
        });
    }

    /// Closes every interval that ended by `now`.
    fn close_intervals(&self, now: Instant) {
        loop {
            let end = self.task.timeline.interval_end(self.from.get());
            if now < end {
                return;
            }
            self.hand_over(end);
        }
    }

    fn hand_over(&self, to: Instant) {
        let fresh = match self.task.used_cells.try_recv() {
            Ok(cells) => cells,
            Err(_) => self.task.cells.clone(),
        };
        let cells = self.recorder.borrow_mut().take(fresh);
        self.task.send(Message::Interval {
            event_loop: self.task.event_loop,
            from: self.from.replace(to),
            to,
            cells,
        });
    }

    /// The closed loop of one user: the next operation starts when the one before is done.
    async fn drive<U: User>(&self, place: Place, user: &mut U) {
        loop {
            let now = reactor::now();
            if self.task.timeline.is_over(now) {
                return;
            }
            match user.next() {
                Next::Operation(index) => {
                    if !self.perform(place, index, user).await {
                        return;
                    }
                }
                Next::Pause(pause) => self.pause(now + pause).await,
                Next::End => return,
            }
        }
    }

    /// Sleeps until `end` or until the load is over.
    async fn pause(&self, end: Instant) {
        loop {
            let now = reactor::now();
            if now >= end || self.task.timeline.is_over(now) {
                return;
            }
            reactor::sleep_until(end.min(now + LOOK_EVERY)).await;
        }
    }

    /// Runs one operation, with its retries; false when the user must end.
    async fn perform<U: User>(&self, place: Place, index: usize, user: &mut U) -> bool {
        let operation = place.first_operation + index;
        let start = reactor::now();
        let mut retries = Vec::new();
        let mut begin = start;
        let failure = loop {
            let mut watch = StatementWatch {
                shared: self,
                first_statement: place.first_statement,
                since: begin,
            };
            match user.execute(&mut watch).await {
                Ok(()) => {
                    let end = reactor::now();
                    self.close_intervals(end);
                    let mut recorder = self.recorder.borrow_mut();
                    recorder.succeed(operation, (end - start).as_nanos() as u64);
                    for failure in &retries {
                        recorder.count_failure(operation, failure, true);
                    }
                    self.last_end.set(end);
                    return true;
                }
                Err(failure) => match self.task.on_error {
                    OnError::Retry { at_most }
                        if failure.retryable && retries.len() < at_most as usize =>
                    {
                        retries.push(failure);
                        begin = reactor::now();
                    }
                    _ => break failure,
                },
            }
        };
        let end = reactor::now();
        self.close_intervals(end);
        self.last_end.set(end);
        {
            let mut recorder = self.recorder.borrow_mut();
            for attempt in retries.iter().chain([&failure]) {
                recorder.count_failure(operation, attempt, false);
            }
            recorder.fail(operation);
        }
        self.go_on_after(failure, index, user).await
    }

    /// Decides whether a user goes on after a failure; halts the load where the policy asks for it.
    async fn go_on_after<U: User>(&self, failure: Failure, index: usize, user: &mut U) -> bool {
        if self.task.timeline.is_over(reactor::now()) {
            return false;
        }
        if failure.lost {
            return match self.task.on_error {
                OnError::Stop => self.halt(Ended::ServerLost(failure)),
                OnError::Count | OnError::Retry { .. } => match self.reconnect(user).await {
                    Ok(()) => true,
                    Err(failure) => self.halt(Ended::ServerLost(failure)),
                },
            };
        }
        match self.task.on_error {
            OnError::Stop => self.halt(Ended::Failed {
                operation: user.operations()[index].clone(),
                failure,
            }),
            OnError::Count | OnError::Retry { .. } => true,
        }
    }

    fn halt(&self, ended: Ended) -> bool {
        self.task.timeline.stop_by(reactor::now());
        self.task.send(Message::Halt(ended));
        false
    }

    async fn reconnect<U: User>(&self, user: &mut U) -> Result<(), Failure> {
        let give_up_at = reactor::now() + RECONNECT_FOR;
        let mut pause = Duration::from_millis(10);
        loop {
            match user.connect().await {
                Ok(()) => return Ok(()),
                Err(failure)
                    if reactor::now() >= give_up_at
                        || self.task.timeline.is_over(reactor::now()) =>
                {
                    return Err(failure);
                }
                Err(_) => reactor::sleep(pause).await,
            }
            pause = (pause * 2).min(Duration::from_millis(500));
        }
    }
}

/// Records the statements of one attempt at an operation.
struct StatementWatch<'a> {
    shared: &'a Shared,
    first_statement: usize,
    /// Begin of the attempt, or end of the statement before.
    since: Instant,
}

impl Watch for StatementWatch<'_> {
    fn statement(&mut self, statement: usize, class: Class) {
        let end = reactor::now();
        self.shared.close_intervals(end);
        let time_ns = (end - self.since).as_nanos() as u64;
        self.shared.recorder.borrow_mut().statement(
            self.first_statement + statement,
            class,
            time_ns,
        );
        self.since = end;
    }
}

#[cfg(test)]
mod tests;
