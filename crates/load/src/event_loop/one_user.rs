//! One user from its first operation to its last.

use std::time::Duration;

use reactor::Instant;
use samples::Phase;

use super::{
    shared_state::{LOOK_EVERY, SharedState},
    slot::UserSlot,
};
use crate::{
    outcome::Termination,
    recorder::{Lag, Timing},
    timeline::DueIn,
    user::{Class, Moment, Next, OperationObserver, User},
};

/// Total rate of the checks by sleeping users whether the load is over: 10,000 of them must not keep a CPU busy.
const LOOKS_PER_S: u32 = 10_000;

/// The reason why a user ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EndReason {
    /// The load is over, or the user is.
    Done {
        /// The start of its last operation's response time.
        last: Instant,
    },
    /// One of its operations failed, and it must not continue.
    Failed,
}

/// When a user could begin an operation.
#[derive(Debug, Clone, Copy)]
struct Ready {
    /// The operation was due.
    due: Instant,
    /// The user had nothing else to do.
    free: Instant,
}

/// An operation that has started.
#[derive(Debug, Clone, Copy)]
pub(super) struct InFlight {
    /// Index among the operation types of its group.
    pub(super) index: usize,
    /// Index among the operation types of all groups.
    pub(super) operation: usize,
    /// Start of its response time.
    pub(super) scheduled: Instant,
    /// Time of its first request.
    pub(super) sent: Instant,
    pub(super) lag: Lag,
    /// True if at most half of the users were busy then.
    pub(super) calm: bool,
}

impl SharedState {
    /// Drives one user until the load is over or the user has reached its end.
    pub(super) async fn drive<U: User>(&self, slot: UserSlot, user: &mut U) -> EndReason {
        // The time since which the user has been idle.
        let mut free = self.start;
        let mut last = self.start;
        loop {
            match self.wait_for_stage(slot, free).await {
                Some(begins) => free = begins,
                None => return EndReason::Done { last },
            }
            let (index, due, since) = match user.next() {
                Next::Operation(index) => {
                    let Some(due) = self.next_due(free).await else {
                        return EndReason::Done { last };
                    };
                    (index, due, self.pace.is_open().then_some(due))
                }
                Next::OperationSince(index, Moment { ns }) => {
                    let since = Instant::from_ns(ns);
                    // After the stop the arrival stays with the user.
                    if self.task.timeline.is_over(reactor::now()) {
                        return EndReason::Done { last };
                    }
                    (index, free.max(since), Some(since))
                }
                Next::Pause(pause) => {
                    match self.pass(free, pause).await {
                        Some(end) => free = end,
                        None => return EndReason::Done { last },
                    }
                    continue;
                }
                Next::End => return EndReason::Done { last },
            };
            let (due, since) = match self.task.timeline.turns() {
                None => (due, since),
                Some(turns) => {
                    let Some(turn) = self.wait_for_turn(turns).await else {
                        return EndReason::Done { last };
                    };
                    // The pause before the turn is no delay.
                    (due.max(turn.from), since.map(|it| it.max(turn.from)))
                }
            };
            let ready = Ready { due, free };
            let Some(begun) = self.begin(slot, index, ready, since) else {
                return EndReason::Done { last };
            };
            last = begun.scheduled;
            match self.perform(slot, begun, user).await {
                Some(end) => free = end,
                None => return EndReason::Failed,
            }
        }
    }

    /// Lets a user at its end flush what it still holds. The operations were counted as done already: a failure here is
    /// counted as a failure, and ends the load like one.
    pub(super) async fn finish_user<U: User>(&self, slot: UserSlot, last: Instant, user: &mut U) {
        let mut watch = StatementWatch {
            shared: self,
            first_statement: slot.offsets.first_statement,
            operation: None,
            scheduled: last,
            since: reactor::now(),
        };
        self.finishing.set(self.finishing.get() + 1);
        let result = user.finish(&mut watch).await;
        self.finishing.set(self.finishing.get() - 1);
        let Err(failure) = result else {
            return;
        };
        let phase = self.task.timeline.phase(last);
        self.recorder
            .borrow_mut()
            .count_failure(slot.offsets.first_operation, phase, &failure);
        self.halt(if failure.lost {
            Termination::ServerLost(failure)
        } else {
            Termination::Failed {
                operation: user.operations()[0].clone(),
                failure,
            }
        });
    }

    /// Waits until a stage needs this user, which has been idle since `free`; returns the time since which it is idle for
    /// the stage. `None` if no stage does so before the load is over.
    async fn wait_for_stage(&self, slot: UserSlot, free: Instant) -> Option<Instant> {
        let stages = self.task.timeline.stages();
        let Some(place) = slot.place.filter(|_| !stages.is_empty()) else {
            return Some(free);
        };
        // What begins now counts, not what the user waited for until then.
        let now = reactor::now().max(free);
        match stages.active_from(place, now - self.start) {
            Some(from) if self.start + from <= now => Some(free),
            Some(from) => {
                let begins = self.start + from;
                self.sleep_until(begins).await.then_some(begins)
            }
            None => {
                // The connection stays open until the load is over.
                self.sleep_until(Instant::from_ns(u64::MAX)).await;
                None
            }
        }
    }

    /// Waits until the next operation is due; `None` when none is left.
    ///
    /// In a closed loop that is the time when the user is free and its think time is over. In an open loop the user
    /// takes the next arrival from its loop's schedule: if it is past already, the arrival has been waiting for a free
    /// connection, and is executed even after the stop if it was due before.
    async fn next_due(&self, free: Instant) -> Option<Instant> {
        let timeline = &self.task.timeline;
        if self.pace.is_open() {
            let due = self.pace.claim()?;
            let may_start = due <= free || self.sleep_until(due).await;
            return (may_start && !timeline.is_cut_off()).then_some(due);
        }
        match self.pace.think() {
            Some(think) => self.pass(free, think).await,
            None => Some(free),
        }
    }

    /// Sleeps until `end`; false if the load is over by then.
    pub(super) async fn sleep_until(&self, end: Instant) -> bool {
        let users = self.running.get() as u32;
        let look_every = LOOK_EVERY.max(Duration::from_secs(1) * users / LOOKS_PER_S);
        loop {
            let now = reactor::now();
            if self.task.timeline.is_over(now.min(end)) {
                return false;
            }
            if now >= end {
                return true;
            }
            let stop = self.task.timeline.stop_at();
            let next = stop.map_or(end, |stop| stop.min(end));
            reactor::sleep_until(next.min(now + look_every)).await;
        }
    }

    /// Starts an operation; its response time counts from `since`, or from its start. `None` when the load is over.
    fn begin(
        &self,
        slot: UserSlot,
        index: usize,
        ready: Ready,
        since: Option<Instant>,
    ) -> Option<InFlight> {
        let sent = reactor::now();
        // An operation that starts now must not count in an interval that is over.
        self.close_intervals(sent);
        let scheduled = since.unwrap_or(sent);
        if self.task.timeline.is_over(scheduled) {
            return None;
        }
        let allowance = &self.task.allowance;
        if allowance.is_limited()
            && self.task.timeline.phase(scheduled) == Phase::Measurement
            && !allowance.take()
        {
            return None;
        }
        Some(InFlight {
            index,
            operation: slot.offsets.first_operation + index,
            scheduled,
            sent,
            lag: Lag {
                send_ns: (sent - ready.due).as_nanos() as u64,
                client_ns: (sent - ready.due.max(ready.free)).as_nanos() as u64,
            },
            calm: self
                .pace
                .begin(slot.slot, scheduled, self.active_users(sent)),
        })
    }

    /// Runs one operation with its retries. Returns the time at which the user was free again, `None` when it must end.
    async fn perform<U: User>(
        &self,
        slot: UserSlot,
        begun: InFlight,
        user: &mut U,
    ) -> Option<Instant> {
        let result = self.attempt(slot, begun, user).await;
        let end = reactor::now();
        self.pace.end(slot.slot);
        self.close_intervals(end);
        self.last_end.set(end);
        match result {
            Ok(()) => {
                self.succeed(begun, end);
                if self.task.timeline.phase(begun.scheduled) == Phase::Measurement {
                    self.users.borrow_mut()[slot.slot].add(end - begun.scheduled);
                }
                Some(end)
            }
            Err(failure) => {
                self.recorder.borrow_mut().fail(
                    begun.operation,
                    begun.lag,
                    self.carried(begun.scheduled),
                );
                self.go_on_after(failure, slot, begun.index, user)
                    .await
                    .then(reactor::now)
            }
        }
    }

    fn succeed(&self, begun: InFlight, end: Instant) {
        let service = end - begun.sent;
        if begun.calm {
            self.pace.was_calm(service);
        }
        let took = Timing {
            response_ns: (end - begun.scheduled).as_nanos() as u64,
            service_ns: service.as_nanos() as u64,
            lag: begun.lag,
        };
        let carried = self.carried(begun.scheduled);
        self.recorder
            .borrow_mut()
            .succeed(begun.operation, took, carried);
    }

    /// Users of this event loop that have operations at this time.
    fn active_users(&self, now: Instant) -> u64 {
        let all = self.pace.users();
        let connections = self.task.timeline.stages().connections_at(now - self.start);
        connections.map_or(all, |it| {
            u64::from(it.div_ceil(self.task.share.of)).min(all)
        })
    }

    /// The phase, and the stage or slice, to which an operation belongs, if those are not the ones of the current interval.
    #[inline]
    fn carried(&self, scheduled: Instant) -> Option<DueIn> {
        let from = self.from.get();
        if scheduled >= from {
            // An interval belongs as a whole to one phase, and to one stage or slice.
            return None;
        }
        let timeline = &self.task.timeline;
        let due_in = timeline.due_in(scheduled);
        (due_in != timeline.due_in(from)).then_some(due_in)
    }
}

/// Records the statements of one attempt at an operation.
pub(super) struct StatementWatch<'a> {
    pub(super) shared: &'a SharedState,
    pub(super) first_statement: usize,
    /// The operation; `None` for what a user flushes at its end.
    pub(super) operation: Option<usize>,
    pub(super) scheduled: Instant,
    /// Start of the attempt, or end of the previous statement.
    pub(super) since: Instant,
}

impl OperationObserver for StatementWatch<'_> {
    fn moment(&self) -> Moment {
        let ns = reactor::now().as_ns();
        Moment { ns }
    }

    fn statement(&mut self, statement: usize, class: Class) {
        let end = reactor::now();
        self.shared.close_intervals(end);
        let time_ns = (end - self.since).as_nanos() as u64;
        let carried = self.shared.carried(self.scheduled);
        self.shared.recorder.borrow_mut().statement(
            self.first_statement + statement,
            class,
            time_ns,
            carried,
        );
        self.since = end;
    }

    async fn pause(&mut self, time: Duration) {
        if time.is_zero() {
            reactor::yield_now().await;
        } else {
            reactor::sleep(time).await;
        }
        self.since = reactor::now();
    }

    fn returned(&mut self, rows: u64) {
        let Some(operation) = self.operation else {
            return;
        };
        let carried = self.shared.carried(self.scheduled);
        self.shared
            .recorder
            .borrow_mut()
            .returned(operation, rows, carried);
    }
}
