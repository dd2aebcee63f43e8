//! The event loop: it polls ready tasks, waits for sockets and timers, and advances the clock.

use std::{
    cell::{Cell, RefCell},
    future::{Future, poll_fn},
    io,
    os::fd::{AsRawFd, OwnedFd},
    pin::pin,
    rc::Rc,
    sync::Arc,
    task::{Context, Poll, Waker},
    time::Duration,
};

use mio::{Events, Interest, Registry, Token, unix::SourceFd};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};
use slab::Slab;

use crate::{
    clock::{Clock, Instant, Source},
    lead::WakeupLatency,
    source::Readiness,
    task::{Inbox, Task, TaskWake},
    timer::Timers,
};

/// Largest number of events taken from the poller at once.
const EVENTS: usize = 1024;
const INBOX: Token = Token(usize::MAX);
const TIMER: Token = Token(usize::MAX - 1);
/// Index of the future passed to `run`.
const MAIN: usize = usize::MAX;

thread_local! {
    static CURRENT: RefCell<Option<Rc<Inner>>> = const { RefCell::new(None) };
    static BLOCKING: RefCell<Option<Rc<Reactor>>> = const { RefCell::new(None) };
}

/// Time before a timer is due at which a spinning loop stops sleeping: longer than the system needs to wake a thread.
const SPIN_AHEAD: Duration = Duration::from_millis(1);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// The clock: the system's, or a driven one for tests.
    pub clock: Clock,
    /// Does not sleep in the last millisecond before a timer: the timer is then late by less than a microsecond, and
    /// the loop occupies a CPU. Otherwise the loop is woken ahead of the timer by the usual delay of wake-ups, tens of
    /// microseconds, so that half of the timers are on time. No effect on a driven clock.
    pub spin: bool,
}

/// A single-threaded event loop with its tasks, timers and clock.
pub struct Reactor {
    inner: Rc<Inner>,
}

pub(crate) struct Inner {
    clock: Source,
    spin: bool,
    /// Time that the loop stays awake before it sleeps.
    pub(crate) awake: Cell<Duration>,
    poll: RefCell<mio::Poll>,
    events: RefCell<Events>,
    pub(crate) registry: Registry,
    pub(crate) sources: RefCell<Slab<Rc<Readiness>>>,
    pub(crate) timers: RefCell<Timers>,
    timer_fd: OwnedFd,
    /// Time at which the timer descriptor fires.
    armed: Cell<Option<Instant>>,
    /// Lead of that time before the next timer.
    lead: WakeupLatency,
    /// Time at which the thread last went to sleep with the descriptor armed.
    slept_from: Cell<Instant>,
    /// The descriptor has fired, but the timer that it was set for is not due yet.
    woken_ahead: Cell<bool>,
    /// The entry of a task is empty while the task is polled.
    tasks: RefCell<Slab<Option<Task>>>,
    /// Tasks to poll in the next turn.
    ready: RefCell<Vec<usize>>,
    inbox: Arc<Inbox>,
    running: Cell<bool>,
}

impl Reactor {
    /// An event loop for this thread.
    pub fn new(clock: Clock) -> io::Result<Self> {
        Self::with_options(Options { clock, spin: false })
    }

    pub fn with_options(options: Options) -> io::Result<Self> {
        let poll = mio::Poll::new()?;
        let registry = poll.registry().try_clone()?;
        let inbox = Inbox::new(mio::Waker::new(&registry, INBOX)?);
        let timer_fd = timerfd_create(
            TimerfdClockId::Monotonic,
            TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC,
        )?;
        registry.register(
            &mut SourceFd(&timer_fd.as_raw_fd()),
            TIMER,
            Interest::READABLE,
        )?;
        Ok(Self {
            inner: Rc::new(Inner {
                clock: Source::new(options.clock),
                spin: options.spin,
                awake: Cell::default(),
                poll: RefCell::new(poll),
                events: RefCell::new(Events::with_capacity(EVENTS)),
                registry,
                sources: RefCell::default(),
                timers: RefCell::default(),
                timer_fd,
                armed: Cell::new(None),
                lead: WakeupLatency::default(),
                slept_from: Cell::new(Instant::from_ns(0)),
                woken_ahead: Cell::new(false),
                tasks: RefCell::default(),
                ready: RefCell::default(),
                inbox,
                running: Cell::new(false),
            }),
        })
    }

    /// Runs `future` and every spawned task until `future` is finished; then drops the remaining tasks.
    ///
    /// # Panics
    /// If the reactor is already running, or the poller fails (out of kernel memory).
    pub fn run<F: Future>(&self, future: F) -> F::Output {
        let _running = Running::enter(&self.inner);
        let inner = &*self.inner;
        let mut future = pin!(future);
        let wake = TaskWake::new(MAIN, &inner.inbox);
        let waker = Waker::from(Arc::clone(&wake));
        waker.wake_by_ref();
        let mut turn = Vec::new();
        loop {
            // Only the tasks that are ready now: a task that is always ready must not starve the sockets.
            let mut ready = inner.ready.borrow_mut();
            std::mem::swap(&mut turn, &mut *ready);
            // Both queues grow together; otherwise the other one would allocate in a later turn, long after the
            // warm-up.
            ready.reserve(turn.capacity());
            drop(ready);
            for index in turn.drain(..) {
                if index != MAIN {
                    inner.poll_task(index);
                    continue;
                }
                wake.taken();
                if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker))
                {
                    return output;
                }
            }
            inner.wait();
        }
    }
}

/// Makes a reactor the current one of its thread while this value lives.
struct Running<'a> {
    inner: &'a Rc<Inner>,
    outer: Option<Rc<Inner>>,
}

impl<'a> Running<'a> {
    fn enter(inner: &'a Rc<Inner>) -> Self {
        assert!(
            !inner.running.replace(true),
            "the reactor is running already"
        );
        let outer = CURRENT.replace(Some(Rc::clone(inner)));
        Self { inner, outer }
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        // Dropping a task may spawn or wake another one.
        loop {
            let tasks = std::mem::take(&mut *self.inner.tasks.borrow_mut());
            if tasks.is_empty() {
                break;
            }
        }
        self.inner.ready.borrow_mut().clear();
        self.inner.running.set(false);
        CURRENT.set(self.outer.take());
    }
}

impl Inner {
    /// Whether this reactor is the one running on this thread.
    pub(crate) fn is_current(self: &Rc<Self>) -> bool {
        CURRENT.with_borrow(|current| {
            current
                .as_ref()
                .is_some_and(|current| Rc::ptr_eq(current, self))
        })
    }

    /// The reactor that is running on this thread.
    pub(crate) fn current() -> Rc<Self> {
        CURRENT.with_borrow(|current| {
            current
                .clone()
                .expect("called from a future that a reactor runs")
        })
    }

    pub(crate) fn now(&self) -> Instant {
        self.clock.now()
    }

    fn poll_task(&self, index: usize) {
        // Empty if the wake-up was for a task that no longer exists.
        let Some(mut task) = self
            .tasks
            .borrow_mut()
            .get_mut(index)
            .and_then(Option::take)
        else {
            return;
        };
        task.wake.taken();
        let poll = task
            .future
            .as_mut()
            .poll(&mut Context::from_waker(&task.waker));
        let mut tasks = self.tasks.borrow_mut();
        match poll {
            Poll::Pending => tasks[index] = Some(task),
            Poll::Ready(()) => {
                tasks.remove(index);
                drop(tasks);
                // The destructor may spawn tasks.
                drop(task);
            }
        }
    }

    /// Waits for the next event or timer, unless tasks are ready, and queues the tasks that it wakes.
    fn wait(&self) {
        let busy = !self.ready.borrow().is_empty();
        let next = self.timers.borrow_mut().next();
        let events = match &self.clock {
            _ if busy => self.poll(Some(Duration::ZERO)),
            Source::System => match (self.poll_awake(next), next) {
                (0, None) => self.poll(None),
                (0, Some(at)) => self.poll_until(at),
                (events, _) => events,
            },
            Source::Driven(now) => {
                let events = self.poll(next.map(|_| Duration::ZERO));
                if let (0, Some(at)) = (events, next) {
                    now.set(at);
                }
                events
            }
        };
        // A driven clock does not advance while sockets are ready.
        if events == 0 || matches!(self.clock, Source::System) {
            self.fire_timers();
        }
    }

    /// Looks for events while the loop is to stay awake and no timer is due; returns their number.
    fn poll_awake(&self, next: Option<Instant>) -> usize {
        let awake = self.awake.get();
        if awake.is_zero() {
            return 0;
        }
        let end = self.now() + awake;
        let end = next.map_or(end, |at| at.min(end));
        loop {
            let events = self.poll(Some(Duration::ZERO));
            if events > 0 || self.now() >= end {
                return events;
            }
        }
    }

    /// Waits for events, until about the time `at` at which a timer is due; returns the number of events.
    fn poll_until(&self, at: Instant) -> usize {
        let now = self.now();
        let Some(end) = self.sleep_end(now, at) else {
            return self.poll(Some(Duration::ZERO));
        };
        self.arm(end);
        self.slept_from.set(now);
        self.poll(None)
    }

    /// The time until which the thread may sleep if a timer is due at `at`; `None` if it must not sleep.
    ///
    /// The system wakes a thread late, so the wake-up is requested ahead of time, and the loop stays awake for the
    /// rest. It stays awake only after a wake-up that was requested ahead. Otherwise it would never sleep between
    /// timers that follow each other closely.
    fn sleep_end(&self, now: Instant, at: Instant) -> Option<Instant> {
        if self.spin {
            return Some(at - SPIN_AHEAD).filter(|end| *end > now);
        }
        let ahead = at - self.lead.get();
        if ahead > now {
            return Some(ahead);
        }
        Some(at).filter(|at| *at > now && !self.woken_ahead.get())
    }

    /// Returns the number of events.
    fn poll(&self, timeout: Option<Duration>) -> usize {
        let mut events = self.events.borrow_mut();
        match self.poll.borrow_mut().poll(&mut events, timeout) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return 0,
            Err(error) => panic!("the poller failed: {error}"),
        }
        let mut count = 0;
        for event in events.iter() {
            count += 1;
            match event.token() {
                INBOX => self
                    .inbox
                    .drain(|index| self.ready.borrow_mut().push(index)),
                TIMER => self.went_off(),
                Token(token) => {
                    let readiness = self.sources.borrow().get(token).cloned();
                    if let Some(readiness) = readiness {
                        readiness.update(event);
                    }
                }
            }
        }
        count
    }

    /// Sets the timer descriptor, unless it fires early enough anyway.
    fn arm(&self, at: Instant) {
        if self.armed.get().is_some_and(|armed| armed <= at) {
            return;
        }
        let time = Itimerspec {
            it_interval: Timespec {
                tv_sec: 0,
                tv_nsec: 0,
            },
            it_value: at.as_timespec(),
        };
        timerfd_settime(&self.timer_fd, TimerfdTimerFlags::ABSTIME, &time)
            .expect("the descriptor is a timer and the time is a valid one");
        self.armed.set(Some(at));
    }

    fn went_off(&self) {
        // A driven clock never arms it.
        let Some(armed) = self.armed.take() else {
            return;
        };
        // Otherwise the thread was busy, and the wake-up was not late.
        if armed > self.slept_from.get() {
            self.lead.woken(self.now() - armed);
        }
        self.woken_ahead.set(true);
    }

    fn fire_timers(&self) {
        if self.timers.borrow_mut().next().is_none() {
            return;
        }
        let now = self.now();
        loop {
            let due = self.timers.borrow_mut().pop_due(now);
            match due {
                Some(waker) => {
                    self.woken_ahead.set(false);
                    waker.wake();
                }
                None => return,
            }
        }
    }
}

/// Queues a task if its reactor is the one running on this thread.
pub(crate) fn push_ready(wake: &TaskWake) -> bool {
    // `try_with`: a waker may be used while the thread ends.
    CURRENT
        .try_with(|current| match &*current.borrow() {
            Some(inner) if wake.belongs_to(&inner.inbox) => {
                if wake.enter_queue() {
                    inner.ready.borrow_mut().push(wake.index());
                }
                true
            }
            _ => false,
        })
        .unwrap_or(false)
}

/// Time on the clock of the running reactor.
///
/// # Panics
/// Outside of a reactor; so do `spawn` and the sleeps.
pub fn now() -> Instant {
    CURRENT.with_borrow(|current| {
        current
            .as_ref()
            .expect("called from a future that a reactor runs")
            .now()
    })
}

/// Starts a task on the running reactor; it is first polled when the caller waits.
pub fn spawn(future: impl Future<Output = ()> + 'static) {
    let inner = Inner::current();
    let mut tasks = inner.tasks.borrow_mut();
    let entry = tasks.vacant_entry();
    let task = Task::new(entry.key(), &inner.inbox, Box::pin(future));
    let waker = task.waker.clone();
    entry.insert(Some(task));
    // Every task may be ready at the same time, and so may the future passed to `run`.
    let (tasks, mut ready) = (tasks.len(), inner.ready.borrow_mut());
    let missing = (tasks + 1).saturating_sub(ready.len());
    ready.reserve(missing);
    drop(ready);
    waker.wake();
}

/// Lets every other ready task run first, and the sockets be polled.
pub async fn yield_now() {
    let mut yielded = false;
    poll_fn(|context| {
        if std::mem::replace(&mut yielded, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Runs one future to completion on the system's clock; for control connections.
///
/// All calls on one thread share a reactor, so a stream opened in one call works in the next.
///
/// # Panics
/// When called from inside another `block_on`.
pub fn block_on<F: Future>(future: F) -> io::Result<F::Output> {
    let reactor = BLOCKING.with_borrow_mut(|blocking| match blocking {
        Some(reactor) => Ok(Rc::clone(reactor)),
        None => Reactor::new(Clock::System).map(|new| Rc::clone(blocking.insert(Rc::new(new)))),
    })?;
    Ok(reactor.run(future))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On a busy machine all tasks may become ready in one turn long after the warm-up, in either queue.
    #[test]
    fn both_queues_have_room_for_every_task() {
        for turns in 2..6 {
            let reactor = Reactor::new(Clock::Driven).unwrap();
            reactor.run(async {
                for _ in 0..20 {
                    spawn(std::future::pending());
                }
                for _ in 0..turns {
                    yield_now().await;
                }
            });
            let room = reactor.inner.ready.borrow().capacity();
            assert!(room >= 21, "{room} after {turns} turns");
        }
    }
}
