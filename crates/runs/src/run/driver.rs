//! Drives the users of a run as its experiment specifies: their number, arrivals and duration.

use std::time::Duration;

use blame::Blamed;
use experiment::{LoadSpec, PlannedLoad, PlannedRun};
use load::{
    Arrivals, Drain, Group, INTERVAL, Load, Observer, OnRefusal, Outcome, Precision, Stop, User,
    default_loops,
};
use protocol::Endpoint;
use settings::{INTERVAL_AT_LEAST, PlannedStage};

use crate::{events, listener::Context, record::steady_judge};

/// A short run has about this many intervals: the detection of the steady state needs a dozen.
const INTERVALS_AT_LEAST: u32 = 20;

/// Drives the users of one load of a run.
pub struct Driver<'a> {
    /// Endpoint of the users' connections; `None` for a load without a server.
    pub(crate) endpoint: Option<Endpoint>,
    /// Endpoint of the control connections; `None` for a load without a server.
    pub(crate) control: Option<Endpoint>,
    /// The run.
    pub run: &'a PlannedRun,
    /// Its load that these users are.
    pub load: &'a PlannedLoad,
    /// Ends it early, and receives messages.
    pub context: &'a Context,
}

impl Driver<'_> {
    /// Endpoint of the users' connections; a load without a server must not ask for it.
    pub fn endpoint(&self) -> &Endpoint {
        let endpoint = self.endpoint.as_ref();
        endpoint.expect("a load on a server has a server")
    }

    /// Endpoint of the control connections of the run; a load without a server must not ask for it.
    pub fn control(&self) -> &Endpoint {
        let endpoint = self.control.as_ref();
        endpoint.expect("a load on a server has a server")
    }

    /// Number of users.
    pub fn users(&self) -> u32 {
        self.load.spec.connections
    }

    /// Seed of the users' draws.
    pub fn seed(&self) -> u64 {
        self.load.seed
    }

    /// The load of one group of users, as the experiment specifies it.
    pub fn load<U: User>(&self, group: Group<U>) -> Load<U> {
        let spec = &self.load.spec;
        Load {
            groups: vec![group],
            loops: loops(spec),
            spin: spec.spin,
            arrivals: spec.arrivals,
            stages: spec.stages.clone(),
            seed: self.load.seed,
            warm_up: spec.warmup,
            judge: if self.run.events.is_empty() {
                steady_judge::judge
            } else {
                steady_judge::judge_warm_up
            },
            stop: stop(spec),
            drain: drain(spec),
            on_refusal: on_refusal(spec),
            on_error: spec.on_error,
            tolerated: events::tolerated(self.run),
            interval: interval_of(spec),
        }
    }

    /// Drives the users.
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
        .unwrap_or_else(|| default_loops(load.connections, &load.arrivals))
        .min(loops_at_most(load.connections, &load.stages))
}

/// The most event loops that this number of connections, or of the stages, can use.
fn loops_at_most(connections: u32, stages: &[PlannedStage]) -> u32 {
    // Each loop has a part of a rate, for which it needs a connection in every stage.
    let with_rate = stages.iter().filter(|stage| stage.rate_per_s.is_some());
    let fewest = with_rate.map(|stage| stage.connections.from.min(stage.connections.to));
    fewest.min().unwrap_or(connections)
}

/// Of an open loop the backlog is worked off meanwhile, which has its own limit.
fn drain(load: &LoadSpec) -> Drain {
    match load.arrivals {
        Arrivals::Closed | Arrivals::Thinking(_) if !load.ends_by_itself() => {
            Drain::as_long_as(load.duration)
        }
        _ => Drain::USUAL,
    }
}

/// A stage with fewer connections than it is to have would be another one.
fn on_refusal(load: &LoadSpec) -> OnRefusal {
    if load.stages.is_empty() {
        load.on_error.on_refusal()
    } else {
        OnRefusal::Stop
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

/// Length of an interval of its record; each stage has a number of them, too. The recording of shorter ones than the
/// shortest would affect the run.
pub fn interval_of(load: &LoadSpec) -> Duration {
    if load.ends_by_itself() {
        INTERVAL
    } else {
        let shortest = load.stages.iter().map(|stage| stage.length).min();
        let length = shortest.unwrap_or(load.duration);
        (length / INTERVALS_AT_LEAST).clamp(INTERVAL_AT_LEAST, INTERVAL)
    }
}

#[cfg(test)]
mod tests {
    use settings::Level;

    use super::*;

    #[test]
    fn every_loop_has_a_connection_in_every_stage_with_a_rate() {
        let stage = |from, to, rate_per_s| PlannedStage {
            connections: Level { from, to },
            rate_per_s,
            length: Duration::from_secs(1),
        };
        let rate = Some(Level::constant(100.0));
        assert_eq!(loops_at_most(8, &[]), 8);
        let closed = [stage(1, 8, None), stage(8, 2, None)];
        assert_eq!(loops_at_most(8, &closed), 8);
        let open = [stage(4, 8, rate), stage(8, 2, rate)];
        assert_eq!(loops_at_most(8, &open), 2);
    }
}
