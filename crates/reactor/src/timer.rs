//! Timers and the futures that wait for them.

use std::{
    cmp::Reverse,
    collections::BinaryHeap,
    future::{Future, poll_fn},
    pin::{Pin, pin},
    rc::Rc,
    task::{Context, Poll, Waker},
    time::Duration,
};

use slab::Slab;

use crate::{clock::Instant, executor::Inner};

/// Pending timers, earliest first.
#[derive(Default)]
pub(crate) struct Timers {
    heap: BinaryHeap<Reverse<Entry>>,
    waiting: Slab<Waiting>,
    /// Number of timers ever set; orders timers of the same instant by their creation.
    count: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    at: Instant,
    number: u64,
    slot: usize,
}

struct Waiting {
    number: u64,
    waker: Waker,
}

pub(crate) struct TimerKey {
    number: u64,
    slot: usize,
}

impl Timers {
    pub(crate) fn set(&mut self, at: Instant, waker: Waker) -> TimerKey {
        self.count += 1;
        let number = self.count;
        let slot = self.waiting.insert(Waiting { number, waker });
        self.heap.push(Reverse(Entry { at, number, slot }));
        TimerKey { number, slot }
    }

    /// Replaces the waker of a timer; false if the timer has fired.
    pub(crate) fn rewake(&mut self, key: &TimerKey, waker: &Waker) -> bool {
        match self.waiting.get_mut(key.slot) {
            Some(waiting) if waiting.number == key.number => {
                waiting.waker.clone_from(waker);
                true
            }
            _ => false,
        }
    }

    pub(crate) fn cancel(&mut self, key: &TimerKey) {
        if self.is_pending(key.slot, key.number) {
            self.waiting.remove(key.slot);
        }
        // Cancelled timers stay in the heap until they are due; this limits their number.
        if self.heap.len() > 2 * self.waiting.len() + 64 {
            let waiting = &self.waiting;
            self.heap.retain(|Reverse(entry)| {
                waiting
                    .get(entry.slot)
                    .is_some_and(|waiting| waiting.number == entry.number)
            });
        }
    }

    /// Due time of the next timer.
    pub(crate) fn next(&mut self) -> Option<Instant> {
        while let Some(Reverse(entry)) = self.heap.peek() {
            if self.is_pending(entry.slot, entry.number) {
                return Some(entry.at);
            }
            self.heap.pop();
        }
        None
    }

    /// Removes the next timer that is due by `now`.
    pub(crate) fn pop_due(&mut self, now: Instant) -> Option<Waker> {
        if self.next()? > now {
            return None;
        }
        let Reverse(entry) = self.heap.pop()?;
        Some(self.waiting.remove(entry.slot).waker)
    }

    fn is_pending(&self, slot: usize, number: u64) -> bool {
        self.waiting
            .get(slot)
            .is_some_and(|waiting| waiting.number == number)
    }
}

/// Waits until the reactor's clock reaches `at`; returns at once if it already has.
pub async fn sleep_until(at: Instant) {
    Sleep {
        at,
        reactor: Inner::current(),
        key: None,
    }
    .await;
}

/// Waits for `duration` on the reactor's clock.
pub async fn sleep(duration: Duration) {
    sleep_until(crate::now() + duration).await;
}

/// The time limit was reached before the future was finished.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Elapsed;

/// Runs `future` for at most `duration`; then it is dropped.
pub async fn timeout<F: Future>(duration: Duration, future: F) -> Result<F::Output, Elapsed> {
    let mut future = pin!(future);
    let mut end = pin!(sleep(duration));
    poll_fn(|context| match future.as_mut().poll(context) {
        Poll::Ready(output) => Poll::Ready(Ok(output)),
        Poll::Pending => end.as_mut().poll(context).map(|()| Err(Elapsed)),
    })
    .await
}

struct Sleep {
    at: Instant,
    reactor: Rc<Inner>,
    key: Option<TimerKey>,
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.reactor.now() >= self.at {
            return Poll::Ready(());
        }
        let reactor = Rc::clone(&self.reactor);
        let mut timers = reactor.timers.borrow_mut();
        let pending = self
            .key
            .as_ref()
            .is_some_and(|key| timers.rewake(key, context.waker()));
        if !pending {
            self.key = Some(timers.set(self.at, context.waker().clone()));
        }
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        if let Some(key) = &self.key {
            self.reactor.timers.borrow_mut().cancel(key);
        }
    }
}
