//! The caller's description of a load, and the observer that is notified while it runs.

use std::{sync::Arc, time::Duration};

use reactor::Instant;
use samples::{Interval, LoadStage, PhaseMark};
use settings::{Arrivals, OnError, OnRefusal, PlannedStage, WarmUp};

use crate::{
    rules::{Counters, Drain, Judge, PlannedEnd, Stop, WarmUpEnd},
    tolerated::ToleratedFailures,
    turns::Turns,
};

/// Length of an interval, unless the load is short.
pub const INTERVAL: Duration = Duration::from_secs(1);

/// Users of one kind.
pub struct Group<U> {
    /// Name in the record.
    pub name: String,
    /// Names of the operation types, in the order of the users' [`crate::User::operations`].
    pub operations: Vec<String>,
    /// Names of the statements, in the order of the users' [`crate::User::statements`].
    pub statements: Vec<String>,
    pub users: u32,
    /// Makes the user with this index, not connected yet; called on the thread of its event loop.
    pub make: Box<dyn Fn(u32) -> U + Send + Sync>,
}

/// The description of a load.
pub struct Load<U> {
    /// Groups that run at the same time.
    pub groups: Vec<Group<U>>,
    /// Number of event loops.
    pub loops: u32,
    /// Event loops keep their CPU busy shortly before a timer is due, so that operations start within a microsecond of
    /// it.
    pub spin: bool,
    /// The start times of operations; with stages, at their mean rate.
    pub arrivals: Arrivals,
    /// The levels of the measurement, one after the other; empty if it has one. Their warm-up has a fixed length, and the
    /// measurement ends with the last one. A stage needs the first users of the first group; all users are connected
    /// before the start, and those that a stage does not need are idle in it.
    pub stages: Vec<PlannedStage>,
    /// The turns of a load that shares its time; `None`: all of it is its own. A load with turns is a closed loop without
    /// stages that ends when told to. Its warm-up counts from the begin of its first turn, and it is measured in the slices
    /// of its turns.
    pub turns: Option<Arc<Turns>>,
    /// Seed of the times of a Poisson process and of think times.
    pub seed: u64,
    /// When the measurement begins.
    pub warm_up: WarmUp,
    /// Judges whether it is steady, where the warm-up ends by that.
    pub judge: Judge,
    /// When it ends.
    pub stop: Stop,
    /// The time limit for operations in flight after the end.
    pub drain: Drain,
    /// The policy for a connection that cannot be opened.
    pub on_refusal: OnRefusal,
    /// The policy for a failed operation.
    pub on_error: OnError,
    /// Failures with a planned cause, which do not end the load whatever that policy is.
    pub tolerated: ToleratedFailures,
    pub interval: Duration,
}

impl<U> Group<U> {
    /// The same group, with users that `make` makes.
    pub fn made_by<V>(self, make: impl Fn(u32) -> V + Send + Sync + 'static) -> Group<V> {
        Group {
            name: self.name,
            operations: self.operations,
            statements: self.statements,
            users: self.users,
            make: Box::new(make),
        }
    }
}

impl<U> Load<U> {
    /// Number of users in all groups.
    pub(crate) fn users(&self) -> u32 {
        self.groups.iter().map(|group| group.users).sum()
    }
}

/// Is notified while a load runs; called on the thread that called [`crate::drive`].
pub trait LoadListener {
    /// `open` of `total` connections are open.
    fn connected(&mut self, open: u64, total: u64);
    /// All connections are open. Returns the time at which the load begins, after waiting for the other loads that are
    /// to begin with it; `None` for a load that begins at once.
    fn begin_at(&mut self) -> Option<Instant> {
        None
    }
    /// A program with this process id drives the load: a part of the client.
    fn runs(&mut self, _pid: u32) {}
    /// The first operations start now.
    fn started(&mut self);
    /// A phase begins.
    fn phase(&mut self, mark: PhaseMark);
    /// A stage begins.
    fn stage(&mut self, _stage: LoadStage) {}
    /// The warm-up of a load with turns is over: its turn can be closed.
    fn warmed_up(&mut self, _end: &WarmUpEnd) {}
    /// An interval is over.
    fn interval(&mut self, interval: Interval);
    /// When a load that ends when told to is to end; asked after every interval.
    fn planned_end(&mut self) -> Option<PlannedEnd> {
        None
    }
    /// The server's counters since this time after the start of the load, as far as the observer has them.
    fn counters(&mut self, _since_s: f64) -> Counters {
        Counters::default()
    }
}
