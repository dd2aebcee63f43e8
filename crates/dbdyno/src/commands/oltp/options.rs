//! The command line of `dbdyno oltp`.

use std::{path::PathBuf, time::Duration};

use clap::{Args, Parser, ValueEnum};
use runs::{Blame, Blamed, sample_every};
use workload::oltp::{Benchmark, IgnoredErrors, RandType, Settings};

use crate::{
    commands::oltp::values::{
        ForcedShutdown, between_0_and_1, count_or_none, exponent, percent, percentile, rate,
        table_size, tables, time,
    },
    connection_options::{ConnectionOptions, observe_options::ObserveOptions},
};

/// The database that sysbench uses.
const DATABASE: &str = "sbtest";
/// Seed of the rows that prepare makes, unless another is named.
const ROWS_SEED: u64 = 1;

/// Run sysbench's OLTP workloads: same tables, statements and distributions
///
/// A set of options may stand in all commands: each takes those that concern it. sysbench's own names are taken too
/// (--threads, --time, --events, --rand-seed, --mysql-host and so on).
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
  dbdyno oltp read_write cleanup --server demo --tables 4
  dbdyno oltp oltp_read_only run --mysql-socket=/run/mysqld/mysqld.sock --mysql-user=sbtest \\
      --tables=10 --table_size=10000 --threads=8 --time=60 --report-interval=1 --format=sysbench

docs/oltp.md tells the statements, the distributions and the differences to sysbench."
)]
pub(super) struct Options {
    /// point_select, read_only, read_write, write_only, insert, bulk_insert, delete, update_index,
    /// update_non_index, select_random_points or select_random_ranges; oltp_ before it is taken too
    pub(super) workload: String,
    /// What to do
    #[arg(value_enum)]
    pub(super) command: Command,

    #[command(flatten)]
    pub(super) connection: ConnectionOptions,
    /// Password; visible in the process list until it is wiped: prefer --password-file
    #[arg(long, value_name = "PASSWORD", conflicts_with_all = ["password_file", "server"], help_heading = "Connection")]
    pub(super) password: Option<String>,
    /// TLS as sysbench's --mysql-ssl has it: on requires it, off forbids it
    #[arg(long, hide = true, value_enum, conflicts_with = "ssl_mode")]
    pub(super) tls: Option<Switch>,
    /// Only mysql
    #[arg(long, hide = true, value_enum)]
    pub(super) db_driver: Option<Driver>,

    #[command(flatten)]
    pub(super) tables: TableOptions,
    #[command(flatten)]
    pub(super) transaction: TransactionOptions,
    #[command(flatten)]
    pub(super) random: RandomOptions,
    #[command(flatten)]
    pub(super) load: LoadOptions,
    #[command(flatten)]
    pub(super) report: ReportOptions,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Command {
    /// Make the tables and their rows
    Prepare,
    /// Read the tables into the server's memory
    Prewarm,
    /// Measure
    Run,
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

#[derive(Debug, Args)]
#[command(next_help_heading = "Tables")]
pub(super) struct TableOptions {
    /// Number of tables
    #[arg(long, value_name = "N", default_value = "1", value_parser = tables)]
    pub(super) tables: u32,
    /// Rows of a table: 250000, 250k, 1M
    #[arg(long, value_name = "ROWS", default_value = "10000", value_parser = table_size)]
    pub(super) table_size: u64,
    /// Ids from AUTO_INCREMENT
    #[arg(long, value_name = "ON|OFF", default_value = "on", num_args = 0..=1, require_equals = true, default_missing_value = "on")]
    auto_inc: Switch,
    /// Use a secondary index in place of the primary key
    #[arg(long, value_name = "ON|OFF", default_value = "off", num_args = 0..=1, require_equals = true, default_missing_value = "on")]
    secondary: Switch,
    /// Create the index on k after the rows are loaded
    #[arg(long, value_name = "ON|OFF", default_value = "on", num_args = 0..=1, require_equals = true, default_missing_value = "on")]
    create_secondary: Switch,
    /// Storage engine
    #[arg(long, value_name = "NAME", default_value = "innodb")]
    mysql_storage_engine: String,
    /// Text to append to CREATE TABLE
    #[arg(
        long,
        value_name = "SQL",
        default_value = "",
        hide_default_value = true
    )]
    create_table_options: String,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Statements of an event")]
pub(super) struct TransactionOptions {
    /// Rows of a range
    #[arg(long, value_name = "ROWS", default_value = "100", value_parser = count_or_none)]
    range_size: u64,
    /// Point selects of a transaction
    #[arg(long, value_name = "N", default_value = "10")]
    point_selects: u32,
    /// Range selects of a transaction, all kinds
    #[arg(long, value_name = "ON|OFF", default_value = "on", num_args = 0..=1, require_equals = true, default_missing_value = "on")]
    range_selects: Switch,
    /// Selects of a range
    #[arg(long, value_name = "N", default_value = "1")]
    simple_ranges: u32,
    /// Sums over a range
    #[arg(long, value_name = "N", default_value = "1")]
    sum_ranges: u32,
    /// Sorted selects of a range
    #[arg(long, value_name = "N", default_value = "1")]
    order_ranges: u32,
    /// Selects of distinct values of a range
    #[arg(long, value_name = "N", default_value = "1")]
    distinct_ranges: u32,
    /// Updates of k
    #[arg(long, value_name = "N", default_value = "1")]
    index_updates: u32,
    /// Updates of c
    #[arg(long, value_name = "N", default_value = "1")]
    non_index_updates: u32,
    /// Deletes, each with an insert of the same id
    #[arg(long, value_name = "N", default_value = "1")]
    delete_inserts: u32,
    /// Leave out BEGIN and COMMIT
    #[arg(long, value_name = "ON|OFF", default_value = "off", num_args = 0..=1, require_equals = true, default_missing_value = "on")]
    skip_trx: Switch,
    /// Values of select_random_points
    #[arg(long, value_name = "N", default_value = "10", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    random_points: u32,
    /// Ranges of select_random_ranges
    #[arg(long, value_name = "N", default_value = "10", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    number_of_ranges: u32,
    /// Width of such a range
    #[arg(long, value_name = "N", default_value = "5", value_parser = count_or_none)]
    delta: u64,
    /// auto: prepared statements; disable: text
    #[arg(long, value_enum, default_value = "auto")]
    db_ps_mode: PreparedMode,
    /// Error numbers after which an event is retried, or all; any other error ends the run
    #[arg(long, value_name = "LIST", default_value = "1213,1020,1205")]
    mysql_ignore_errors: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum PreparedMode {
    Auto,
    Disable,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Random numbers")]
pub(super) struct RandomOptions {
    /// Distribution of the rows (sysbench 1.0.20 defaults to special)
    #[arg(long, value_enum, default_value = "uniform")]
    rand_type: Distribution,
    /// gaussian and special: number of uniform values to average [default: 12]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    rand_spec_iter: Option<u32>,
    /// special: size of the hot zone, per cent of the rows [default: 1]
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    rand_spec_pct: Option<f64>,
    /// special: share of the accesses to the hot zone, per cent [default: 75]
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    rand_spec_res: Option<f64>,
    /// pareto: parameter h [default: 0.2]
    #[arg(long, value_name = "H", value_parser = between_0_and_1)]
    rand_pareto_h: Option<f64>,
    /// zipfian: exponent [default: 0.8]
    #[arg(long, value_name = "EXPONENT", value_parser = exponent)]
    rand_zipfian_exp: Option<f64>,
    /// Seed of the rows [default: 1] and of a run [default: 0, a new one each time]
    #[arg(long, value_name = "N")]
    pub(super) seed: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Distribution {
    Uniform,
    Gaussian,
    Special,
    Pareto,
    Zipfian,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Load")]
pub(super) struct LoadOptions {
    /// Connections, also of prepare, prewarm and cleanup
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(super) connections: u32,
    /// Event loops
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(super) loops: Option<u32>,
    /// Events per second: an open loop with response times from the scheduled start; 0 for a closed loop
    #[arg(long, value_name = "EVENTS", default_value = "0", value_parser = rate)]
    pub(super) rate: f64,
    /// Arrival process with --rate [default: poisson]
    #[arg(long, value_enum)]
    pub(super) arrivals: Option<Process>,
    /// Duration: 30s, 5m, or seconds; 0 for no limit [default: 10 s, or no limit with --operations]; with --operations
    /// the run ends at whichever comes first
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(super) duration: Option<Duration>,
    /// Number of events: 10000, 1M; 0 for no limit
    #[arg(long, value_name = "EVENTS", default_value = "0", value_parser = count_or_none)]
    pub(super) operations: u64,
    /// Time to wait for unfinished events at the end, then exit with 3: 5s, 10% of the duration, or off to wait for all
    /// [default: 5s, and no failure]
    #[arg(long, value_name = "TIME", num_args = 0..=1, require_equals = true, default_missing_value = "5%")]
    pub(super) forced_shutdown: Option<ForcedShutdown>,
    /// Busy-wait shortly before an event is due, to start it on time to a microsecond
    #[arg(long)]
    pub(super) spin: bool,
    /// Warm-up before the measurement, not counted
    #[arg(long, value_name = "TIME", default_value = "0", value_parser = time)]
    pub(super) warmup: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Process {
    Poisson,
    Constant,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Report")]
pub(super) struct ReportOptions {
    /// Output format
    #[arg(long, value_enum, default_value = "text")]
    pub(super) format: Format,
    /// Percentiles of the response times, 0 for none [default: 50,95,99,99.9; with --format sysbench: 95]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = percentile)]
    percentile: Option<Vec<f64>>,
    /// Print the distribution of the response times
    #[arg(long, value_name = "ON|OFF", default_value = "off", num_args = 0..=1, require_equals = true, default_missing_value = "on")]
    histogram: Switch,
    /// Seconds between intermediate lines, 0 for none
    #[arg(long, value_name = "SECONDS", default_value = "0")]
    pub(super) report_interval: u64,
    /// File of the run record [default: results/oltp-WORKLOAD-N/record.jsonl]
    #[arg(long, value_name = "FILE")]
    pub(super) record: Option<PathBuf>,
    /// Sampling interval of the machine, at least 100ms [default: the record's interval, at most 1s]
    #[arg(long, value_name = "TIME", value_parser = sample_every)]
    pub(super) sample_every: Option<Duration>,
    /// Print the times of each statement and every finding (format text)
    #[arg(short, long)]
    pub(super) verbose: bool,
    #[command(flatten)]
    pub(super) observe: ObserveOptions,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// A few lines and a table
    Text,
    /// As sysbench 1.0.20
    Sysbench,
    /// One object
    Json,
    /// One line for the events and for each statement
    Csv,
}

impl Options {
    /// The workload.
    pub(super) fn benchmark(&self) -> Result<Benchmark, Blamed> {
        self.workload.parse::<Benchmark>().map_err(|error| {
            let names: Vec<&str> = Benchmark::ALL.map(Benchmark::name).into();
            Blamed::new(Blame::Input, error).hint(format!("available: {}", names.join(", ")))
        })
    }

    /// The workload's numbers; `seed` is that of the rows or that of the run.
    pub(super) fn settings(&self, seed: u64) -> Result<Settings, Blamed> {
        let (tables, transaction) = (&self.tables, &self.transaction);
        Ok(Settings {
            tables: tables.tables,
            table_size: tables.table_size,
            range_size: transaction.range_size,
            point_selects: transaction.point_selects,
            range_selects: transaction.range_selects.is_on(),
            simple_ranges: transaction.simple_ranges,
            sum_ranges: transaction.sum_ranges,
            order_ranges: transaction.order_ranges,
            distinct_ranges: transaction.distinct_ranges,
            index_updates: transaction.index_updates,
            non_index_updates: transaction.non_index_updates,
            delete_inserts: transaction.delete_inserts,
            skip_trx: transaction.skip_trx.is_on(),
            auto_inc: tables.auto_inc.is_on(),
            secondary: tables.secondary.is_on(),
            create_secondary: tables.create_secondary.is_on(),
            engine: tables.mysql_storage_engine.clone(),
            create_table_options: tables.create_table_options.clone(),
            random_points: transaction.random_points,
            number_of_ranges: transaction.number_of_ranges,
            delta: transaction.delta,
            rand_type: self.random.rand_type()?,
            is_prepared: transaction.db_ps_mode == PreparedMode::Auto,
            connections: self.load.connections,
            seed,
        })
    }

    /// The seed of the rows.
    pub(super) fn rows_seed(&self) -> u64 {
        self.random.seed.unwrap_or(ROWS_SEED)
    }

    /// The errors after which an event begins anew.
    pub(super) fn ignored_errors(&self) -> Result<IgnoredErrors, Blamed> {
        let list = self.transaction.mysql_ignore_errors.trim();
        IgnoredErrors::of(list).ok_or_else(|| {
            let message = format!("--mysql-ignore-errors: '{list}' is no list of error numbers");
            Blamed::new(Blame::Input, message).hint("such as 1213,1205, or all".to_owned())
        })
    }

    /// Where to connect, and as whom; a database that nobody names is sysbench's.
    pub(super) fn endpoint(&self) -> anyhow::Result<protocol::Endpoint> {
        if let Some(host) = &self.connection.host
            && host.contains(',')
        {
            let message = format!("--host: '{host}': one server at a time");
            return Err(Blamed::new(Blame::Input, message).into());
        }
        let mut options = self.connection.clone();
        match self.tls {
            Some(Switch::On) => options.ssl_mode = Some("required".to_owned()),
            Some(Switch::Off) => options.ssl_mode = Some("disabled".to_owned()),
            None => {}
        }
        let mut endpoint = options.endpoint()?;
        if let Some(password) = &self.password {
            endpoint.password = Some(protocol::Password::from(password.as_str()));
        }
        if options.database.is_none() {
            endpoint.database = Some(DATABASE.to_owned());
        }
        Ok(endpoint)
    }

    /// True where nobody named a database, so that it may be made.
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

    /// Whether the distribution is printed.
    pub(super) fn has_histogram(&self) -> bool {
        self.report.histogram.is_on()
    }
}

impl RandomOptions {
    fn rand_type(&self) -> Result<RandType, Blamed> {
        let iterations = self.rand_spec_iter.unwrap_or(12);
        let (rand_type, parameters): (_, &[&str]) = match self.rand_type {
            Distribution::Uniform => (RandType::Uniform, &[]),
            Distribution::Gaussian => (RandType::Gaussian { iterations }, &["rand-spec-iter"]),
            Distribution::Special => (
                RandType::Special {
                    iterations,
                    part_percent: self.rand_spec_pct.unwrap_or(1.0),
                    share_percent: self.rand_spec_res.unwrap_or(75.0),
                },
                &["rand-spec-iter", "rand-spec-pct", "rand-spec-res"],
            ),
            Distribution::Pareto => (
                RandType::Pareto {
                    h: self.rand_pareto_h.unwrap_or(0.2),
                },
                &["rand-pareto-h"],
            ),
            Distribution::Zipfian => (
                RandType::Zipfian {
                    exponent: self.rand_zipfian_exp.unwrap_or(0.8),
                },
                &["rand-zipfian-exp"],
            ),
        };
        let given = [
            ("rand-spec-iter", self.rand_spec_iter.is_some()),
            ("rand-spec-pct", self.rand_spec_pct.is_some()),
            ("rand-spec-res", self.rand_spec_res.is_some()),
            ("rand-pareto-h", self.rand_pareto_h.is_some()),
            ("rand-zipfian-exp", self.rand_zipfian_exp.is_some()),
        ];
        for (name, is_given) in given {
            if is_given && !parameters.contains(&name) {
                let message = format!("--{name} has no effect with --rand-type {rand_type}");
                return Err(Blamed::new(Blame::Input, message));
            }
        }
        Ok(rand_type)
    }
}

#[cfg(test)]
#[path = "options_tests.rs"]
mod tests;
