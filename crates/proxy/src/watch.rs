//! Time limits of waiting, without a timer for each wait.

use std::{
    cell::{Cell, RefCell},
    future::{Future, poll_fn},
    pin::pin,
    rc::{Rc, Weak},
    sync::Arc,
    task::{Poll, Waker},
    time::Duration,
};

use crate::faults::FaultInjector;

/// Parts of the shorter limit after which the waits are checked: a wait ends late by at most this part.
const PARTS: u32 = 8;
/// Longest time between two looks.
const LOOK_AT_MOST: Duration = Duration::from_secs(10);
/// Shortest time between two looks.
const LOOK_AT_LEAST: Duration = Duration::from_millis(10);

/// What a session waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wait {
    Read,
    Write,
}

/// A wait took longer than its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooLong;

/// The waits of one event thread.
#[derive(Debug)]
pub(crate) struct Waits {
    look: Duration,
    read: u64,
    write: u64,
    looks: Cell<u64>,
    all: RefCell<Vec<Weak<SessionDeadline>>>,
}

/// The wait of one session.
#[derive(Debug)]
pub(crate) struct SessionDeadline {
    waits: Rc<Waits>,
    now: Cell<Option<Wait>>,
    since: Cell<u64>,
    is_over: Cell<bool>,
    waker: RefCell<Option<Waker>>,
    /// A limit of bytes per second.
    trouble: Option<Arc<FaultInjector>>,
}

impl Waits {
    pub(crate) fn new(read: Duration, write: Duration) -> Rc<Self> {
        let look = (read.min(write) / PARTS).clamp(LOOK_AT_LEAST, LOOK_AT_MOST);
        // A wait begins anywhere between two looks, so one more than the limit has is needed.
        let looks = |limit: Duration| {
            let looks = limit.as_nanos().div_ceil(look.as_nanos()) + 1;
            u64::try_from(looks).unwrap_or(u64::MAX)
        };
        Rc::new(Self {
            look,
            read: looks(read),
            write: looks(write),
            looks: Cell::new(0),
            all: RefCell::default(),
        })
    }

    /// Ends waits that take too long, for ever.
    pub(crate) async fn run(self: Rc<Self>) {
        loop {
            reactor::sleep(self.look).await;
            let looks = self.looks.get() + 1;
            self.looks.set(looks);
            self.all.borrow_mut().retain(|watch| match watch.upgrade() {
                Some(watch) => {
                    watch.look(looks);
                    true
                }
                None => false,
            });
        }
    }

    /// The watch of a new session.
    pub(crate) fn watch(
        self: &Rc<Self>,
        trouble: Option<&Arc<FaultInjector>>,
    ) -> Rc<SessionDeadline> {
        let watch = Rc::new(SessionDeadline {
            waits: Rc::clone(self),
            now: Cell::new(None),
            since: Cell::new(0),
            is_over: Cell::new(false),
            waker: RefCell::default(),
            trouble: trouble.cloned(),
        });
        self.all.borrow_mut().push(Rc::downgrade(&watch));
        watch
    }
}

impl SessionDeadline {
    /// A limit of bytes per second.
    pub(crate) fn trouble(&self) -> Option<&FaultInjector> {
        self.trouble.as_deref()
    }

    fn look(&self, looks: u64) {
        let limit = match self.now.get() {
            None => return,
            Some(Wait::Read) => self.waits.read,
            Some(Wait::Write) => self.waits.write,
        };
        if looks - self.since.get() >= limit {
            self.is_over.set(true);
            if let Some(waker) = &*self.waker.borrow() {
                waker.wake_by_ref();
            }
        }
    }

    /// Runs a wait within its limit.
    pub(crate) async fn within<F: Future>(
        &self,
        wait: Wait,
        future: F,
    ) -> Result<F::Output, TooLong> {
        let mut future = pin!(future);
        let mut is_first = true;
        poll_fn(|context| {
            if let Poll::Ready(output) = future.as_mut().poll(context) {
                self.now.set(None);
                return Poll::Ready(Ok(output));
            }
            if is_first {
                is_first = false;
                self.now.set(Some(wait));
                self.since.set(self.waits.looks.get());
                self.is_over.set(false);
                match &mut *self.waker.borrow_mut() {
                    Some(waker) => waker.clone_from(context.waker()),
                    none => *none = Some(context.waker().clone()),
                }
            } else if self.is_over.get() {
                self.now.set(None);
                return Poll::Ready(Err(TooLong));
            }
            Poll::Pending
        })
        .await
    }
}

/// The first of two futures that is ready; the first if both are.
pub(crate) async fn first_of<A: Future, B: Future>(a: A, b: B) -> Either<A::Output, B::Output> {
    let (mut a, mut b) = (pin!(a), pin!(b));
    poll_fn(|context| {
        if let Poll::Ready(output) = a.as_mut().poll(context) {
            return Poll::Ready(Either::A(output));
        }
        b.as_mut().poll(context).map(Either::B)
    })
    .await
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Either<A, B> {
    A(A),
    B(B),
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use reactor::{Clock, Reactor};

    use super::*;

    #[test]
    fn a_wait_ends_after_its_limit_and_not_before() {
        Reactor::new(Clock::Driven).unwrap().run(async {
            let hour = Duration::from_secs(3600);
            let waits = Waits::new(Duration::from_secs(2), hour);
            reactor::spawn(Rc::clone(&waits).run());
            let watch = waits.watch(None);
            for _ in 0..3 {
                let start = reactor::now();
                assert_eq!(
                    watch.within(Wait::Read, pending::<()>()).await,
                    Err(TooLong)
                );
                let took = reactor::now() - start;
                assert!(took >= Duration::from_secs(2), "{took:?}");
                assert!(took <= Duration::from_secs(3), "{took:?}");
                reactor::sleep(Duration::from_millis(77)).await;
            }
            let short = reactor::sleep(Duration::from_secs(1));
            assert_eq!(watch.within(Wait::Read, short).await, Ok(()));
            let long = reactor::sleep(Duration::from_secs(100));
            assert_eq!(watch.within(Wait::Write, long).await, Ok(()));
            drop(watch);
            reactor::sleep(hour).await;
            assert!(waits.all.borrow().is_empty());
        });
    }
}
