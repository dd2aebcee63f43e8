//! Drives the workers of one client and converts the results to the original's report.

use std::{
    collections::BTreeMap,
    io::IsTerminal,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use benchmarks::smack::{
    BarrelOptions, ClientIndex, ClientPlan, ClientWorkers, Clients, ConnectFigures, Figures,
    QueryTypeFigures, SmackLoad, UNCOUNTED, keys_of,
    layout::{BarrelReport, QueryType, Spread, TimeUnit, render},
};
use blame::{Blame, Blamed};
use experiment::{LoadSpec, PlannedLoad};
use load::{INTERVAL, LoadListener, Outcome, Stop, Termination};
use protocol::Endpoint;
use results::{RecordPlace, audit_of_run};
use runs::{Driver, LoadRules, SingleRun, Stage, Work, open_files};
use samples::{Connects, Interval, PhaseMark};
use settings::{Chosen, Value, Values};

use crate::{
    commands::{record_options::recorded_arguments, run::terminal_width},
    front_doors::super_smack::shared_state::SharedState,
    progress::Step,
};

/// Results of a client's workers.
pub(super) struct WorkerResults {
    report: BarrelReport,
    /// A statement failed for good.
    pub(super) failed: bool,
    /// The workers did not complete their work.
    pub(super) stopped: bool,
}

pub(super) struct Workers {
    pub(super) client: usize,
    pub(super) first: ClientIndex,
    /// File of their record, if requested.
    pub(super) record: Option<PathBuf>,
}

/// Runs the workers of a client to their end; errors are counted and reported on standard error.
pub(super) fn crew(
    shared: &SharedState,
    workers: &Workers,
    crew: &ClientWorkers,
) -> anyhow::Result<WorkerResults> {
    let client = workers.client;
    let name = shared.script.clients[client].name.clone();
    let firing = BarrelOptions {
        mix: None,
        stages: Some(&crew.stages),
    };
    let dictionaries = Arc::clone(&shared.dictionaries);
    let plan =
        ClientPlan::new(&shared.script, dictionaries, &name, firing).map_err(Blamed::from)?;
    let users = u32::try_from(crew.threads).map_err(|_| {
        let message = format!("create_threads({}): too many clients", crew.threads);
        Blamed::new(Blame::Input, message)
    })?;
    open_files::provide_for(users.into())?;
    let load = load(shared, &name, users);
    let rules = LoadRules {
        stop: Stop::WhenUsersEnd,
        ..LoadRules::of_command(&load.spec)
    };
    let mut clients = Clients {
        client: name.clone(),
        first: workers.first,
        plan: Arc::new(plan),
        keys: Vec::new(),
    };
    let outcome = match &workers.record {
        Some(record) => {
            clients.keys = keys_of(&shared.script, &name, &clients.plan, &shared.dictionaries);
            recorded(shared, client, &mut clients, (load, rules), record)?
        }
        None => {
            let endpoint = Endpoint::clone(shared.endpoints.of(client));
            let driver = Driver::unrecorded(endpoint, &load, rules, &shared.context);
            clients.drive(&driver, &mut Progress::new(&name))?
        }
    };
    tell_errors(&outcome);
    Ok(WorkerResults {
        failed: outcome.ended != Termination::Planned
            || outcome.unfinished > 0
            || outcome.connects.iter().any(|connects| connects.errors > 0)
            || outcome.totals.iter().any(|total| total.errors > 0),
        stopped: outcome.ended != Termination::Planned,
        report: report(name, crew.threads, &outcome),
    })
}

/// The load of a client's workers, as an experiment has it.
fn load(shared: &SharedState, client: &str, workers: u32) -> PlannedLoad {
    let mut values = Values::default();
    values.set("client", Value::Text(client.to_owned()));
    let source = Chosen {
        kind: &SmackLoad as _,
        values,
    };
    PlannedLoad {
        spec: LoadSpec {
            loops: shared.loops,
            on_error: shared.on_error,
            // The workers end by themselves.
            ..LoadSpec::closed(source, workers, INTERVAL)
        },
        seed: shared.seed,
    }
}

/// Drives the workers and writes a record; the grade of its audit is printed in addition to the report, which equals
/// Super Smack's byte for byte.
fn recorded(
    shared: &SharedState,
    client: usize,
    clients: &mut Clients,
    (load, rules): (PlannedLoad, LoadRules),
    record: &Path,
) -> anyhow::Result<Outcome> {
    let place = RecordPlace::claim(Some(record), "")?;
    let endpoint = Endpoint::clone(shared.endpoints.of(client));
    let stage = Stage::of(endpoint, None, &shared.context)?;
    let workers = load.spec.connections.to_string();
    let arguments = ("arguments".to_owned(), shared.arguments.join(" "));
    let single = SingleRun {
        name: format!("super-smack {}", clients.client),
        settings: BTreeMap::from([arguments, ("workers".to_owned(), workers)]),
        arguments: recorded_arguments(),
        load,
        rules,
        stage: &stage,
        sample_every: shared.sample_every,
        path: place.path(),
        context: &shared.context,
    };
    let recorded = single.record(clients, None)?;
    eprintln!("record: {}", place.path().display());
    let audit = audit_of_run(&recorded.record);
    eprint!("{}", ::report::audit_in_short(&audit, terminal_width()));
    Ok(recorded.outcome)
}

/// Reports every kind of error once, with its number and count.
fn tell_errors(outcome: &Outcome) {
    for error in &outcome.errors {
        let retried = match error.retried {
            0 => String::new(),
            retried => format!(", {retried} retried with success"),
        };
        let number = error.in_words();
        eprintln!(
            "{}: {} x {number}{retried}: {}",
            error.operation, error.count, error.message
        );
    }
    match &outcome.ended {
        // An interruption is said once, at the end of all clients.
        Termination::Planned | Termination::Interrupted => {}
        Termination::ServerLost(failure) => {
            eprintln!("error: super-smack: the server went away: {failure}");
        }
        Termination::Failed { operation, failure } => {
            eprintln!("error: super-smack: aborting on failed query: {operation}: {failure}");
            eprintln!(
                "hint: --on-error count continues, --on-error retry also repeats after a deadlock"
            );
        }
    }
    let refused: u64 = outcome.connects.iter().map(|it| it.errors).sum();
    if refused > 0 {
        let open: u64 = outcome.connects.iter().map(|it| it.count).sum();
        let asked = open + refused;
        eprintln!("error: super-smack: {open} of {asked} connections were open");
    }
    if outcome.unfinished > 0 {
        eprintln!("warning: {} queries were not answered", outcome.unfinished);
    }
}

fn report(client: String, workers: u64, outcome: &Outcome) -> BarrelReport {
    let seconds = outcome.elapsed.as_secs_f64();
    let query_types = outcome
        .totals
        .iter()
        .filter(|total| total.operation != UNCOUNTED)
        .map(|total| QueryType {
            name: total.operation.clone(),
            num_queries: total.count,
            max_time: Duration::from_nanos(total.max_ns),
            min_time: Duration::from_nanos(total.min_ns),
            q_per_s: if seconds > 0.0 {
                total.count as f64 / seconds
            } else {
                0.0
            },
        })
        .collect();
    BarrelReport {
        client,
        workers,
        connect: outcome.connects.first().map(spread).unwrap_or_default(),
        query_types,
    }
}

fn spread(connects: &Connects) -> Spread {
    Spread {
        max: Duration::from_nanos(connects.max_ns),
        min: Duration::from_nanos(connects.min_ns),
        avg: Duration::from_nanos(connects.sum_ns.checked_div(connects.count).unwrap_or(0)),
    }
}

impl WorkerResults {
    /// The report in the original's layout.
    pub(super) fn layout(&self, unit: TimeUnit) -> String {
        render(&self.report, unit)
    }

    /// The report's figures for main's expressions.
    pub(super) fn figures(&self, unit: TimeUnit) -> Figures {
        let whole = |time| unit.whole(time) as f64;
        let connect = self.report.connect;
        Figures {
            connect: ConnectFigures {
                max: whole(connect.max),
                min: whole(connect.min),
                avg: whole(connect.avg),
            },
            query_types: self
                .report
                .query_types
                .iter()
                .map(|row| {
                    let figures = QueryTypeFigures {
                        num_queries: row.num_queries as f64,
                        max_time: whole(row.max_time),
                        min_time: whole(row.min_time),
                        q_per_s: row.q_per_s,
                    };
                    (row.name.clone(), figures)
                })
                .collect(),
        }
    }
}

/// A progress line on the terminal while the workers run.
struct Progress<'n> {
    client: &'n str,
    step: Option<Step>,
}

impl<'n> Progress<'n> {
    fn new(client: &'n str) -> Self {
        let step = std::io::stderr()
            .is_terminal()
            .then(|| Step::spinner(format!("{client}: connecting")));
        Self { client, step }
    }
}

impl LoadListener for Progress<'_> {
    fn connected(&mut self, open: u64, total: u64) {
        if let Some(step) = &self.step {
            step.say(format!("{}: {open} of {total} connected", self.client));
        }
    }

    fn started(&mut self) {}

    fn phase(&mut self, _mark: PhaseMark) {}

    fn interval(&mut self, interval: Interval) {
        if let Some(step) = &self.step {
            let queries = interval.succeeded();
            step.say(format!(
                "{}: {:.0} queries per second",
                self.client,
                queries as f64 / interval.length_s
            ));
        }
    }
}
