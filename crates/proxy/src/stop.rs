//! What all event threads of a proxy share: their end, the count of sessions, the connections handed to each.

use std::sync::{
    Mutex, MutexGuard, PoisonError,
    atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed},
};
use std::task::Waker;

use reactor::Accepted;

/// Ends all event threads of a proxy, and numbers its sessions.
#[derive(Debug, Default)]
pub(crate) struct Stop {
    is_over: AtomicBool,
    /// Sessions so far.
    sessions: AtomicU64,
    wakers: Mutex<Vec<Waker>>,
}

impl Stop {
    /// Asks all threads to end.
    pub(crate) fn stop(&self) {
        self.is_over.store(true, Relaxed);
        for waker in locked(&self.wakers).drain(..) {
            waker.wake();
        }
    }

    /// Whether the threads are to end; otherwise `waker` is woken then.
    pub(crate) fn poll(&self, waker: &Waker) -> bool {
        let mut wakers = locked(&self.wakers);
        if !wakers.iter().any(|known| known.will_wake(waker)) {
            wakers.push(waker.clone());
        }
        self.is_over()
    }

    /// The number of a new session, from 1.
    pub(crate) fn next_number(&self) -> u64 {
        self.sessions.fetch_add(1, Relaxed) + 1
    }

    /// Whether the threads are to end.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over.load(Relaxed)
    }
}

/// Connections handed to one event thread.
#[derive(Default)]
pub(crate) struct Door {
    waiting: Mutex<Vec<(usize, Accepted)>>,
    waker: Mutex<Option<Waker>>,
    /// Sessions of the thread, with those that wait.
    sessions: AtomicUsize,
}

impl Door {
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
