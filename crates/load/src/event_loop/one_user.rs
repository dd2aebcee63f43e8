//! One user from its first operation to its last.

use std::time::Duration;

use reactor::Instant;
use samples::Phase;
use settings::OnError;
use workload::{Class, Failure, Moment, Next, User, Watch};

use super::{
    message::Message,
    shared_state::{LOOK_EVERY, SharedState},
    slot::UserSlot,
};
use crate::{
    outcome::Ended,
    recorder::{FailedAttempts, Timing},
};

/// Default time for which a user tries to reopen a lost connection, if the error policy has none.
const RECONNECT_FOR: Duration = Duration::from_secs(2);
/// An operation is given up after this number of failures if nothing has succeeded for this time.
const IN_VAIN_ATTEMPTS: u64 = 100;
const IN_VAIN: Duration = Duration::from_secs(60);
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

/// An operation that has started.
#[derive(Debug, Clone, Copy)]
struct InFlight {
    /// Index among the operation types of its group.
    index: usize,
    /// Index among the operation types of all groups.
    operation: usize,
    /// Start of its response time.
    scheduled: Instant,
    /// Time of its first request.
    sent: Instant,
    send_lag_ns: u64,
    /// True if at most half of the users were busy then.
    calm: bool,
}

impl SharedState {
    /// Drives one user until the load is over or the user has reached its end.
    pub(super) async fn drive<U: User>(&self, slot: UserSlot, user: &mut U) -> EndReason {
        // The time since which the user has been idle.
        let mut free = self.start;
        let mut last = self.start;
        loop {
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
                    free = free + pause;
                    if !self.sleep_until(free).await {
                        return EndReason::Done { last };
                    }
                    continue;
                }
                Next::End => return EndReason::Done { last },
            };
            let Some(begun) = self.begin(slot, index, due, since) else {
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
            Ended::ServerLost(failure)
        } else {
            Ended::Failed {
                operation: user.operations()[0].clone(),
                failure,
            }
        });
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
            Some(think) => {
                let due = free + think;
                self.sleep_until(due).await.then_some(due)
            }
            None => Some(free),
        }
    }

    /// Sleeps until `end`; false if the load is over by then.
    async fn sleep_until(&self, end: Instant) -> bool {
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

    /// Starts an operation for which the user was ready at `due`; its response time counts from `since`, or from its
    /// start. `None` when the load is over.
    fn begin(
        &self,
        slot: UserSlot,
        index: usize,
        due: Instant,
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
            send_lag_ns: (sent - due).as_nanos() as u64,
            calm: self.pace.begin(slot.slot, scheduled),
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
                    begun.send_lag_ns,
                    self.carried(begun.scheduled),
                );
                self.go_on_after(failure, slot, begun.index, user)
                    .await
                    .then(reactor::now)
            }
        }
    }

    /// Runs one operation until it succeeds or must not be retried. Each failed attempt is counted at once, so that an
    /// operation that is never completed still has its failures counted.
    async fn attempt<U: User>(
        &self,
        slot: UserSlot,
        begun: InFlight,
        user: &mut U,
    ) -> Result<(), Failure> {
        let mut failed = FailedAttempts::default();
        let mut since = begun.sent;
        loop {
            let mut watch = StatementWatch {
                shared: self,
                first_statement: slot.offsets.first_statement,
                operation: Some(begun.operation),
                scheduled: begun.scheduled,
                since,
            };
            let failure = match user.execute(&mut watch).await {
                Ok(()) => {
                    if !failed.is_empty() {
                        let mut recorder = self.recorder.borrow_mut();
                        recorder.put_right(begun.operation, &failed);
                    }
                    return Ok(());
                }
                Err(failure) => failure,
            };
            let phase = self.task.timeline.phase(begun.scheduled);
            self.recorder
                .borrow_mut()
                .count_failure(begun.operation, phase, &failure);
            if failure.retryable && self.is_in_vain(failed.count()) {
                return Err(Failure {
                    message: given_up(failed.count() + 1, &failure.message),
                    ..failure
                });
            }
            if !(failure.retryable && self.may_retry(failed.count())) {
                return Err(failure);
            }
            failed.add(failure.number);
            if failure.lost {
                self.reconnect(slot, user).await?;
            }
            since = reactor::now();
        }
    }

    /// Whether an operation with this number of failed attempts is retried.
    fn may_retry(&self, failed_before: u64) -> bool {
        let timeline = &self.task.timeline;
        match self.task.on_error {
            OnError::Stop | OnError::Count => false,
            OnError::Retry { at_most } => failed_before < u64::from(at_most),
            OnError::RetryElseStop { .. } => {
                // Even a load without a time limit for answers ends if an operation keeps failing.
                let limit = self.task.drain.retries_for();
                let is_too_late = timeline
                    .stop_at()
                    .is_some_and(|stop| reactor::now() >= stop + limit);
                !timeline.is_cut_off() && !is_too_late
            }
        }
    }

    /// Whether retrying would never end: the load has no time limit, the operation has failed often enough, and nothing
    /// succeeds. One attempt may take a lock wait timeout, so that time alone is not sufficient.
    fn is_in_vain(&self, failed_before: u64) -> bool {
        let is_unlimited = matches!(self.task.on_error, OnError::RetryElseStop { .. })
            && self.task.timeline.stop_at().is_none();
        is_unlimited
            && failed_before + 1 >= IN_VAIN_ATTEMPTS
            && reactor::now() - self.last_end.get() >= IN_VAIN
    }

    fn succeed(&self, begun: InFlight, end: Instant) {
        let service = end - begun.sent;
        if begun.calm {
            self.pace.was_calm(service);
        }
        let took = Timing {
            response_ns: (end - begun.scheduled).as_nanos() as u64,
            service_ns: service.as_nanos() as u64,
            send_lag_ns: begun.send_lag_ns,
        };
        let carried = self.carried(begun.scheduled);
        self.recorder
            .borrow_mut()
            .succeed(begun.operation, took, carried);
    }

    /// The phase to which an operation belongs, if that is not the phase of the current interval.
    #[inline]
    fn carried(&self, scheduled: Instant) -> Option<Phase> {
        let from = self.from.get();
        if scheduled >= from {
            // An interval belongs to one phase as a whole.
            return None;
        }
        let timeline = &self.task.timeline;
        let due_in = timeline.phase(scheduled);
        (due_in != timeline.phase(from)).then_some(due_in)
    }

    /// Decides whether a user continues after a failure; halts the load if the policy requires it.
    async fn go_on_after<U: User>(
        &self,
        failure: Failure,
        slot: UserSlot,
        index: usize,
        user: &mut U,
    ) -> bool {
        // A backlog is processed after the stop, but not over a lost connection.
        let over = self.task.timeline.is_over(reactor::now());
        if over && (failure.lost || !self.pace.is_open()) {
            return false;
        }
        if failure.lost {
            let may_go_on = match self.task.on_error {
                OnError::Stop => false,
                // It must not be executed again, but the next one can.
                OnError::RetryElseStop { .. } => failure.outcome_unknown,
                OnError::Count | OnError::Retry { .. } => true,
            };
            return if !may_go_on {
                self.halt(Ended::ServerLost(failure))
            } else {
                match self.reconnect(slot, user).await {
                    Ok(()) => true,
                    Err(failure) => self.halt(Ended::ServerLost(failure)),
                }
            };
        }
        match self.task.on_error {
            OnError::Stop | OnError::RetryElseStop { .. } => self.halt(Ended::Failed {
                operation: user.operations()[index].clone(),
                failure,
            }),
            OnError::Count | OnError::Retry { .. } => true,
        }
    }

    fn halt(&self, ended: Ended) -> bool {
        self.task.timeline.cut_off(reactor::now());
        self.task.send(Message::Halt(ended));
        false
    }

    /// Reopens a lost connection; every failed attempt is counted.
    async fn reconnect<U: User>(&self, slot: UserSlot, user: &mut U) -> Result<(), Failure> {
        let patience = match self.task.on_error {
            OnError::RetryElseStop { reconnect_for } => reconnect_for,
            OnError::Stop | OnError::Count | OnError::Retry { .. } => RECONNECT_FOR,
        };
        let give_up_at = reactor::now() + patience;
        let mut pause = Duration::from_millis(10);
        let mut failed = FailedAttempts::default();
        loop {
            let failure = match user.connect().await {
                Ok(()) => {
                    let mut recorder = self.recorder.borrow_mut();
                    recorder.connected_again(slot.offsets.group, &failed);
                    return Ok(());
                }
                Err(failure) => failure,
            };
            let now = reactor::now();
            let phase = self.task.timeline.phase(now);
            self.recorder
                .borrow_mut()
                .count_refusal(slot.offsets.group, phase, &failure);
            failed.add(failure.number);
            if now >= give_up_at || self.task.timeline.is_over(now) {
                return Err(failure);
            }
            reactor::sleep(pause).await;
            pause = (pause * 2).min(Duration::from_millis(500));
        }
    }
}

/// The reason why an operation is not retried, followed by the server's message.
fn given_up(attempts: u64, message: &str) -> String {
    let time = units::moment(IN_VAIN.as_secs_f64());
    format!("given up after {attempts} attempts and {time} without one success: {message}")
}

/// Records the statements of one attempt at an operation.
struct StatementWatch<'a> {
    shared: &'a SharedState,
    first_statement: usize,
    /// The operation; `None` for what a user flushes at its end.
    operation: Option<usize>,
    scheduled: Instant,
    /// Start of the attempt, or end of the previous statement.
    since: Instant,
}

impl Watch for StatementWatch<'_> {
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
