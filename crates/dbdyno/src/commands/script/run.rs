//! `dbdyno script run`: drives scripts and prints their report.

use std::{collections::BTreeMap, process::ExitCode, time::Duration};

use benchmarks::script::{Connections, DATABASE, ScriptLoad, prepared_statements, scripts};
use blame::{Blame, Blamed};
use clap::{ArgMatches, Args, FromArgMatches, ValueEnum};
use experiment::{LoadSpec, PlannedLoad};
use load::{Arrivals, Process, WarmUp};
use report::RunReport;
use results::audit_of_run;
use runs::{LoadRules, RunOutcome, SingleRun, shortcoming};
use settings::{Chosen, Value, Values, WeightedFile, quantity};

use crate::{
    commands::{
        load_times::{self, time},
        record_options::{RecordOptions, exit_code_of_rate, recorded_arguments, write_report},
        run::terminal_width,
        table_options,
    },
    connection_options::ConnectionOptions,
    seed::fresh_seed,
    terminal,
};

/// The longest warm-up of `--warmup auto`.
const WARM_UP_AT_MOST: Duration = Duration::from_secs(60);
/// The percentiles of the report.
const PERCENTILES: [f64; 4] = [50.0, 95.0, 99.0, 99.9];

/// What follows the options in the help.
const AFTER_HELP: &str = "\
An operation is one pass through a script. If there are several scripts, each operation chooses one of them at random,
according to their weights. After a deadlock, a lock wait timeout, a changed record (error 1020) or a lost connection,
dbdyno retries the operation and counts the retry. Any other error ends the run.

--database names the database that the scripts use. On a private server, the default database is test.

Examples:
  dbdyno script orders.sql --server one --connections 16 --duration 60s
  dbdyno script orders.sql@70 search.sql@30 -D customers=50000 --socket /run/mysqld/mysqld.sock --database shop
  dbdyno script orders.sql --mode text --rate 500 --warmup auto --server one

docs/script.md describes the language of the scripts.";

#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct RunArgs {
    /// Script files; if there are several, @WEIGHT sets how often a script is chosen relative to the others
    #[arg(value_name = "FILE[@WEIGHT]", required = true, value_parser = weighted_file)]
    files: Vec<WeightedFile>,
    /// Define a variable for the scripts; may be repeated
    #[arg(long, short = 'D', value_name = "NAME=VALUE", value_parser = pair)]
    define: Vec<(String, String)>,
    #[command(flatten)]
    numbers: Numbers,
    #[command(flatten)]
    connection: ConnectionOptions,
    /// Number of connections
    #[arg(long, short, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100_000), help_heading = "Load")]
    connections: u32,
    /// Length of the measurement, such as 60s or 5m
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = time, help_heading = "Load")]
    duration: Duration,
    /// Unmeasured warm-up at the start of the run: a duration, or auto to wait until the throughput is steady
    #[arg(long, value_name = "TIME", default_value = "0", value_parser = warm_up, help_heading = "Load")]
    warmup: WarmUp,
    /// Start this number of operations per second at scheduled times (open loop); each response time is measured from
    /// the scheduled time [default: each connection starts an operation when its previous one ends]
    #[arg(long, value_name = "N", value_parser = rate, help_heading = "Load")]
    rate: Option<f64>,
    /// With --rate: whether the intervals between operations are random (poisson) or constant
    #[arg(
        long,
        value_enum,
        default_value = "poisson",
        requires = "rate",
        help_heading = "Load"
    )]
    arrivals: ArrivalProcess,
    /// Number of event loops (threads that drive the connections) [default: derived from the numbers of connections and
    /// CPUs]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024), help_heading = "Load")]
    loops: Option<u32>,
    /// Random seed for all random choices [default: a new seed for each run]
    #[arg(long, value_name = "N", help_heading = "Load")]
    seed: Option<u64>,
    #[command(flatten, next_help_heading = "Report")]
    record: RecordOptions,
    /// Output format
    #[arg(long, value_enum, default_value = "text", help_heading = "Report")]
    format: Format,
    /// With --format text: print the times of each statement, and every finding
    #[arg(short, long, help_heading = "Report")]
    verbose: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ArrivalProcess {
    Poisson,
    Constant,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Text for a terminal: a summary and a table
    Text,
    /// One JSON object
    Json,
    /// CSV with one line for each script and each statement
    Csv,
}

/// The options that an experiment has, too.
#[derive(Debug)]
struct Numbers(Values);

impl Args for Numbers {
    fn augment_args(command: clap::Command) -> clap::Command {
        command.args(ScriptLoad::NUMBERS.iter().map(table_options::argument))
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Numbers {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let options = ScriptLoad::NUMBERS.iter();
        Ok(Self(table_options::values(options, matches)))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

pub(super) fn run(args: &RunArgs) -> anyhow::Result<ExitCode> {
    let load = load(args)?;
    let scripts = scripts(&load)?;
    for warning in scripts.warnings() {
        eprintln!("warning: {warning}");
    }
    let load = PlannedLoad {
        spec: load,
        seed: args.seed.unwrap_or_else(fresh_seed),
    };
    let endpoint = match args.connection.server {
        Some(_) => args.connection.endpoint_of_tables(DATABASE)?,
        None => args.connection.endpoint()?,
    };
    let context = terminal::context()?;
    let prepared = prepared_statements(&scripts, &load);
    let stage = (args.record).stage(endpoint, prepared, "--mode text", &context)?;
    let mut connections = Connections::new(scripts, &load, stage.server())?;
    let plan = connections.plan();
    let place = args.record.place("script")?;
    let path = place.path();
    let single = SingleRun {
        name: format!("script {}", plan.operations().join(" ")),
        settings: plan.recorded_settings(),
        arguments: recorded_arguments(),
        rules: LoadRules::of_command(&load.spec),
        load,
        stage: &stage,
        sample_every: args.record.sample_every,
        path,
        context: &context,
    };
    let recorded = single.record(&mut connections, None)?;
    let report = RunReport::of(&recorded.record, &PERCENTILES);
    let audit = audit_of_run(&recorded.record);
    match args.format {
        Format::Json => print!("{}", report.json()),
        Format::Csv => print!("{}", report.csv()),
        Format::Text if args.verbose => {
            print!("{}", report.text());
            print!("\n{}", report::audit_in_short(&audit, terminal_width()));
        }
        Format::Text => print!("{}", report.summary(&audit, path, terminal_width())),
    }
    write_report(recorded.record, audit, path)?;
    if let Some(error) = recorded.failed {
        return Err(error.into());
    }
    if let Some(error) = shortcoming([RunOutcome::from(&recorded.outcome)]) {
        return Err(error.into());
    }
    Ok(exit_code_of_rate(&recorded.outcome.offered))
}

/// The load, as an experiment has it.
fn load(args: &RunArgs) -> Result<LoadSpec, Blamed> {
    let mut defined = BTreeMap::new();
    for (name, value) in &args.define {
        if defined.insert(name.clone(), value.clone()).is_some() {
            let message = format!("-D {name}: the variable has two values");
            return Err(Blamed::new(Blame::Input, message));
        }
    }
    let mut values = args.numbers.0.clone();
    values.set("files", Value::WeightedFiles(args.files.clone()));
    values.set("define", Value::Pairs(defined));
    let source = Chosen {
        kind: &ScriptLoad as _,
        values,
    };
    Ok(LoadSpec {
        arrivals: arrivals(args),
        warmup: args.warmup,
        loops: args.loops,
        ..LoadSpec::closed(source, args.connections, args.duration)
    })
}

fn arrivals(args: &RunArgs) -> Arrivals {
    match args.rate {
        None => Arrivals::Closed,
        Some(rate_per_s) => Arrivals::Open {
            rate_per_s,
            process: match args.arrivals {
                ArrivalProcess::Poisson => Process::Poisson,
                ArrivalProcess::Constant => Process::Constant,
            },
        },
    }
}

fn weighted_file(text: &str) -> Result<WeightedFile, String> {
    quantity::weighted_file(text).ok_or_else(|| "a weight is a whole number above 0".to_owned())
}

fn pair(text: &str) -> Result<(String, String), String> {
    quantity::pair(text).ok_or_else(|| "a variable is given as NAME=VALUE".to_owned())
}

fn rate(text: &str) -> Result<f64, String> {
    quantity::rate(text)
        .ok_or_else(|| "operations per second, above 0 and at most 1000000".to_owned())
}

fn warm_up(text: &str) -> Result<WarmUp, String> {
    load_times::warm_up(text, WARM_UP_AT_MOST)
}
