//! Runs the tests: engines, numbers of clients and rounds, one after the other.

use std::{
    collections::BTreeMap,
    fs::OpenOptions,
    io::{self, IsTerminal, Write},
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
};

use benchmarks::slap::{
    Clients, Engine, Plan, Planned, SlapLoad,
    layout::{self, TestReport},
};
use blame::{Blame, Blamed};
use experiment::{LoadSpec, PlannedLoad};
use load::{INTERVAL, LoadListener, Outcome, Stop, Termination};
use protocol::{Compression, Endpoint};
use results::{RecordPlace, audit_of_run, numbered};
use runs::{Context, Driver, LoadRules, SingleRun, Stage, Work, open_files, refuse_if_interrupted};
use samples::{Interval, PhaseMark};
use settings::{Chosen, OptionTable, Value, defaults};

use crate::{
    commands::{record_options::recorded_arguments, run::terminal_width},
    front_doors::mysqlslap::{
        main_connection::MainConnection,
        settings::{Output, Settings},
        system::run_command,
        tally::{Connecting, Tally},
    },
    output::write_out,
    progress::Step,
    terminal,
};

/// Result of a test.
enum RoundEnd {
    /// All rounds were run.
    Complete(Box<Tally>),
    /// A round was incomplete; the errors were already reported.
    Broken(Blame),
}

/// Runs all tests and prints their reports.
pub(super) fn run(settings: &Settings, endpoint: Endpoint) -> anyhow::Result<ExitCode> {
    let mut main = MainConnection::open(settings, &endpoint)?;
    let mut clients = endpoint.clone();
    clients.database = Some(settings.schema.clone());
    if settings.verbose >= 2 {
        println!("Parsing engines to use.\nStarting Concurrency Test");
    }
    let mut tests = Tests {
        settings,
        main: &mut main,
        endpoint: &clients,
        context: terminal::context()?,
        rounds: 0,
        connecting: Connecting::default(),
    };
    let ran = tests.run();
    let connecting = tests.connecting;
    let dropped = main.drop_schema();
    let code = ran?;
    dropped?;
    if settings.output != Output::Nothing && !settings.asks_for_more() {
        let (mean, longest) = connecting.times();
        eprintln!(
            "note: the seconds are the time in which statements ran; mysqlslap also counts connecting, which took {} \
             on average and {} at most",
            units::elapsed(mean),
            units::elapsed(longest)
        );
    }
    Ok(code)
}

struct Tests<'t, 's> {
    settings: &'s Settings,
    main: &'t mut MainConnection<'s>,
    endpoint: &'t Endpoint,
    context: Context,
    /// Number of rounds begun, in all tests.
    rounds: u64,
    /// Connection statistics of all tests.
    connecting: Connecting,
}

impl Tests<'_, '_> {
    fn run(&mut self) -> anyhow::Result<ExitCode> {
        let settings = self.settings;
        let mut worst = ExitCode::SUCCESS;
        for engine in settings.engines_or_none() {
            for clients in &settings.concurrency {
                let tally = match self.test(engine, *clients)? {
                    RoundEnd::Complete(tally) => tally,
                    RoundEnd::Broken(blame) => return Ok(ExitCode::from(blame as u8)),
                };
                self.connecting.add(tally.connecting());
                print_report(settings, &tally.report(settings, engine))?;
                if let Some(shortfall) = tally.shortfall() {
                    eprintln!("warning: the rate was not reached {shortfall}");
                    worst = ExitCode::from(Blame::Answer as u8);
                }
                if tally.has_failures() {
                    worst = ExitCode::from(Blame::Server as u8);
                }
            }
        }
        Ok(worst)
    }

    /// All rounds with one engine and one number of clients.
    fn test(&mut self, engine: Option<&Engine>, clients: u32) -> anyhow::Result<RoundEnd> {
        open_files::provide_for(clients.into())?;
        note_remainder(self.settings, clients);
        let mut tally = Tally::default();
        for _ in 0..self.settings.iterations {
            // Between two rounds nothing else says that a signal ended it.
            refuse_if_interrupted()?;
            let outcome = self.round(engine, clients, &mut tally)?;
            tally.print(self.settings, &outcome);
            match outcome.ended {
                Termination::Planned => {}
                Termination::Interrupted => return Ok(RoundEnd::Broken(Blame::Interrupted)),
                Termination::ServerLost(_) | Termination::Failed { .. } => {
                    return Ok(RoundEnd::Broken(Blame::Server));
                }
            }
        }
        self.settings.say("Generating stats");
        Ok(RoundEnd::Complete(Box::new(tally)))
    }

    /// One round, from creating the tables to the work after the clients.
    fn round(
        &mut self,
        engine: Option<&Engine>,
        clients: u32,
        tally: &mut Tally,
    ) -> anyhow::Result<Outcome> {
        let settings = self.settings;
        self.main.make(engine)?;
        settings.say("Generating primary key list");
        let (per_client, one_more) = match settings.per_client(clients) {
            Some((share, one_more)) => (Some(share), one_more),
            None => (None, 0),
        };
        let plan = Plan::new(Planned {
            statements: settings.queries.clone(),
            keys: self.main.keys()?,
            per_client,
            one_more,
            commit_every: settings.commit_every,
            reconnect_every: settings.reconnect_every,
            on_connect: settings.on_connect.clone(),
            seed: settings.seed,
            echo: (settings.verbose >= 3).then_some(echo as fn(&[&[u8]])),
        });
        if let Some(command) = &settings.pre_system {
            run_command(command, "pre_system")?;
        }
        self.main.run_all(&settings.pre_query)?;
        self.rounds += 1;
        let plan = Arc::new(plan);
        let outcome = self.drive(engine, Arc::clone(&plan), clients)?;
        tally.add(&plan, &outcome);
        // After a failure the server is not changed, except for the schema.
        if outcome.ended == Termination::Planned {
            self.main.run_all(&settings.post_query)?;
            if let Some(command) = &settings.post_system {
                run_command(command, "post_system")?;
            }
        }
        Ok(outcome)
    }

    fn drive(
        &self,
        engine: Option<&Engine>,
        plan: Arc<Plan>,
        clients: u32,
    ) -> anyhow::Result<Outcome> {
        let settings = self.settings;
        let load = load(settings, clients);
        let rules = LoadRules {
            stop: settings.duration.map_or(Stop::WhenUsersEnd, Stop::After),
            ..LoadRules::of_command(&load.spec)
        };
        let mut work = Clients::new(settings.program, plan);
        let mut progress = Progress::new(settings);
        let Some(record) = &settings.record else {
            let driver = Driver::unrecorded(self.endpoint.clone(), &load, rules, &self.context);
            return Ok(work.drive(&driver, &mut progress)?);
        };
        let place = RecordPlace::claim(Some(&self.record_path(record)), "")?;
        let path = place.path();
        let stage = Stage::of(self.endpoint.clone(), None, &self.context)?;
        let single = SingleRun {
            name: settings
                .label
                .clone()
                .unwrap_or_else(|| settings.program.to_owned()),
            settings: recorded_settings(settings, self.endpoint, engine, clients),
            arguments: recorded_arguments(),
            load,
            rules,
            stage: &stage,
            sample_every: settings.sample_every,
            path,
            context: &self.context,
        };
        let recorded = single.record(&mut work, Some(&mut progress))?;
        eprintln!("record: {}", path.display());
        // In addition to the report, which equals mysqlslap's byte for byte.
        let audit = audit_of_run(&recorded.record);
        eprint!("{}", ::report::audit_in_short(&audit, terminal_width()));
        Ok(recorded.outcome)
    }

    /// The file itself if there is one round, otherwise with the round's number after its name.
    fn record_path(&self, record: &Path) -> PathBuf {
        let settings = self.settings;
        let tests = settings.engines_or_none().len() * settings.concurrency.len();
        if tests as u64 * settings.iterations == 1 {
            return record.to_owned();
        }
        numbered(record, &self.rounds.to_string())
    }
}

/// The load of a round, as an experiment has it.
fn load(settings: &Settings, clients: u32) -> PlannedLoad {
    let mut values = defaults(SlapLoad.options());
    values.set("commit", Value::Count(settings.commit_every));
    values.set("detach", Value::Count(settings.reconnect_every));
    let source = Chosen {
        kind: &SlapLoad as _,
        values,
    };
    PlannedLoad {
        spec: LoadSpec {
            arrivals: settings.arrivals,
            loops: settings.loops,
            on_error: settings.on_error,
            // Without a time, the clients end by themselves.
            ..LoadSpec::closed(source, clients, settings.duration.unwrap_or(INTERVAL))
        },
        seed: settings.seed,
    }
}

/// The record's lines about its round.
fn recorded_settings(
    settings: &Settings,
    endpoint: &Endpoint,
    engine: Option<&Engine>,
    clients: u32,
) -> BTreeMap<String, String> {
    let mut recorded = BTreeMap::from([
        ("concurrency".to_owned(), clients.to_string()),
        ("load-type".to_owned(), settings.load_type.clone()),
        ("commit".to_owned(), settings.commit_every.to_string()),
        ("detach".to_owned(), settings.reconnect_every.to_string()),
    ]);
    if endpoint.compression != Compression::Off {
        recorded.insert("compress".to_owned(), "true".to_owned());
    }
    if let Some(engine) = engine {
        recorded.insert("engine".to_owned(), engine.name.clone());
    }
    recorded
}

/// Reports statements lost by mysqlslap's division, or a share of 0 that becomes one pass.
fn note_remainder(settings: &Settings, clients: u32) {
    let super::values::Limit::Together(count) = settings.limit else {
        return;
    };
    if settings.remainder || settings.output == Output::Nothing {
        return;
    }
    let (share, left) = (count / u64::from(clients), count % u64::from(clients));
    if share == 0 {
        eprintln!(
            "note: {count} statements are fewer than {clients} clients: each runs its list once, as in mysqlslap; \
             with --remainder {count} clients run one statement each"
        );
    } else if left > 0 {
        eprintln!(
            "note: {left} of {count} statements are not run: {clients} clients run {share} each, as in mysqlslap; \
             --remainder runs them, too"
        );
    }
}

/// Prints a test's result in the requested form; CSV is appended to a file.
pub(super) fn print_report(settings: &Settings, report: &TestReport) -> anyhow::Result<()> {
    match &settings.output {
        Output::Nothing => Ok(()),
        Output::Text => Ok(write_out(layout::text(report).as_bytes())?),
        Output::Csv(None) => Ok(write_out(layout::csv(report).as_bytes())?),
        Output::Csv(Some(path)) => {
            let file = OpenOptions::new().create(true).append(true).open(path);
            let written = file.and_then(|mut file| file.write_all(layout::csv(report).as_bytes()));
            Ok(written.map_err(|error| {
                Blamed::new(
                    Blame::Machine,
                    format!("--csv: {}: {error}", path.display()),
                )
            })?)
        }
    }
}

/// Prints an action of a client.
fn echo(line: &[&[u8]]) {
    let mut stdout = crate::output::data();
    // A closed pipe is ignored; a full disk is reported with the report.
    let _ = line
        .iter()
        .try_for_each(|piece| stdout.write_all(piece))
        .and_then(|()| stdout.write_all(b"\n"));
}

/// A progress line on the terminal while the clients run.
struct Progress {
    step: Option<Step>,
}

impl Progress {
    fn new(settings: &Settings) -> Self {
        let is_shown = io::stderr().is_terminal()
            && settings.output != Output::Nothing
            && settings.record.is_none();
        Self {
            step: is_shown.then(|| Step::spinner("connecting")),
        }
    }

    fn say(&self, what: String) {
        if let Some(step) = &self.step {
            step.say(what);
        }
    }
}

impl LoadListener for Progress {
    fn connected(&mut self, open: u64, total: u64) {
        self.say(format!("{open} of {total} connected"));
    }

    fn started(&mut self) {}

    fn phase(&mut self, _mark: PhaseMark) {}

    fn interval(&mut self, interval: Interval) {
        let per_s = interval.succeeded() as f64 / interval.length_s;
        self.say(format!("{per_s:.0} queries per second"));
    }
}
