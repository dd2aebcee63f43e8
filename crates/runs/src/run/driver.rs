//! Drives the users of a run as its experiment or its command specifies: their number, arrivals and duration.

use std::{sync::Arc, time::Duration};

use blame::Blamed;
use experiment::{LoadSpec, PlannedLoad, PlannedRun};
use load::{
    Arrivals, Drain, Group, INTERVAL, Judge, Load, LoadListener, OnRefusal, Outcome, Precision,
    Stop, ToleratedFailures, Turns, User, default_loops,
};
use protocol::Endpoint;
use settings::{INTERVAL_AT_LEAST, PlannedStage};

use crate::{events, listener::Context, record::steady_judge};

/// A short run has about this many intervals: the detection of the steady state needs a dozen.
const INTERVALS_AT_LEAST: u32 = 20;

/// Shortest time limit of a search for its last operations. Most of those that are slower than a short limit
/// are completed by then, and the record shows how long they took.
const SEARCH_DRAIN_AT_LEAST: Duration = Duration::from_secs(1);

/// How a load ends and is recorded. What an experiment derives from its `[load]`, a command says.
#[derive(Debug, Clone, Copy)]
pub struct LoadRules {
    /// When it ends.
    pub stop: Stop,
    /// The time limit for operations in flight after the end.
    pub drain: Drain,
    /// Length of an interval of its record.
    pub interval: Duration,
    /// Judges whether it is steady.
    pub judge: Judge,
    /// The failures that the events of its run cause.
    pub tolerated: ToleratedFailures,
    /// Connections in the first line of its record, by which its event loops are chosen. An experiment leaves out those that
    /// its clients have in the background.
    pub connections: u32,
}

impl LoadRules {
    /// Those of a load of an experiment's run.
    pub(crate) fn of(run: &PlannedRun, load: &LoadSpec) -> Self {
        Self {
            stop: stop(load),
            drain: drain(load),
            interval: interval_of(load),
            judge: if run.events.is_empty() {
                steady_judge::judge
            } else {
                steady_judge::judge_warm_up
            },
            tolerated: events::tolerated(run),
            connections: load.connections,
        }
    }

    /// Those of the load of a run side by side: it ends with those that it takes turns with.
    pub(crate) fn side_by_side(run: &PlannedRun, load: &LoadSpec) -> Self {
        Self {
            stop: Stop::WhenTold,
            ..Self::of(run, load)
        }
    }

    /// Those of a command's load: it ends after its duration, and its record has intervals of the usual length.
    pub fn of_command(load: &LoadSpec) -> Self {
        Self {
            stop: Stop::After(load.duration),
            drain: Drain::USUAL,
            interval: INTERVAL,
            judge: steady_judge::judge,
            tolerated: ToleratedFailures::default(),
            connections: load.connections,
        }
    }

    /// Event loops of a load with these rules.
    pub(crate) fn loops(&self, load: &LoadSpec) -> u32 {
        load.loops
            .unwrap_or_else(|| default_loops(self.connections, &load.arrivals))
            .min(loops_at_most(self.connections, &load.stages))
    }
}

/// Drives the users of one load of a run.
pub struct Driver<'a> {
    /// Endpoint of the users' connections; `None` for a load without a server.
    pub(crate) endpoint: Option<Endpoint>,
    /// Endpoint of the control connections; `None` for a load without a server.
    pub(crate) control: Option<Endpoint>,
    /// The load that these users are.
    pub load: &'a PlannedLoad,
    /// How it ends and is recorded.
    pub rules: LoadRules,
    /// The turns in which it has operations; `None` for a load that has all of its time.
    pub(crate) turns: Option<Arc<Turns>>,
    /// Ends it early, and receives messages.
    pub context: &'a Context,
}

impl<'a> Driver<'a> {
    /// For a command's load that has no record.
    pub fn unrecorded(
        endpoint: Endpoint,
        load: &'a PlannedLoad,
        rules: LoadRules,
        context: &'a Context,
    ) -> Self {
        Self {
            control: Some(endpoint.clone()),
            endpoint: Some(endpoint),
            load,
            rules,
            turns: None,
            context,
        }
    }

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

    pub fn users(&self) -> u32 {
        self.load.spec.connections
    }

    /// Seed of the users' draws.
    pub fn seed(&self) -> u64 {
        self.load.seed
    }

    /// The load of one group of users, as the experiment or the command specifies it.
    pub fn load<U: User>(&self, group: Group<U>) -> Load<U> {
        let spec = &self.load.spec;
        Load {
            groups: vec![group],
            loops: self.rules.loops(spec),
            spin: spec.spin,
            arrivals: spec.arrivals,
            stages: spec.stages.clone(),
            turns: self.turns.clone(),
            seed: self.load.seed,
            warm_up: spec.warmup,
            judge: self.rules.judge,
            stop: self.rules.stop,
            drain: self.rules.drain,
            on_refusal: on_refusal(spec),
            on_error: spec.on_error,
            tolerated: self.rules.tolerated,
            interval: self.rules.interval,
        }
    }

    pub fn drive<U: User + 'static>(
        &self,
        load: Load<U>,
        observer: &mut dyn LoadListener,
    ) -> Result<Outcome, Blamed> {
        Ok(load::drive(load, &self.context.interrupt, observer)?)
    }
}

/// The most event loops that this number of connections, or of the stages, can use.
fn loops_at_most(connections: u32, stages: &[PlannedStage]) -> u32 {
    // Each loop has a part of a rate, for which it needs a connection in every stage.
    let with_rate = stages.iter().filter(|stage| stage.rate_per_s.is_some());
    let fewest = with_rate.map(|stage| stage.connections.from.min(stage.connections.to));
    fewest.min().unwrap_or(connections)
}

/// Of an open loop the backlog is worked off meanwhile, which has its own limit. A search has to know whether an operation
/// keeps the limit, and no more: each of its overloaded runs would wait for the whole usual drain.
fn drain(load: &LoadSpec) -> Drain {
    if let Some(find) = &load.find {
        return Drain::AtMost(find.limit.max(SEARCH_DRAIN_AT_LEAST));
    }
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
fn interval_of(load: &LoadSpec) -> Duration {
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
    use std::collections::BTreeMap;

    use experiment::FindSpec;
    use settings::{Chosen, Level, Values};

    use super::*;

    /// A closed loop of 8 connections for 10 s.
    fn closed() -> LoadSpec {
        let source = Chosen {
            kind: &benchmarks::script::ScriptLoad as _,
            values: Values::default(),
        };
        LoadSpec::closed(source, 8, Duration::from_secs(10))
    }

    #[test]
    fn a_search_waits_for_its_limit() {
        let drain_of = |limit: Duration| {
            drain(&LoadSpec {
                find: Some(FindSpec {
                    percentile: "p99",
                    quantile: 0.99,
                    limit,
                    from_per_s: None,
                    to_per_s: None,
                    precision: 0.05,
                }),
                ..closed()
            })
        };
        let second = Drain::AtMost(Duration::from_secs(1));
        assert_eq!(drain_of(Duration::from_millis(20)), second);
        let limit = Duration::from_secs(20);
        assert_eq!(drain_of(limit), Drain::AtMost(limit));
    }

    #[test]
    fn a_command_keeps_intervals_of_a_second_and_the_usual_drain() {
        let spec = LoadSpec {
            loops: Some(10),
            ..closed()
        };
        let load = PlannedLoad { spec, seed: 1 };
        let run = PlannedRun::of_command(BTreeMap::new(), "/s".to_owned(), load.clone());
        let of_experiment = LoadRules::of(&run, &load.spec);
        let half_a_second = Duration::from_millis(500);
        assert_eq!(of_experiment.interval, half_a_second);
        let as_long = Drain::AtMost(load.spec.duration);
        assert_eq!(of_experiment.drain, as_long);
        let of_command = LoadRules::of_command(&load.spec);
        assert_eq!(of_command.interval, INTERVAL);
        assert_eq!(of_command.drain, Drain::USUAL);
        for rules in [of_experiment, of_command] {
            assert!(matches!(rules.stop, Stop::After(time) if time == load.spec.duration));
            assert_eq!(rules.loops(&load.spec), 8);
        }
        let in_turns = LoadRules::side_by_side(&run, &load.spec);
        assert!(matches!(in_turns.stop, Stop::WhenTold));
        assert_eq!(in_turns.interval, half_a_second);
        let with_background = LoadRules {
            connections: 11,
            ..of_command
        };
        assert_eq!(with_background.loops(&load.spec), 10);
    }

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
