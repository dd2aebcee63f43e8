//! The state of one event loop, shared by its users, and the times at which its figures are delivered.

use std::{
    cell::{Cell as StdCell, RefCell},
    sync::Arc,
    time::Duration,
};

use reactor::{Instant, channel};

use super::{message::Message, waiting_users::WaitingUsers};
use settings::{Arrivals, OnError};

use crate::{
    arrivals::Share,
    budget::Allowance,
    intervals::LoopInterval,
    outcome::UserTotal,
    pace::Pace,
    recorder::{CellCounts, Cells, Recorder},
    rules::Drain,
    timeline::Timeline,
    tolerated::ToleratedFailures,
};

/// Interval at which an event loop checks whether the controller has changed a time. The loop is not woken for that: a
/// wake-up by another thread takes a lock, and would interfere with what is measured.
pub(super) const LOOK_EVERY: Duration = Duration::from_millis(20);

/// The parameters of one event loop.
pub(crate) struct Task {
    pub(crate) share: Share,
    pub(crate) shape: CellCounts,
    pub(crate) arrivals: Arrivals,
    /// Of them.
    pub(crate) seed: u64,
    pub(crate) allowance: Allowance,
    pub(crate) on_error: OnError,
    pub(crate) tolerated: ToleratedFailures,
    pub(crate) drain: Drain,
    pub(crate) timeline: Arc<Timeline>,
    pub(crate) messages: channel::Sender<Message>,
    /// Cells that the controller has read and returns, so that no interval allocates a histogram.
    pub(crate) used_cells: channel::Receiver<Cells>,
}

/// The state shared by the users of one event loop.
pub(super) struct SharedState {
    pub(super) task: Task,
    pub(super) recorder: RefCell<Recorder>,
    /// The totals of each user, by slot.
    pub(super) users: RefCell<Vec<UserTotal>>,
    pub(super) pace: Pace,
    pub(super) start: Instant,
    /// Start of the current interval.
    pub(super) from: StdCell<Instant>,
    pub(super) last_end: StdCell<Instant>,
    pub(super) running: StdCell<u64>,
    /// Number of users at their end that are flushing.
    pub(super) finishing: StdCell<u64>,
    /// Users that wait for a turn.
    pub(super) waiting: WaitingUsers,
    /// How often this loop has seen the measurement start again.
    pub(super) begun_anew: StdCell<u64>,
}

impl Task {
    pub(super) fn send(&self, message: Message) {
        // The controller outlives its loops unless it panicked; then no receiver is left.
        let _ = self.messages.send(message);
    }
}

impl SharedState {
    /// Delivers every interval that is over, and wakes the users that wait for a turn, until no user is left or the drain has
    /// lasted too long.
    pub(super) async fn keep_time(&self) {
        let mut wake_at = reactor::now();
        loop {
            let now = reactor::now();
            let stop = self.task.timeline.stop_at();
            // First: the check counts the operations that are due, and must not go beyond the current interval.
            self.close_intervals(now);
            self.pace.look(now, stop, now - wake_at);
            self.wake_waiting(now);
            if self.running.get() == 0 || self.drained_by(now, stop) {
                break;
            }
            let next = self.task.timeline.interval_end(self.from.get());
            wake_at = next.min(now + LOOK_EVERY);
            reactor::sleep_until(wake_at).await;
        }
        self.finish(reactor::now());
    }

    /// True when operations in flight have reached their time limit after the stop.
    fn drained_by(&self, now: Instant, stop: Option<Instant>) -> bool {
        let limit = self.task.drain.limit(self.task.timeline.is_cut_off());
        stop.zip(limit)
            .is_some_and(|(stop, limit)| now >= stop + limit)
    }

    /// Delivers the rest.
    fn finish(&self, now: Instant) {
        if now > self.from.get() {
            self.hand_over(now);
        }
        let timeline = &self.task.timeline;
        // Users that ended earlier do not owe operations that would have been due until then.
        let stop = timeline.stop_at().filter(|stop| now >= *stop);
        let (failures, refusals) = self.recorder.borrow_mut().take_failures();
        let mut left = self.pace.left(now, stop, |due| timeline.due_in(due));
        left.in_flight += self.finishing.get();
        self.task.send(Message::Finished {
            event_loop: self.task.share.index as usize,
            failures,
            refusals,
            last_end: self.last_end.get(),
            left: Box::new(left),
            users: self.users.take(),
        });
    }

    /// Closes every interval that ended by `now`.
    #[inline]
    pub(super) fn close_intervals(&self, now: Instant) {
        loop {
            let end = self.task.timeline.interval_end(self.from.get());
            if now < end {
                return;
            }
            self.hand_over(end);
        }
    }

    #[cold]
    fn hand_over(&self, to: Instant) {
        let begun_anew = self.task.timeline.begun_anew();
        if self.begun_anew.replace(begun_anew) != begun_anew {
            self.users.borrow_mut().fill(UserTotal::default());
            self.recorder.borrow_mut().begin_anew();
        }
        let fresh = self.task.used_cells.try_recv().ok();
        let (cells, carried) = self.recorder.borrow_mut().take(fresh);
        self.task.send(Message::Interval {
            event_loop: self.task.share.index as usize,
            measured: Box::new(LoopInterval {
                from: self.from.replace(to),
                to,
                cells,
                carried,
                pace: self.pace.close(to, self.task.timeline.stop_at()),
            }),
        });
    }
}
