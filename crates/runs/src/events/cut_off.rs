//! When an event has to end although it is not done.

use std::{
    future::Future,
    pin::Pin,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use load::Interrupt;
use reactor::Instant;

/// Interval at which a waiting event is checked.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// What ends an event that is not done.
pub(super) struct CutOff<'a> {
    /// Its time limit, and the moment at which that is over; `None` for the end of the load.
    pub(super) limit: Option<(Duration, Instant)>,
    /// Set at the end of the load.
    pub(super) is_over: &'a AtomicBool,
    pub(super) interrupt: &'a Interrupt,
}

impl CutOff<'_> {
    /// Why the event has to end now, as text; `None` if it may continue.
    pub(super) fn why(&self) -> Option<String> {
        match self.limit {
            Some((limit, end)) if reactor::system_now() >= end => {
                let limit = units::moment(limit.as_secs_f64());
                Some(format!("not finished within its timeout of {limit}"))
            }
            _ if self.is_over.load(Ordering::Relaxed) => {
                Some("not finished when the load ended".to_owned())
            }
            _ if self.interrupt.is_raised() => Some("interrupted".to_owned()),
            _ => None,
        }
    }

    /// The result of a future, or why it has to end before.
    pub(super) async fn unless_cut<F: Future>(
        &self,
        mut future: Pin<&mut F>,
    ) -> Result<F::Output, String> {
        loop {
            if let Ok(output) = reactor::timeout(LOOK_EVERY, future.as_mut()).await {
                return Ok(output);
            }
            if let Some(why) = self.why() {
                return Err(why);
            }
        }
    }
}
