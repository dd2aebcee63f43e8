//! The end of all streams before their time: an interruption, or another stream's failure.

use std::{
    future::Future,
    pin::pin,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use crate::rules::Interrupt;

/// How often a long statement looks.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Tells all streams when to give up.
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

    /// A stream failed.
    pub(super) fn fail(&self) {
        self.failed.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_due(&self) -> bool {
        self.failed.load(Ordering::Relaxed) || self.interrupt.is_raised()
    }

    /// The result of `future`; `None` when it is time to give up first, which drops it where it is.
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
