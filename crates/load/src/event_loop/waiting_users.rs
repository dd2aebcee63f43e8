//! The users of a load with turns: they wait for a turn, and their think times and pauses pass only in turns.

use std::{
    cell::RefCell,
    future::poll_fn,
    task::{Poll, Waker},
    time::Duration,
};

use reactor::Instant;

use super::shared_state::SharedState;
use crate::turns::{Turn, Turns};

/// The users of one event loop that wait for a turn.
///
/// They sleep until the loop wakes them, and do not look at the clock themselves: meanwhile another load is measured on the
/// same machine, and an event loop may have thousands of users.
#[derive(Debug, Default)]
pub(super) struct WaitingUsers(RefCell<Vec<Waker>>);

impl WaitingUsers {
    /// Waits until all are woken.
    async fn wait(&self) {
        let mut is_waiting = false;
        poll_fn(|context| {
            if is_waiting {
                return Poll::Ready(());
            }
            is_waiting = true;
            self.0.borrow_mut().push(context.waker().clone());
            Poll::Pending
        })
        .await;
    }

    fn wake_all(&self) {
        self.0.borrow_mut().drain(..).for_each(Waker::wake);
    }
}

impl SharedState {
    /// Waits for a turn, and returns it at once if there is one now; `None` if the load is over before.
    pub(super) async fn wait_for_turn(&self, turns: &Turns) -> Option<Turn> {
        loop {
            let now = reactor::now();
            if self.task.timeline.is_over(now) {
                return None;
            }
            if let Some(turn) = turns.turn_at(now) {
                return Some(turn);
            }
            self.waiting.wait().await;
        }
    }

    /// Wakes the users that wait for a turn if there is one now, or the load is over.
    pub(super) fn wake_waiting(&self, now: Instant) {
        let timeline = &self.task.timeline;
        let Some(turns) = timeline.turns() else {
            return;
        };
        if turns.turn_at(now).is_some() || timeline.is_over(now) {
            self.waiting.wake_all();
        }
    }

    /// Lets a time pass for a user that has been free since `free`; returns its end, and `None` if the load is over before.
    ///
    /// For a load with turns it passes only in turns: if it passed in the pauses too, all users would be ready at the begin
    /// of the next turn, which would begin with a burst that the load does not have when it runs alone.
    pub(super) async fn pass(&self, free: Instant, time: Duration) -> Option<Instant> {
        let Some(turns) = self.task.timeline.turns() else {
            let end = free + time;
            return self.sleep_until(end).await.then_some(end);
        };
        loop {
            let turn = self.wait_for_turn(turns).await?;
            let end = turns.after(free, time);
            if let Some(end) = end.filter(|end| *end <= reactor::now()) {
                return Some(end);
            }
            // A turn without an end may be closed meanwhile: then there is more to wait for. Without both times it was
            // closed between the two readings.
            let Some(next) = [end, turn.to].into_iter().flatten().min() else {
                continue;
            };
            if !self.sleep_until(next).await {
                return None;
            }
        }
    }
}
