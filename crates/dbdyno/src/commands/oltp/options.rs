//! The command line of `dbdyno oltp`.

use std::{str::FromStr, time::Duration};

use benchmarks::oltp::{
    DATABASE, IgnoredErrors, OltpData, OltpLoad, RandType, SECTIONS, Script, Settings,
};
use blame::{Blame, Blamed};
use clap::{
    ArgMatches, Args, FromArgMatches, Parser, ValueEnum,
    builder::{PossibleValuesParser, TypedValueParser},
};
use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};
use experiment::LoadSpec;
use load::{Arrivals, Drain, Process, WarmUp};
use settings::{Chosen, OptionSpec, OptionTable, Value, Values, quantity::DURATION_LIMIT};

use crate::{
    commands::{record_options::RecordOptions, table_options},
    connection_options::ConnectionOptions,
};

/// How long a run measures where nothing is said, as with sysbench.
pub(super) const DURATION: Duration = Duration::from_secs(10);
/// Seed of the rows that prepare makes, unless another is named.
const ROWS_SEED: u64 = 1;

/// Run sysbench's OLTP workloads, with the same tables, statements and distributions
///
/// All commands accept the same options, and each command uses only the options that it needs. dbdyno also accepts
/// sysbench's own option names (--threads, --time, --events, --rand-seed, --mysql-host and so on). An operation is one
/// execution of the workload, a transaction or a single statement; sysbench calls it an event.
#[derive(Debug, Parser)]
#[command(
    name = "dbdyno oltp",
    disable_version_flag = true,
    // As with sysbench, of an option that is given twice the last one counts.
    args_override_self = true,
    after_help = "\
Examples:
  dbdyno oltp read_write prepare --server demo --tables 4 --table-size 250k
  dbdyno oltp read_write run --server demo --tables 4 --table-size 250k --connections 16 --duration 30s
  dbdyno oltp point_select run --server demo --rate 5000 --percentile 50,99,99.9 --format json
  dbdyno oltp read_write check --server demo --tables 4 --table-size 250k
  dbdyno oltp read_write cleanup --server demo --tables 4
  dbdyno oltp oltp_read_only run --mysql-socket=/run/mysqld/mysqld.sock --mysql-user=sbtest \\
      --tables=10 --table_size=10000 --threads=8 --time=60 --report-interval=1 --format=sysbench

docs/oltp.md describes the statements, the distributions and the differences from sysbench."
)]
pub(super) struct Options {
    /// Workload to run: point_select, read_only, read_write, write_only, insert, bulk_insert, delete, update_index,
    /// update_non_index, select_random_points or select_random_ranges. You can also give a name with sysbench's prefix
    /// (oltp_read_write), or the path of a sysbench script
    #[arg(add = ArgValueCandidates::new(workloads))]
    pub(super) workload: String,
    /// Command to execute
    #[arg(value_enum)]
    pub(super) command: Command,

    #[command(flatten)]
    pub(super) connection: ConnectionOptions,
    /// Password; visible in the process list until dbdyno erases it (--password-file is safer)
    #[arg(long, value_name = "PASSWORD", conflicts_with_all = ["password_file", "server"], help_heading = "Connection")]
    pub(super) password: Option<String>,
    /// TLS, as sysbench's --mysql-ssl: on requires it, off forbids it
    #[arg(long, hide = true, value_enum, conflicts_with = "ssl_mode")]
    pub(super) tls: Option<Switch>,
    /// Database driver; only mysql is supported
    #[arg(long, hide = true, value_enum)]
    pub(super) db_driver: Option<Driver>,

    #[command(flatten)]
    workload_options: WorkloadOptions,
    #[command(flatten)]
    pub(super) load: LoadOptions,
    #[command(flatten)]
    pub(super) report: ReportOptions,
}

/// The workloads, for a shell's completion.
fn workloads() -> Vec<CompletionCandidate> {
    let names = Script::ALL.into_iter().map(Script::name);
    names.map(CompletionCandidate::new).collect()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Command {
    /// Create and load the tables
    Prepare,
    /// Read the tables into the server's memory
    Prewarm,
    /// Run the workload and measure it
    Run,
    /// Check that columns, rows, ids and indexes are the same as in the tables that prepare creates
    Check,
    /// Drop the tables
    Cleanup,
}

/// on or off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Switch {
    #[value(alias = "true", alias = "1")]
    On,
    #[value(alias = "false", alias = "0")]
    Off,
}

impl Switch {
    pub(super) fn is_on(self) -> bool {
        self == Self::On
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Driver {
    Mysql,
}

/// The options of tables and transactions, which an experiment has, too.
#[derive(Debug)]
struct WorkloadOptions(Values);

impl WorkloadOptions {
    fn all() -> impl Iterator<Item = &'static OptionSpec> {
        SECTIONS.iter().flat_map(|(_, options)| *options)
    }
}

impl Args for WorkloadOptions {
    fn augment_args(command: clap::Command) -> clap::Command {
        SECTIONS
            .iter()
            .fold(command, |command, (heading, options)| {
                let command = command.next_help_heading(*heading);
                command.args(options.iter().map(table_options::argument))
            })
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for WorkloadOptions {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(Self(table_options::values(Self::all(), matches)))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Load")]
pub(super) struct LoadOptions {
    /// Random seed: with prepare, for the rows [default: 1]; with run, for the load [default: 0, which means a new seed
    /// for each run]
    #[arg(long, value_name = "N", help_heading = "Random numbers")]
    pub(super) seed: Option<u64>,
    /// Number of connections used by prepare, prewarm, run and cleanup
    #[arg(long, short, value_name = "N", default_value = "1",
        value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(super) connections: u32,
    /// Number of event loops (threads that drive the connections) [default: derived from the numbers of connections and
    /// CPUs]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(super) loops: Option<u32>,
    /// Start this number of operations per second at scheduled times (open loop); each response time is measured from
    /// the scheduled time. With 0, each connection starts an operation when its previous one ends (closed loop)
    #[arg(long, value_name = "N", default_value = "0", value_parser = rate)]
    pub(super) rate: f64,
    /// With --rate: whether the intervals between operations are random (poisson) or constant [default: poisson]
    #[arg(long, value_parser = PossibleValuesParser::new(["poisson", "constant"]).map(process))]
    pub(super) arrivals: Option<Process>,
    /// Length of the measurement, such as 30s or 5m; a plain number means seconds, and 0 means no limit. If
    /// --operations is also given, the run ends when either limit is reached [default: 10s; with --operations, no
    /// limit]
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(super) duration: Option<Duration>,
    /// Total number of operations, such as 10000 or 1M; 0 means no limit
    #[arg(long, value_name = "N", default_value = "0", value_parser = count_or_none)]
    pub(super) operations: u64,
    /// Time to wait for unfinished operations at the end of the run: a time (5s), a share of the duration (10%), or off
    /// to wait for all operations. If operations are still unfinished after this time, the exit code is 3 [default: 5s;
    /// without a value, 5%]
    #[arg(long, value_name = "TIME", num_args = 0..=1, require_equals = true, default_missing_value = "5%")]
    pub(super) forced_shutdown: Option<ForcedShutdown>,
    /// Busy-wait shortly before the scheduled time of an operation, so that the operation starts within a microsecond of
    /// this time
    #[arg(long)]
    pub(super) spin: bool,
    /// Unmeasured warm-up at the start of the run
    #[arg(long, value_name = "TIME", default_value = "0", value_parser = time)]
    pub(super) warmup: Duration,
}

fn process(name: String) -> Process {
    match name.as_str() {
        "constant" => Process::Constant,
        _ => Process::Poisson,
    }
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Report")]
pub(super) struct ReportOptions {
    /// Output format
    #[arg(long, value_enum, default_value = "text")]
    pub(super) format: Format,
    /// Percentiles of the response times to print; 0 prints none [default: 50,95,99,99.9; with --format sysbench, 95]
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = percentile)]
    percentile: Option<Vec<f64>>,
    /// Print a histogram of the response times
    #[arg(long, value_name = "ON|OFF", default_value = "off", num_args = 0..=1, require_equals = true, default_missing_value = "on")]
    histogram: Switch,
    /// Interval between progress reports, in seconds; 0 prints no progress reports
    #[arg(long, value_name = "SECONDS", default_value = "0")]
    pub(super) report_interval: u64,
    /// With --format text: print the times of each statement, and every finding
    #[arg(short, long)]
    pub(super) verbose: bool,
    #[command(flatten)]
    pub(super) record: RecordOptions,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// Text for a terminal: a summary and a table
    Text,
    /// Report in the format of sysbench 1.0.20
    Sysbench,
    /// One JSON object
    Json,
    /// CSV with one line for the operations and one line for each statement
    Csv,
}

impl Options {
    /// The workload.
    pub(super) fn script(&self) -> Result<Script, Blamed> {
        self.workload.parse::<Script>().map_err(|error| {
            let names: Vec<&str> = Script::ALL.map(Script::name).into();
            Blamed::new(Blame::Input, error).hint(format!("available: {}", names.join(", ")))
        })
    }

    /// The values of the options of tables and transactions; an error where one has no effect.
    pub(super) fn values(&self) -> Result<&Values, Blamed> {
        let values = &self.workload_options.0;
        if let Some(useless) = OltpData.fault(values) {
            let message = format!(
                "--{} has no effect with --rand-type {}",
                useless.option.replace('_', "-"),
                RandType::of(values)
            );
            return Err(Blamed::new(Blame::Input, message));
        }
        Ok(values)
    }

    /// The workload's numbers; `seed` is that of the rows or that of the run.
    pub(super) fn settings(&self, seed: u64) -> Result<Settings, Blamed> {
        let values = self.values()?;
        Ok(Settings::of_data(values).with_load(values, self.load.connections, seed))
    }

    /// The load of a workload, as an experiment has it.
    pub(super) fn spec(&self, script: Script) -> Result<LoadSpec, Blamed> {
        let mut values = self.values()?.clone();
        self.ignored_errors()?;
        values.set("script", Value::Choice(script.name()));
        let source = Chosen {
            kind: &OltpLoad as _,
            values,
        };
        let LoadOptions {
            connections,
            duration,
            ..
        } = self.load;
        Ok(LoadSpec {
            arrivals: self.arrivals()?,
            warmup: WarmUp::fixed(self.load.warmup),
            loops: self.load.loops,
            spin: self.load.spin,
            ..LoadSpec::closed(source, connections, duration.unwrap_or(DURATION))
        })
    }

    fn arrivals(&self) -> Result<Arrivals, Blamed> {
        let rate_per_s = self.load.rate;
        match (rate_per_s > 0.0, self.load.arrivals) {
            (false, None) => Ok(Arrivals::Closed),
            (false, Some(_)) => {
                let message = "--arrivals has no effect without --rate";
                Err(Blamed::new(Blame::Input, message))
            }
            (true, process) => Ok(Arrivals::Open {
                rate_per_s,
                process: process.unwrap_or(Process::Poisson),
            }),
        }
    }

    /// The seed of the rows.
    pub(super) fn rows_seed(&self) -> u64 {
        self.load.seed.unwrap_or(ROWS_SEED)
    }

    /// The errors after which an event begins anew.
    pub(super) fn ignored_errors(&self) -> Result<IgnoredErrors, Blamed> {
        let list = self.workload_options.0.text("mysql_ignore_errors");
        let list = list.unwrap_or_default().trim();
        IgnoredErrors::of(list).ok_or_else(|| {
            let message = format!("--mysql-ignore-errors: '{list}' is not a list of error numbers");
            Blamed::new(Blame::Input, message).hint("such as 1213,1205, or all".to_owned())
        })
    }

    /// Address, account and database of the connection; the default database is sysbench's.
    pub(super) fn endpoint(&self) -> anyhow::Result<protocol::Endpoint> {
        if let Some(host) = &self.connection.host
            && host.contains(',')
        {
            let message = format!("--host: '{host}': only one server can be named");
            return Err(Blamed::new(Blame::Input, message).into());
        }
        let mut options = self.connection.clone();
        match self.tls {
            Some(Switch::On) => options.ssl_mode = Some("required".to_owned()),
            Some(Switch::Off) => options.ssl_mode = Some("disabled".to_owned()),
            None => {}
        }
        let mut endpoint = options.endpoint_of_tables(DATABASE)?;
        if let Some(password) = &self.password {
            endpoint.password = Some(protocol::Password::from(password.as_str()));
        }
        Ok(endpoint)
    }

    /// Whether the database is the default one, which may then be created.
    pub(super) fn may_create_database(&self) -> bool {
        self.connection.database.is_none()
    }

    /// The percentiles to print.
    pub(super) fn percentiles(&self) -> Vec<f64> {
        match (&self.report.percentile, self.report.format) {
            (Some(asked), _) => asked.iter().copied().filter(|one| *one > 0.0).collect(),
            (None, Format::Sysbench) => vec![95.0],
            (None, _) => vec![50.0, 95.0, 99.0, 99.9],
        }
    }

    /// Prints the first lines of sysbench's output, in its format.
    pub(super) fn print_title(&self) {
        if self.report.format == Format::Sysbench {
            let program = format!("dbdyno {}", env!("CARGO_PKG_VERSION"));
            print!("{}", benchmarks::oltp::layout::title(&program));
        }
    }

    /// Whether the distribution is printed.
    pub(super) fn has_histogram(&self) -> bool {
        self.report.histogram.is_on()
    }
}

/// When a run goes without the events that have not come back.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum ForcedShutdown {
    Off,
    /// This time after the planned end.
    After(Duration),
    /// This percentage of the planned duration after the planned end.
    Percent(f64),
}

impl ForcedShutdown {
    /// What it makes of a run of this length; `None` where it has no effect, for want of a length.
    pub(super) fn drain(self, time: Option<Duration>) -> Option<Drain> {
        match self {
            Self::Off => Some(Drain::Unlimited),
            Self::After(after) => time.map(|_| Drain::AtMost(after)),
            Self::Percent(percent) => time.map(|time| Drain::AtMost(time.mul_f64(percent / 100.0))),
        }
    }
}

impl FromStr for ForcedShutdown {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let error = || "off, a time such as 5s, or a share of the duration such as 10%".to_owned();
        if text == "off" {
            return Ok(Self::Off);
        }
        match text.strip_suffix('%') {
            None => time(text).map(Self::After).map_err(|_| error()),
            Some(number) => match number.parse::<f64>() {
                Ok(percent) if (0.0..=1000.0).contains(&percent) => Ok(Self::Percent(percent)),
                _ => Err(error()),
            },
        }
    }
}

fn count_or_none(text: &str) -> Result<u64, String> {
    match text {
        "0" => Ok(0),
        _ => settings::quantity::count(text)
            .ok_or_else(|| "a number, such as 10000 or 10k".to_owned()),
    }
}

fn rate(text: &str) -> Result<f64, String> {
    match text {
        "0" => Ok(0.0),
        _ => settings::quantity::rate(text)
            .ok_or_else(|| "a number of operations per second up to 1000000".to_owned()),
    }
}

fn time(text: &str) -> Result<Duration, String> {
    settings::quantity::seconds(text)
        .ok_or_else(|| format!("seconds, or a time such as 30s, 500ms, 5m; {DURATION_LIMIT}"))
}

fn percentile(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(percentile) if (0.0..=100.0).contains(&percentile) => Ok(percentile),
        _ => Err("percentiles are between 0 and 100".to_owned()),
    }
}

#[cfg(test)]
#[path = "options_tests.rs"]
mod tests;
