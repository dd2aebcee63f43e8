//! An interrupt: a request to end some work, which threads, tasks and waits for descriptors are woken by.

use std::{
    convert::Infallible,
    future::{Future, poll_fn},
    io, mem,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    pin::{Pin, pin},
    sync::{
        Arc, Condvar, LazyLock, Mutex, MutexGuard, OnceLock, PoisonError, Weak,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, Waker},
    time::Duration,
};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, TryRecvError, bounded, select};
use rustix::{
    event::{EventfdFlags, PollFd, PollFlags, eventfd, poll},
    io::Errno,
    time::Timespec,
};
use slab::Slab;

use crate::clock::system_now;

/// Interval at which a wait for a condition variable checks the interrupt: the standard library can wait for nothing else
/// together with it. All other waits are woken.
const CHECK_EVERY: Duration = Duration::from_millis(20);

/// Raised by the process's signals.
static OF_USER: LazyLock<Interrupt> = LazyLock::new(Interrupt::default);

/// A request to end some work, raised once and for all; clones are the same request.
#[derive(Debug, Clone, Default)]
pub struct Interrupt(Arc<Request>);

#[derive(Debug)]
struct Request {
    parent: Option<Interrupt>,
    /// Shared with signal handlers, which may only store a value.
    is_raised: Arc<AtomicBool>,
    waiting: Mutex<Waiting>,
    /// Disconnected from the moment of the request on.
    end: Receiver<Infallible>,
    /// An eventfd that is readable from the moment of the request on; made for the first wait that needs it.
    descriptor: OnceLock<OwnedFd>,
}

/// What is woken.
#[derive(Debug)]
struct Waiting {
    /// Dropped by the request.
    not_yet: Option<Sender<Infallible>>,
    tasks: Slab<Waker>,
    children: Vec<Weak<Request>>,
}

impl Default for Request {
    fn default() -> Self {
        let (not_yet, end) = bounded(0);
        Self {
            parent: None,
            is_raised: Arc::default(),
            waiting: Mutex::new(Waiting {
                not_yet: Some(not_yet),
                tasks: Slab::new(),
                children: Vec::new(),
            }),
            end,
            descriptor: OnceLock::new(),
        }
    }
}

impl Interrupt {
    /// The interrupt that a signal of the user raises, if handlers are installed.
    pub fn of_user() -> &'static Self {
        &OF_USER
    }

    /// An interrupt that is also raised with this one.
    pub fn child(&self) -> Self {
        let child = Self(Arc::new(Request {
            parent: Some(self.clone()),
            ..Request::default()
        }));
        let mut waiting = self.lock();
        if waiting.not_yet.is_none() {
            drop(waiting);
            child.raise();
        } else {
            waiting.children.retain(|it| it.strong_count() > 0);
            waiting.children.push(Arc::downgrade(&child.0));
        }
        child
    }

    /// Requests the end, and wakes all waits.
    pub fn raise(&self) {
        self.0.is_raised.store(true, Ordering::Relaxed);
        let (tasks, children) = {
            let mut waiting = self.lock();
            waiting.not_yet = None;
            if let Some(descriptor) = self.0.descriptor.get() {
                make_readable(descriptor);
            }
            // No task is added from here on: the value above is set.
            (
                mem::take(&mut waiting.tasks),
                mem::take(&mut waiting.children),
            )
        };
        for (_, waker) in tasks {
            waker.wake();
        }
        for child in children.iter().filter_map(Weak::upgrade) {
            Self(child).raise();
        }
    }

    /// The value that a signal handler may set. It wakes nothing: a thread has to call [`Interrupt::raise`] soon after.
    pub fn flag(&self) -> &Arc<AtomicBool> {
        &self.0.is_raised
    }

    /// True after a request.
    pub fn is_raised(&self) -> bool {
        self.0.is_raised.load(Ordering::Relaxed)
            || self.0.parent.as_ref().is_some_and(Self::is_raised)
    }

    /// Blocks the thread for this time, or until it is raised; returns whether it is.
    pub fn wait(&self, timeout: Duration) -> bool {
        if !self.is_raised() {
            // It never has a value.
            let _ = self.0.end.recv_timeout(timeout);
        }
        self.is_raised()
    }

    /// The result of `future`; `None` if it is raised first, which drops the future.
    pub async fn unless_raised<F: Future>(&self, future: F) -> Option<F::Output> {
        if self.is_raised() {
            return None;
        }
        let mut raised = pin!(InterruptWait {
            interrupt: self,
            task: None,
        });
        let mut future = pin!(future);
        // The future first: if it waits for the same interrupt, it knows more about what was interrupted.
        poll_fn(|context| match future.as_mut().poll(context) {
            Poll::Ready(output) => Poll::Ready(Some(output)),
            Poll::Pending => raised.as_mut().poll(context).map(|()| None),
        })
        .await
    }

    /// The next value of a channel. Once it is raised, [`RecvTimeoutError::Timeout`] if no value is there already.
    pub fn receive<T>(
        &self,
        channel: &Receiver<T>,
        timeout: Duration,
    ) -> Result<T, RecvTimeoutError> {
        match channel.try_recv() {
            Ok(value) => return Ok(value),
            Err(TryRecvError::Disconnected) => return Err(RecvTimeoutError::Disconnected),
            Err(TryRecvError::Empty) if self.is_raised() => return Err(RecvTimeoutError::Timeout),
            Err(TryRecvError::Empty) => {}
        }
        select! {
            recv(channel) -> value => value.map_err(RecvTimeoutError::from),
            recv(self.0.end) -> _ => Err(RecvTimeoutError::Timeout),
            default(timeout) => Err(RecvTimeoutError::Timeout),
        }
    }

    /// Waits for a notification, not long: the caller checks its condition and the interrupt again.
    pub fn wait_on<'g, T>(&self, changed: &Condvar, guard: MutexGuard<'g, T>) -> MutexGuard<'g, T> {
        if self.is_raised() {
            return guard;
        }
        let waited = changed.wait_timeout(guard, CHECK_EVERY);
        waited.unwrap_or_else(PoisonError::into_inner).0
    }

    fn descriptor(&self) -> io::Result<BorrowedFd<'_>> {
        if let Some(descriptor) = self.0.descriptor.get() {
            return Ok(descriptor.as_fd());
        }
        let new = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let descriptor = self.0.descriptor.get_or_init(|| new);
        if self.lock().not_yet.is_none() {
            make_readable(descriptor);
        }
        Ok(descriptor.as_fd())
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        // No code panics while it holds the lock.
        self.0
            .waiting
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// Waits until a descriptor is readable or at its end, such as the pidfd of a process that ends; false if the time is over
/// or the interrupt is raised first.
pub fn readable_within(
    descriptor: impl AsFd,
    interrupt: Option<&Interrupt>,
    timeout: Duration,
) -> io::Result<bool> {
    let raised = interrupt.map(Interrupt::descriptor).transpose()?;
    let end = system_now() + timeout;
    loop {
        // A time that is too long for the system is no limit.
        let left = Timespec::try_from(end - system_now()).ok();
        let mut polled = vec![PollFd::new(&descriptor, PollFlags::IN)];
        polled.extend(raised.iter().map(|it| PollFd::new(it, PollFlags::IN)));
        match poll(&mut polled, left.as_ref()) {
            Ok(_) => return Ok(!polled[0].revents().is_empty()),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

fn make_readable(descriptor: &OwnedFd) {
    // Fails only if the counter is full, and then it is readable anyway.
    let _ = rustix::io::write(descriptor, &1_u64.to_ne_bytes());
}

/// Waits for the request.
struct InterruptWait<'i> {
    interrupt: &'i Interrupt,
    /// Index of this task, and the waker that is registered.
    task: Option<(usize, Waker)>,
}

impl Future for InterruptWait<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let (interrupt, waker) = (self.interrupt, context.waker());
        if interrupt.is_raised() {
            return Poll::Ready(());
        }
        if self.task.as_ref().is_some_and(|it| it.1.will_wake(waker)) {
            return Poll::Pending;
        }
        let mut waiting = interrupt.lock();
        if waiting.not_yet.is_none() {
            return Poll::Ready(());
        }
        let index = match &self.task {
            Some((index, _)) => {
                waiting.tasks[*index].clone_from(waker);
                *index
            }
            None => waiting.tasks.insert(waker.clone()),
        };
        drop(waiting);
        self.task = Some((index, waker.clone()));
        Poll::Pending
    }
}

impl Drop for InterruptWait<'_> {
    fn drop(&mut self) {
        if let Some((index, _)) = self.task {
            // It is gone after a request.
            self.interrupt.lock().tasks.try_remove(index);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{io::Write, thread};

    use crossbeam_channel::unbounded;

    use super::*;
    use crate::{Clock, Reactor, now, sleep};

    /// A time limit that no test reaches.
    const LONG: Duration = Duration::from_secs(600);

    fn raised_by_another_thread<T>(interrupt: &Interrupt, wait: impl FnOnce() -> T) -> T {
        thread::scope(|scope| {
            scope.spawn(|| {
                thread::sleep(Duration::from_millis(5));
                interrupt.raise();
            });
            wait()
        })
    }

    #[test]
    fn a_thread_waits_until_it_is_raised_or_the_time_is_over() {
        let interrupt = Interrupt::default();
        assert!(!interrupt.wait(Duration::from_millis(1)));
        assert!(raised_by_another_thread(&interrupt, || interrupt.wait(LONG)));
        assert!(interrupt.wait(Duration::ZERO));
    }

    #[test]
    fn a_child_is_raised_with_its_parent_and_not_the_other_way() {
        let parent = Interrupt::default();
        let (one, other) = (parent.child(), parent.child());
        one.raise();
        assert!(one.is_raised() && !other.is_raised() && !parent.is_raised());
        let grandchild = other.child();
        assert!(raised_by_another_thread(&parent, || grandchild.wait(LONG)));
        assert!(other.wait(Duration::ZERO) && parent.child().wait(Duration::ZERO));
    }

    #[test]
    fn a_task_is_woken_in_the_middle_of_a_wait() {
        let interrupt = Interrupt::default();
        let reactor = Reactor::new(Clock::System).unwrap();
        let wait = || reactor.run(interrupt.unless_raised(sleep(LONG)));
        assert_eq!(raised_by_another_thread(&interrupt, wait), None);
        assert_eq!(reactor.run(interrupt.unless_raised(async {})), None);
    }

    #[test]
    fn a_driven_clock_advances_until_it_is_raised() {
        let interrupt = Interrupt::default();
        Reactor::new(Clock::Driven).unwrap().run(async {
            assert_eq!(interrupt.unless_raised(sleep(LONG)).await, Some(()));
            let raised = async {
                sleep(LONG).await;
                interrupt.raise();
                sleep(LONG).await;
            };
            assert_eq!(interrupt.unless_raised(raised).await, None);
            assert_eq!(now().as_ns(), 2 * LONG.as_nanos() as u64);
        });
        assert!(interrupt.lock().tasks.is_empty());
    }

    #[test]
    fn a_descriptor_is_waited_for_until_it_is_raised_or_the_time_is_over() {
        let interrupt = Interrupt::default();
        let (reader, mut writer) = io::pipe().unwrap();
        let within = |timeout| readable_within(&reader, Some(&interrupt), timeout).unwrap();
        assert!(!within(Duration::from_millis(1)));
        writer.write_all(b"x").unwrap();
        assert!(within(LONG));
        let (reader, _writer) = io::pipe().unwrap();
        let wait = || readable_within(&reader, Some(&interrupt), LONG).unwrap();
        assert!(!raised_by_another_thread(&interrupt, wait));
        // The descriptor of an interrupt that was raised before.
        let late = interrupt.child();
        assert!(!readable_within(&reader, Some(&late), LONG).unwrap());
        assert!(!readable_within(&reader, None, Duration::from_millis(1)).unwrap());
    }

    #[test]
    fn values_of_a_channel_come_before_the_interrupt() {
        let interrupt = Interrupt::default();
        let (sender, channel) = unbounded();
        let receive = |timeout| interrupt.receive(&channel, timeout);
        let timeout = Err(RecvTimeoutError::Timeout);
        assert_eq!(receive(Duration::from_millis(1)), timeout);
        assert_eq!(
            raised_by_another_thread(&interrupt, || receive(LONG)),
            timeout
        );
        sender.send(1).unwrap();
        assert_eq!(receive(LONG), Ok(1));
        drop(sender);
        assert_eq!(receive(LONG), Err(RecvTimeoutError::Disconnected));
    }
}
