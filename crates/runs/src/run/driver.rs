//! Drives the users of a run as its experiment says: how many, when, how long.

use std::time::Duration;

use experiment::{LoadSpec, OnError, Pacing, PlannedRun, Process, ThinkTime, WarmUp};
use load::{Arrivals, Drain, Group, Load, Observer, Outcome, Precision, Stop, default_loops};
use protocol::Endpoint;
use workload::User;

use crate::{blame::Blamed, listener::Context, record::steady};

/// Intervals of a record are this long, unless the run is short.
const INTERVAL: Duration = Duration::from_secs(1);
/// A short run is cut into about this many intervals: the search for the steady state needs a dozen.
const INTERVALS_AT_LEAST: u32 = 20;
/// No interval is shorter: its own cost would show.
const INTERVAL_AT_LEAST: Duration = Duration::from_millis(100);
/// Retries of one operation after a deadlock.
const RETRIES_AT_MOST: u32 = 10;

/// Drives the users of one run.
pub struct Driver<'a> {
    /// Where and how they connect.
    pub endpoint: Endpoint,
    /// Where what looks after the run connects.
    pub control: &'a Endpoint,
    pub run: &'a PlannedRun,
    pub context: &'a Context,
}

impl Driver<'_> {
    /// How many users the run has.
    pub fn users(&self) -> u32 {
        self.run.load.connections
    }

    /// Seed of what they draw.
    pub fn seed(&self) -> u64 {
        self.run.seed
    }

    /// The load of one group of users, as the experiment says it.
    pub fn load<U: User>(&self, group: Group<U>) -> Load<U> {
        let spec = &self.run.load;
        let on_error = match spec.on_error {
            OnError::Stop => load::OnError::Stop,
            OnError::Count => load::OnError::Count,
            OnError::Retry => load::OnError::Retry {
                at_most: RETRIES_AT_MOST,
            },
        };
        Load {
            groups: vec![group],
            loops: loops(spec),
            spin: spec.spin,
            arrivals: arrivals(&spec.pacing, self.run.seed),
            warm_up: match spec.warmup {
                WarmUp::Auto { at_most } => load::WarmUp::UntilSteady {
                    judge: steady::judge,
                    at_most,
                },
                WarmUp::For(_) if spec.ends_by_itself() => load::WarmUp::None,
                WarmUp::For(warm_up) => load::WarmUp::For(warm_up),
            },
            stop: stop(spec),
            drain: Drain::USUAL,
            on_refusal: on_error.on_refusal(),
            on_error,
            interval: interval(spec),
        }
    }

    /// Drives them.
    pub fn drive<U: User + 'static>(
        &self,
        load: Load<U>,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, Blamed> {
        Ok(load::drive(load, &self.context.interrupt, observer)?)
    }
}

/// Event loops of a load.
pub(crate) fn loops(load: &LoadSpec) -> u32 {
    load.loops
        // Which seed makes no difference here.
        .unwrap_or_else(|| default_loops(load.connections, &arrivals(&load.pacing, 0)))
        .min(load.connections)
}

/// When operations start; their times come from a stream of their own.
fn arrivals(pacing: &Pacing, seed: u64) -> Arrivals {
    let seed = seed ^ u64::from_be_bytes(*b"arrivals");
    match *pacing {
        Pacing::Closed => Arrivals::Closed,
        Pacing::Thinking(ThinkTime::Fixed(time)) => {
            Arrivals::Thinking(load::ThinkTime::Fixed(time))
        }
        Pacing::Thinking(ThinkTime::Exponential(mean)) => {
            Arrivals::Thinking(load::ThinkTime::Exponential { mean, seed })
        }
        Pacing::Open {
            rate_per_s,
            process: Process::Constant,
        } => Arrivals::Constant { rate_per_s },
        Pacing::Open {
            rate_per_s,
            process: Process::Poisson,
        } => Arrivals::Poisson { rate_per_s, seed },
    }
}

fn stop(load: &LoadSpec) -> Stop {
    match load.precision {
        _ if load.ends_by_itself() => Stop::WhenUsersEnd,
        None => Stop::After(load.duration),
        Some(within) => Stop::UntilPrecise(Precision {
            quantile: 0.99,
            within,
            half_width: |quantile, parts| {
                let interval = stats::sectioned_interval(quantile, parts, 0.95)?;
                Some((interval.high - interval.low) / 2.0)
            },
            at_most: load.duration,
        }),
    }
}

/// Length of an interval of its record.
pub(crate) fn interval(load: &LoadSpec) -> Duration {
    if load.ends_by_itself() {
        INTERVAL
    } else {
        (load.duration / INTERVALS_AT_LEAST).clamp(INTERVAL_AT_LEAST, INTERVAL)
    }
}
