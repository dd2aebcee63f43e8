//! What follows a failed operation: another attempt, a new connection, or the end of the user or of the load.

use std::time::Duration;

use settings::OnError;

use super::{
    message::Message,
    one_user::{InFlight, StatementWatch},
    shared_state::SharedState,
    slot::UserSlot,
};
use crate::{
    outcome::Termination,
    recorder::FailedAttempts,
    user::{Failure, User},
};

/// Default time for which a user tries to reopen a lost connection, if the error policy has none.
const RECONNECT_FOR: Duration = Duration::from_secs(2);
/// An operation is given up after this number of failures if nothing has succeeded for this time.
const IN_VAIN_ATTEMPTS: u64 = 100;
const IN_VAIN: Duration = Duration::from_secs(60);

impl SharedState {
    /// Runs one operation until it succeeds or must not be retried. Each failed attempt is counted at once, so that an
    /// operation that is never completed still has its failures counted.
    pub(super) async fn attempt<U: User>(
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
            if failure.retryable && self.is_in_vain(begun, failed.count()) {
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
    fn is_in_vain(&self, begun: InFlight, failed_before: u64) -> bool {
        let is_unlimited = matches!(self.task.on_error, OnError::RetryElseStop { .. })
            && self.task.timeline.stop_at().is_none();
        // Before the operation its user may have waited for minutes, for the turn of its load.
        let since = self.last_end.get().max(begun.sent);
        is_unlimited && failed_before + 1 >= IN_VAIN_ATTEMPTS && reactor::now() - since >= IN_VAIN
    }

    /// Decides whether a user continues after a failure; halts the load if the policy requires it.
    pub(super) async fn go_on_after<U: User>(
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
        let is_tolerated = self.task.tolerated.includes(&failure);
        if failure.lost {
            let may_go_on = match self.task.on_error {
                _ if is_tolerated => true,
                OnError::Stop => false,
                // It must not be executed again, but the next one can.
                OnError::RetryElseStop { .. } => failure.outcome_unknown,
                OnError::Count | OnError::Retry { .. } => true,
            };
            return if !may_go_on {
                self.halt(Termination::ServerLost(failure))
            } else {
                match self.reconnect(slot, user).await {
                    Ok(()) => true,
                    // The outage reaches beyond the end of the load, which ends as planned.
                    Err(_) if is_tolerated && self.task.timeline.is_over(reactor::now()) => false,
                    Err(failure) => self.halt(Termination::ServerLost(failure)),
                }
            };
        }
        match self.task.on_error {
            _ if is_tolerated => true,
            OnError::Stop | OnError::RetryElseStop { .. } => self.halt(Termination::Failed {
                operation: user.operations()[index].clone(),
                failure,
            }),
            OnError::Count | OnError::Retry { .. } => true,
        }
    }

    pub(super) fn halt(&self, ended: Termination) -> bool {
        self.task.timeline.cut_off(reactor::now());
        self.task.send(Message::Halt(ended));
        false
    }

    /// Reopens a lost connection; every failed attempt is counted.
    async fn reconnect<U: User>(&self, slot: UserSlot, user: &mut U) -> Result<(), Failure> {
        let usual = match self.task.on_error {
            OnError::RetryElseStop { reconnect_for } => reconnect_for,
            OnError::Stop | OnError::Count | OnError::Retry { .. } => RECONNECT_FOR,
        };
        let patience = self.task.tolerated.reconnect_for.unwrap_or(usual);
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
