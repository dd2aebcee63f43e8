//! The door of an event thread: the connections that are handed to it.

use std::sync::{
    Mutex, MutexGuard, PoisonError,
    atomic::{AtomicUsize, Ordering::Relaxed},
};
use std::task::Waker;

use reactor::Accepted;

/// Connections handed to one event thread.
#[derive(Default)]
pub(crate) struct AcceptQueue {
    waiting: Mutex<Vec<(usize, Accepted)>>,
    waker: Mutex<Option<Waker>>,
    /// Sessions of the thread, with those that wait.
    sessions: AtomicUsize,
}

impl AcceptQueue {
    pub(crate) fn hand_over(&self, service: usize, connection: Accepted) {
        self.sessions.fetch_add(1, Relaxed);
        locked(&self.waiting).push((service, connection));
        if let Some(waker) = &*locked(&self.waker) {
            waker.wake_by_ref();
        }
    }

    /// The connections that wait; `waker` is woken when there are more.
    pub(crate) fn take(&self, waker: &Waker) -> Vec<(usize, Accepted)> {
        *locked(&self.waker) = Some(waker.clone());
        std::mem::take(&mut *locked(&self.waiting))
    }

    /// A session has ended.
    pub(crate) fn left(&self) {
        self.sessions.fetch_sub(1, Relaxed);
    }

    pub(crate) fn sessions(&self) -> usize {
        self.sessions.load(Relaxed)
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
