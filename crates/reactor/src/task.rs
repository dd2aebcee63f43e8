//! A task and its waker.

use std::{
    future::Future,
    pin::Pin,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    task::{Wake, Waker},
};

use crate::executor;

/// A spawned future.
pub(crate) struct Task {
    pub(crate) future: Pin<Box<dyn Future<Output = ()>>>,
    pub(crate) wake: Arc<TaskWake>,
    /// Created once, so that a poll does not allocate.
    pub(crate) waker: Waker,
}

impl Task {
    pub(crate) fn new(
        index: usize,
        inbox: &Arc<Inbox>,
        future: Pin<Box<dyn Future<Output = ()>>>,
    ) -> Self {
        let wake = TaskWake::new(index, inbox);
        Self {
            future,
            waker: Waker::from(Arc::clone(&wake)),
            wake,
        }
    }
}

/// The shared state of one task's wakers.
pub(crate) struct TaskWake {
    /// Index of the task; if it was reused by another task, that task is polled once without need.
    index: usize,
    /// Already in the loop's own queue. Only the loop's thread reads and writes it, so it needs no memory ordering.
    queued: AtomicBool,
    inbox: Arc<Inbox>,
}

impl TaskWake {
    pub(crate) fn new(index: usize, inbox: &Arc<Inbox>) -> Arc<Self> {
        Arc::new(Self {
            index,
            queued: AtomicBool::new(false),
            inbox: Arc::clone(inbox),
        })
    }

    pub(crate) fn index(&self) -> usize {
        self.index
    }

    pub(crate) fn belongs_to(&self, inbox: &Arc<Inbox>) -> bool {
        Arc::ptr_eq(&self.inbox, inbox)
    }

    /// Marks the task as queued in its loop; false if it already was. For that loop's thread only.
    pub(crate) fn enter_queue(&self) -> bool {
        let queued = self.queued.load(Ordering::Relaxed);
        self.queued.store(true, Ordering::Relaxed);
        !queued
    }

    /// Call before polling, so that a wake-up during the poll queues the task again.
    pub(crate) fn taken(&self) {
        self.queued.store(false, Ordering::Relaxed);
    }
}

impl Wake for TaskWake {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !executor::push_ready(self) {
            self.inbox.post(self.index);
        }
    }
}

/// Wake-ups from outside the running reactor.
pub(crate) struct Inbox {
    indexes: Mutex<Vec<usize>>,
    poller: mio::Waker,
}

impl Inbox {
    pub(crate) fn new(poller: mio::Waker) -> Arc<Self> {
        Arc::new(Self {
            indexes: Mutex::new(Vec::new()),
            poller,
        })
    }

    fn post(&self, index: usize) {
        self.indexes
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(index);
        // Fails only if the event counter is full, and then the poller is awake anyway.
        let _ = self.poller.wake();
    }

    pub(crate) fn drain(&self, mut take: impl FnMut(usize)) {
        let mut indexes = self.indexes.lock().unwrap_or_else(PoisonError::into_inner);
        indexes.drain(..).for_each(&mut take);
    }
}
