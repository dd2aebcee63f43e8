//! `dbdyno tpcc run`: terminals run the five transactions, and what they left is checked.

use std::{collections::BTreeMap, process::ExitCode, time::Duration};

use ::load::WarmUp;
use audit::Audit;
use benchmarks::tpcc::{
    DATABASE, DELIVERED, LoadOptions, Share, Tables, TerminalPlan, Terminals, TpccLoad, Violation,
    consistency::describe,
    create_procedures, deliveries,
    layout::{InputShare, Transactions, deliveries_text, text, violated_inputs_text},
    operations,
    terminal_groups::{Database, TerminalMode, connections, prepared_statements},
};
use blame::Blame;
use clap::ValueEnum;
use experiment::{LoadSpec, PlannedLoad};
use report::RunReport;
use results::audit_of_run;
use runs::{LoadRules, Purpose, Recorded, RunOutcome, SingleRun, database, shortcoming};
use settings::{Chosen, Value, Values};

use crate::{
    commands::{
        load_times::{self, time},
        record_options::{RecordOptions, recorded_arguments, write_report},
        run::terminal_width,
        tpcc::reported_terminals::ReportedTerminals,
    },
    connection_options::ConnectionOptions,
    terminal::{self},
};

/// The longest warm-up of `--warmup auto`.
const WARM_UP_AT_MOST: Duration = Duration::from_secs(120);

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Every terminal has a home warehouse and a home district. It draws its transactions from its own shuffled deck of 23
cards, and runs them one at a time, as prepared statements or as calls to stored procedures (--round-trips stored).
After a deadlock, a lock wait timeout, a changed record (error 1020) or a lost connection, dbdyno retries the
transaction and counts the retry. Any other error ends the run.

Exit codes:
  0   success
  1   the run left the database inconsistent, or its inputs did not follow the specification
  3   a connection was refused, a transaction failed permanently or was unanswered at the end,
      or no transaction succeeded")]
pub(crate) struct RunArgs {
    /// Number of warehouses to use [default: all]
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    warehouses: Option<u32>,
    /// Number of terminals (simulated users), each with its own connection
    #[arg(long, short, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    connections: u32,
    /// Length of the measurement, such as 60s or 5m
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = time)]
    duration: Duration,
    /// Unmeasured warm-up at the start of the run: a duration, or auto to wait until the throughput is steady
    #[arg(long, value_name = "TIME", default_value = "auto", value_parser = warm_up)]
    warmup: WarmUp,
    /// Keying and think times: none, or those in the TPC-C specification (spec)
    #[arg(long, value_enum, default_value = "none")]
    pacing: Pacing,
    /// How a transaction is sent: statement by statement (statements), or as one call to a stored procedure (stored);
    /// missing procedures are created
    #[arg(long, value_enum, default_value = "statements")]
    round_trips: RoundTrips,
    /// Where Delivery transactions run: on background connections, one for every four terminals (deferred), or on the
    /// terminal's own connection (inline)
    #[arg(long, value_enum, default_value = "deferred")]
    delivery: Delivery,
    /// Random seed for the transactions' inputs
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Number of event loops (threads that drive the connections) [default: derived from the numbers of connections and
    /// CPUs]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    loops: Option<u32>,
    /// Skip the consistency checks before and after the run
    #[arg(long)]
    no_check: bool,
    /// Print the response times of every transaction type, the statistics of the inputs, and every finding
    #[arg(short, long)]
    verbose: bool,
    #[command(flatten)]
    record: RecordOptions,
    #[command(flatten)]
    connection: ConnectionOptions,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Pacing {
    None,
    Spec,
}

impl Pacing {
    /// The option's value.
    fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Spec => "spec",
        }
    }
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Delivery {
    Deferred,
    Inline,
}

impl Delivery {
    /// The option's value.
    fn name(self) -> &'static str {
        match self {
            Self::Deferred => "deferred",
            Self::Inline => "inline",
        }
    }
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum RoundTrips {
    Statements,
    Stored,
}

impl RoundTrips {
    /// The option's value.
    fn name(self) -> &'static str {
        match self {
            Self::Statements => "statements",
            Self::Stored => "stored",
        }
    }
}

pub(super) fn run(args: RunArgs) -> anyhow::Result<ExitCode> {
    let load = load(&args);
    let mode = mode(&args, &load);
    let place = args.record.place("tpcc")?;
    let path = place.path();
    let endpoint = args.connection.endpoint_of_tables(DATABASE)?;
    let context = terminal::context()?;
    let prepared = prepared_statements(args.connections, mode);
    let fewer = "fewer --connections";
    let stage = args.record.stage(endpoint, prepared, fewer, &context)?;
    let endpoint = stage.server();
    let database = Database::look(endpoint)?;
    let warehouses = args.warehouses.unwrap_or(database.warehouses);
    if warehouses > database.warehouses {
        let what = format!(
            "it has {} warehouses, not {warehouses}",
            database.warehouses
        );
        return Err(database::conflict(endpoint, what).into());
    }
    let plan = database.plan(warehouses, mode, args.seed);
    let terminals = Terminals::new(plan, !args.no_check, Tables::Found, endpoint, &context)?;
    if database.notes.is_none() {
        eprintln!(
            "note: another tool loaded this database. The constant of its last names is unknown, so clause 2.1.6.1 \
             (C-Delta) cannot be kept; the run's constant comes from the seed"
        );
    }
    if matches!(args.round_trips, RoundTrips::Stored) {
        let created = Purpose::Change.control(endpoint, create_procedures)?;
        if created > 0 {
            eprintln!("created {created} stored procedures, which dbdyno tpcc cleanup removes");
        }
    }
    let single = SingleRun {
        name: "tpcc".to_owned(),
        settings: recorded_settings(&args, terminals.plan()),
        arguments: recorded_arguments(),
        rules: LoadRules {
            connections: connections(args.connections, mode.deliveries),
            ..LoadRules::of_command(&load.spec)
        },
        load,
        stage: &stage,
        sample_every: args.record.sample_every,
        path,
        context: &context,
    };
    eprintln!("{}", schedule(&args));
    let mut terminals = ReportedTerminals::new(terminals);
    let recorded = single.record(&mut terminals, None)?;
    let (plan, found_after) = (terminals.plan(), terminals.found());
    let transactions = transactions(&recorded);
    let inputs = plan.tally.total().audit(warehouses);
    let audit = audit_of_run(&recorded.record);
    if args.verbose {
        print!(
            "{}",
            whole_report(&transactions, &recorded, &inputs, &audit)
        );
    } else {
        let report = RunReport::of(&recorded.record, &[]);
        let answer = transactions.answer();
        print!(
            "{}",
            report.summary_of(&answer, &audit, path, terminal_width())
        );
        print!("{}", violated_inputs_text(&told_inputs(&inputs)));
    }
    let is_paced = matches!(args.pacing, Pacing::Spec);
    let are_delivered =
        recorded.record.deliveries.as_ref().is_none_or(|all| {
            deliveries::are_allowed(all, transactions.p90_s(DELIVERED), is_paced)
        });
    write_report(recorded.record, audit, path)?;
    if let Some(error) = recorded.failed {
        return Err(error.into());
    }
    let new = found_after?;
    if let Some(new) = &new {
        print!("{}", told_after(new));
    }
    if let Some(error) = shortcoming([RunOutcome::from(&recorded.outcome)]) {
        return Err(error.into());
    }
    let is_consistent = new.is_none_or(|new| new.is_empty());
    let is_valid =
        is_consistent && are_delivered && !inputs.iter().any(|share| share.is_violated());
    Ok(if is_valid {
        ExitCode::SUCCESS
    } else {
        println!("this result is not valid");
        ExitCode::from(Blame::Answer as u8)
    })
}

/// The load, as an experiment has it.
fn load(args: &RunArgs) -> PlannedLoad {
    let mut values = Values::default();
    values.set("pacing", Value::Choice(args.pacing.name()));
    values.set("delivery", Value::Choice(args.delivery.name()));
    values.set("check", Value::Flag(!args.no_check));
    let source = Chosen {
        kind: &TpccLoad as _,
        values,
    };
    PlannedLoad {
        spec: LoadSpec {
            warmup: args.warmup,
            loops: args.loops,
            ..LoadSpec::closed(source, args.connections, args.duration)
        },
        seed: args.seed,
    }
}

fn mode(args: &RunArgs, load: &PlannedLoad) -> TerminalMode {
    TerminalMode {
        round_trips: match args.round_trips {
            RoundTrips::Statements => benchmarks::tpcc::RoundTrips::Statements,
            RoundTrips::Stored => benchmarks::tpcc::RoundTrips::Stored,
        },
        ..TerminalMode::of(LoadOptions::of(&load.spec.source.values))
    }
}

fn told_after(new: &[Violation]) -> String {
    match new {
        [] => "consistency: every condition that held before the run holds after it\n".to_owned(),
        new => {
            let told = new.iter();
            told.map(|violation| format!("after the run, {}\n", describe(violation)))
                .collect()
        }
    }
}

fn transactions(recorded: &Recorded) -> Transactions {
    let mut names = operations();
    if recorded.record.deliveries.is_some() {
        names.push(DELIVERED.to_owned());
    }
    let mut transactions = Transactions::new(&names);
    transactions.add_totals(&recorded.record.totals());
    transactions
}

/// Everything that is known of the run.
fn whole_report(
    transactions: &Transactions,
    recorded: &Recorded,
    inputs: &[Share],
    audit: &Audit,
) -> String {
    let record = &recorded.record;
    let mut all = text(transactions, &record.errors, &told_inputs(inputs));
    all.extend(record.deliveries.as_ref().map(deliveries_text));
    let limit = ::report::limit_in_words(record);
    all.extend(limit.map(|limit| format!("limited by: {limit}\n")));
    all + &::report::audit_in_short(audit, terminal_width())
}

fn told_inputs(inputs: &[Share]) -> Vec<InputShare> {
    let inputs = inputs.iter();
    let told = inputs.map(|share| InputShare {
        what: share.what.to_owned(),
        share: share.share,
        bounds: (share.low, share.high),
        is_violated: share.is_violated(),
    });
    told.collect()
}

/// What the run was asked to do, for its record.
fn recorded_settings(args: &RunArgs, plan: &TerminalPlan) -> BTreeMap<String, String> {
    let constants = plan.constants;
    let pairs = [
        ("warehouses", plan.warehouses.to_string()),
        ("pacing", args.pacing.name().to_owned()),
        ("round_trips", args.round_trips.name().to_owned()),
        ("delivery", args.delivery.name().to_owned()),
        ("c_last", constants.last_name.to_string()),
        ("c_id", constants.customer.to_string()),
        ("c_item", constants.item.to_string()),
    ];
    pairs
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

/// `measuring 15 s after a warm-up until the throughput is steady (at most 120 s); consistency checks before and after`.
fn schedule(args: &RunArgs) -> String {
    let seconds = |time: Duration| units::moment(time.as_secs_f64());
    let warm_up = match args.warmup {
        WarmUp::None => String::new(),
        WarmUp::For(time) => format!(" after a warm-up of {}", seconds(time)),
        WarmUp::UntilSteady { at_most } => format!(
            " after a warm-up until the throughput is steady (at most {})",
            seconds(at_most)
        ),
    };
    let checks = if args.no_check {
        ""
    } else {
        "; consistency checks before and after"
    };
    format!("measuring {}{warm_up}{checks}", seconds(args.duration))
}

fn warm_up(text: &str) -> Result<WarmUp, String> {
    load_times::warm_up(text, WARM_UP_AT_MOST)
}
