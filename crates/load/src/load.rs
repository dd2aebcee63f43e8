//! A load as its caller describes it, and who looks on while it runs.

use std::time::Duration;

use samples::{Interval, PhaseMark};
use settings::{Arrivals, OnError, OnRefusal, WarmUp};

use crate::rules::{Counters, Drain, Judge, Stop};

/// Users of one kind.
pub struct Group<U> {
    /// Name in the record.
    pub name: String,
    /// Names of the operation types, in the order of the users' [`workload::User::operations`].
    pub operations: Vec<String>,
    /// Names of the statements, in the order of the users' [`workload::User::statements`].
    pub statements: Vec<String>,
    /// How many users.
    pub users: u32,
    /// Makes the user with this index, not connected yet; called on the thread of its event loop.
    pub make: Box<dyn Fn(u32) -> U + Send + Sync>,
}

/// What to drive, and how.
pub struct Load<U> {
    /// Groups that run together.
    pub groups: Vec<Group<U>>,
    /// Event loops.
    pub loops: u32,
    /// Event loops keep their CPU busy shortly before a timer is due: operations start on time to a microsecond.
    pub spin: bool,
    /// When operations start.
    pub arrivals: Arrivals,
    /// Seed of the times of a Poisson process and of think times.
    pub seed: u64,
    /// When the measurement begins.
    pub warm_up: WarmUp,
    /// Judges whether it is steady, where the warm-up ends by that.
    pub judge: Judge,
    /// When it ends.
    pub stop: Stop,
    /// How long operations in flight may take after that.
    pub drain: Drain,
    /// What a connection does that cannot be opened.
    pub on_refusal: OnRefusal,
    /// What a failure does.
    pub on_error: OnError,
    /// Length of an interval.
    pub interval: Duration,
}

/// Looks on while a load runs; called on the thread that called [`crate::drive`].
pub trait Observer {
    /// So many of `total` connections are open.
    fn connected(&mut self, open: u64, total: u64);
    /// The first operations start now.
    fn started(&mut self);
    /// A phase begins.
    fn phase(&mut self, mark: PhaseMark);
    /// An interval is over.
    fn interval(&mut self, interval: Interval);
    /// What the server counted since so many seconds after the start of the load, as far as the observer knows.
    fn counters(&mut self, _since_s: f64) -> Counters {
        Counters::default()
    }
}
