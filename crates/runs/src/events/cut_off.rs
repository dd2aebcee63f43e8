//! When an event has to end although it is not done.

use std::{future::Future, pin::Pin, time::Duration};

use reactor::{Instant, Interrupt};

/// What ends an event that is not done.
pub(super) struct CutOff<'a> {
    /// Its time limit, and the moment at which that is over; `None` for the end of the load.
    pub(super) limit: Option<(Duration, Instant)>,
    pub(super) interrupt: &'a Interrupt,
    /// Its child that is raised at the end of the load.
    pub(super) end: &'a Interrupt,
}

impl CutOff<'_> {
    /// Time until its time limit.
    pub(super) fn left(&self) -> Duration {
        self.limit
            .map_or(Duration::MAX, |(_, end)| end - reactor::system_now())
    }

    /// Why the event had to end, as text, after a wait that ended without it.
    pub(super) fn why(&self) -> String {
        match self.limit {
            Some((limit, end)) if reactor::system_now() >= end => {
                let limit = units::moment(limit.as_secs_f64());
                format!("not finished within its timeout of {limit}")
            }
            _ if self.interrupt.is_raised() => "interrupted".to_owned(),
            _ => "not finished when the load ended".to_owned(),
        }
    }

    /// The result of a future, or why it has to end before.
    pub(super) async fn unless_cut<F: Future>(
        &self,
        future: Pin<&mut F>,
    ) -> Result<F::Output, String> {
        let ended = self.end.unless_raised(future);
        let output = match self.limit {
            Some(_) => reactor::timeout(self.left(), ended).await.ok().flatten(),
            None => ended.await,
        };
        output.ok_or_else(|| self.why())
    }
}
