//! One run: drives the load on its stage and records everything.

use std::{path::Path, sync::Arc, time::Duration};

use experiment::{LoadSpec, OnError, Pacing, PlannedRun, Process, ThinkTime, WarmUp};
use load::{
    Arrivals, Drain, Ended, Group, Interrupt, Load, Outcome, Precision, Stop, default_loops,
};
use protocol::{Compression, Connection, Endpoint};
use samples::{Keys, Line, Loaded, RunHeader};
use workload::{
    User,
    smack::{ClientPlan, Seat, SmackUser},
    tpch::{TableLoad, TableLoader},
};

use super::{
    control::Purpose,
    recording::{Recording, RunProgress},
    redo_log::RedoLogOff,
    sampling::Cadence,
    shortcoming::no_result,
    stage::Stage,
    steady,
    table_load::disk_bytes,
    tpcc::data::Terminals,
    tpch_data,
};
use crate::{
    blame::{Blame, Blamed},
    open_files,
};

/// Intervals of a record are this long, unless the run is short.
const INTERVAL: Duration = Duration::from_secs(1);
/// A short run is cut into about this many intervals: the search for the steady state needs a dozen.
const INTERVALS_AT_LEAST: u32 = 20;
/// No interval is shorter: its own cost would show.
const INTERVAL_AT_LEAST: Duration = Duration::from_millis(100);
/// Retries of one operation after a deadlock.
const RETRIES_AT_MOST: u32 = 10;

/// What one run needs to know of its experiment.
pub(crate) struct Identity<'a> {
    pub(crate) experiment: &'a str,
    pub(crate) sha256: &'a str,
}

/// One run on its stage.
pub(crate) struct Execution<'a> {
    pub(crate) identity: Identity<'a>,
    pub(crate) run: &'a PlannedRun,
    pub(crate) stage: &'a Stage,
    pub(crate) work: Work,
    /// How often machine and server are looked at, where told.
    pub(crate) sample_every: Option<Duration>,
    pub(crate) interrupt: &'a Interrupt,
}

/// What the clients of a run do.
pub(crate) enum Work {
    /// The clients of a .smack file.
    Smack {
        /// The client type that runs.
        client: String,
        /// What every client fires.
        plan: Arc<ClientPlan>,
        /// Which keys they ask for.
        keys: Vec<Keys>,
    },
    /// The terminals of TPC-C.
    Tpcc(Terminals),
    /// The load of a table of TPC-H.
    Tpch {
        /// What the connections share.
        load: Arc<TableLoad>,
        /// Whether InnoDB's redo log is written meanwhile.
        redo_log: bool,
    },
}

impl Work {
    /// What the record says of it before it begins.
    fn known_before(&self) -> Vec<Line> {
        match self {
            Self::Smack { keys, .. } => keys.iter().cloned().map(Line::Keys).collect(),
            Self::Tpcc(terminals) => terminals
                .checked_before()
                .map(Line::Checked)
                .into_iter()
                .collect(),
            Self::Tpch { .. } => Vec::new(),
        }
    }
}

impl Execution<'_> {
    /// Drives the load and writes the record; an error leaves a record that says why it is incomplete.
    pub(crate) fn record(&self, path: &Path, progress: RunProgress<'_>) -> anyhow::Result<()> {
        let mut recording = Recording::begin(
            path,
            self.header(),
            self.stage,
            Cadence::new(self.sample_every, self.interval()),
            self.interrupt,
            progress,
        )?;
        if let Some(dataset) = &self.stage.dataset {
            recording.write(&Line::Dataset(dataset.clone()));
        }
        self.work
            .known_before()
            .iter()
            .for_each(|line| recording.write(line));
        let result = self.perform(&mut recording);
        recording.end(result.as_deref())?;
        result.map(drop)
    }

    /// Everything between the first and the last line; returns how the run ended.
    fn perform(&self, recording: &mut Recording<'_>) -> anyhow::Result<String> {
        Purpose::Work.control(&self.stage.endpoint, async |connection| {
            run_all(connection, &self.run.before).await?;
            // With what these statements set, for the load meets that.
            let server = self.stage.identify(connection, "start").await?;
            recording.write(&Line::Server(server));
            Ok(())
        })?;
        let outcome = self.drive(recording)?;
        // What is asked of the server afterwards is no part of it.
        let took_s = recording.elapsed_s();
        recording.outcome(&outcome);
        if let Work::Tpch { load, .. } = &self.work {
            let (rows, bytes) = load.brought();
            recording.write(&Line::Loaded(Loaded {
                // A server that died has nothing to say, and how the load ended is told below.
                disk_bytes: disk_bytes([load.table()].into_iter(), &self.stage.endpoint)
                    .ok()
                    .flatten(),
                ..Loaded::new(load.table(), rows, bytes, took_s)
            }));
        }
        let why = how_it_ended(&outcome)?;
        if let Work::Tpcc(terminals) = &self.work {
            terminals.check(&self.stage.endpoint, |checked| {
                recording.write(&Line::Checked(checked));
            })?;
        }
        Purpose::Work.control(&self.stage.endpoint, async |connection| {
            let server = self.stage.identify(connection, "end").await?;
            recording.write(&Line::Server(server));
            run_all(connection, &self.run.after).await
        })?;
        Ok(why)
    }

    /// How the clients connect; what looks after the run takes the shorter way.
    fn clients(&self) -> Endpoint {
        let way = self.run.server.way();
        let mut endpoint = self.stage.endpoint.clone();
        if way.compress {
            // It is what the run is about: without it, it would measure something else.
            endpoint.compression = Compression::Required;
        }
        endpoint.round_trip = way.round_trip;
        endpoint
    }

    /// The same in words, such as `tcp loopback, compressed, 500µs added to the round trip`.
    fn transport(&self) -> String {
        let way = self.run.server.way();
        let mut transport = self.stage.transport().to_owned();
        if way.compress {
            transport.push_str(", compressed");
        }
        if !way.round_trip.is_zero() {
            transport.push_str(&format!(", {:?} added to the round trip", way.round_trip));
        }
        transport
    }

    fn header(&self) -> RunHeader {
        let load = &self.run.load;
        let run = self.run;
        RunHeader {
            experiment_sha256: self.identity.sha256.to_owned(),
            run: run.run,
            block: run.block,
            transport: self.transport(),
            ..self.stage.header(
                self.identity.experiment,
                run.seed,
                &run.combination,
                load.connections,
                loops(load),
            )
        }
    }

    fn drive(&self, recording: &mut Recording<'_>) -> Result<Outcome, Blamed> {
        let endpoint = Arc::new(self.clients());
        let users = self.run.load.connections;
        open_files::provide_for(users.into())?;
        match &self.work {
            Work::Smack { client, plan, .. } => {
                let (plan, seed) = (Arc::clone(plan), self.run.seed);
                let group = Group {
                    name: client.clone(),
                    operations: plan.operations().to_vec(),
                    statements: Vec::new(),
                    users,
                    make: Box::new(move |index| {
                        let seat = Seat {
                            index: index.into(),
                            of: users.into(),
                        };
                        SmackUser::new(Arc::clone(&plan), Arc::clone(&endpoint), seat, seed)
                    }),
                };
                Ok(load::drive(self.load(group), self.interrupt, recording)?)
            }
            Work::Tpcc(terminals) => {
                let load = Load {
                    // The specification's transactions are tried again until they are in.
                    on_refusal: super::tpcc::terminals::ON_ERROR.on_refusal(),
                    on_error: super::tpcc::terminals::ON_ERROR,
                    ..self.load(terminals.group(users, &endpoint))
                };
                Ok(load::drive(load, self.interrupt, recording)?)
            }
            Work::Tpch { load, redo_log } => {
                let load = Arc::clone(load);
                let group = Group {
                    name: tpch_data::DATABASE.to_owned(),
                    operations: load.operations().to_vec(),
                    statements: Vec::new(),
                    users,
                    make: Box::new(move |_| {
                        TableLoader::new(Arc::clone(&load), Arc::clone(&endpoint))
                    }),
                };
                let load = self.load(group);
                if *redo_log {
                    return Ok(load::drive(load, self.interrupt, recording)?);
                }
                let off = RedoLogOff::switch_off(&self.stage.endpoint)?;
                let outcome = load::drive(load, self.interrupt, recording)?;
                off.switch_on()?;
                Ok(outcome)
            }
        }
    }

    fn load<U: User>(&self, group: Group<U>) -> Load<U> {
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
            interval: self.interval(),
        }
    }

    fn interval(&self) -> Duration {
        let spec = &self.run.load;
        match spec.ends_by_itself() {
            true => INTERVAL,
            false => interval(spec.duration),
        }
    }
}

async fn run_all(
    connection: &mut Connection,
    statements: &[String],
) -> Result<(), protocol::Error> {
    for statement in statements {
        connection.query(statement.as_bytes()).await?;
    }
    Ok(())
}

/// How long a run may take at most, connecting excluded: warm-up and measurement.
pub(crate) fn expected(load: &LoadSpec) -> Duration {
    let warm_up = match load.warmup {
        WarmUp::Auto { at_most } => at_most,
        WarmUp::For(warm_up) => warm_up,
    };
    warm_up + load.duration
}

fn loops(load: &LoadSpec) -> u32 {
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

fn interval(duration: Duration) -> Duration {
    (duration / INTERVALS_AT_LEAST).clamp(INTERVAL_AT_LEAST, INTERVAL)
}

/// Why a load ended, in words, if it ended as planned and gave a result.
pub(super) fn how_it_ended(outcome: &Outcome) -> anyhow::Result<String> {
    match &outcome.ended {
        Ended::Planned => {
            if let Some(nothing) = no_result(outcome) {
                return Err(nothing.into());
            }
            let mut why = "as planned".to_owned();
            if let Some(stop) = &outcome.stop_why {
                why.push_str(&format!("; {stop}"));
            }
            if outcome.unfinished > 0 {
                why.push_str(&format!(
                    "; {} operations had not come back when the drain ended",
                    outcome.unfinished
                ));
            }
            if outcome.offered.not_started > 0 {
                why.push_str(&format!(
                    "; {} operations that were due had not begun",
                    outcome.offered.not_started
                ));
            }
            Ok(why)
        }
        Ended::Interrupted => Err(Blamed::new(Blame::Interrupted, "interrupted").into()),
        Ended::ServerLost(failure) => {
            Err(Blamed::new(Blame::Server, format!("the server went away: {failure}")).into())
        }
        Ended::Failed { operation, failure } => Err(Blamed::new(
            Blame::Server,
            format!("{operation}: error {}: {failure}", failure.number),
        )
        .hint("on_error = \"count\" or \"retry\" under [load] goes on after an error".to_owned())
        .into()),
    }
}
