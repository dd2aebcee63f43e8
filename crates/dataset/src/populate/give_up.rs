//! The early end of all streams: by an interruption, or by another stream's failure.

use std::{
    future::Future,
    pin::pin,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use load::Interrupt;

/// Interval at which a long statement is checked.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Signals all streams to give up.
#[derive(Debug)]
pub(super) struct GiveUp<'i> {
    interrupt: &'i Interrupt,
    failed: AtomicBool,
}

impl<'i> GiveUp<'i> {
    pub(super) fn new(interrupt: &'i Interrupt) -> Self {
        Self {
            interrupt,
            failed: AtomicBool::new(false),
        }
    }

    /// Records that a stream failed.
    pub(super) fn fail(&self) {
        self.failed.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_due(&self) -> bool {
        self.failed.load(Ordering::Relaxed) || self.interrupt.is_raised()
    }

    /// The result of `future`; `None` when the streams give up first, which drops the future.
    pub(super) async fn or<F: Future>(&self, future: F) -> Option<F::Output> {
        let mut future = pin!(future);
        while !self.is_due() {
            if let Ok(output) = reactor::timeout(LOOK_EVERY, future.as_mut()).await {
                return Some(output);
            }
        }
        None
    }
}
