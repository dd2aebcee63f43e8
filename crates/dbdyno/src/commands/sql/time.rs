//! `dbdyno sql time`: how long statements take, how sure that is, and what they cost the server.

use std::{path::PathBuf, process::ExitCode, time::Duration};

use statements::time::{self, Layout, Report, Timed, TimingParameters};

use super::{input::InputArgs, timeout::timeout};
use crate::{
    connection_options::ConnectionOptions,
    output::{write_file, write_out},
    terminal::context,
};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
A round executes all statements once, in order. The rounds end when every median time is known to the precision that
--precision sets, after --repeats rounds, or when --budget is used up. The first round is reported separately,
because it may read pages from disk that later rounds find in memory.

--cold N adds N rounds before the first one. Before each of these rounds, the private server is restarted with an empty
buffer pool, and its files are dropped from the operating system's page cache. If some files cannot be dropped, a note
reports them.

A statement's time begins when the statement is sent, and ends when the last byte of its result has been received. The
result is read completely and its rows are counted. Statements that only read are executed in a read-only transaction.
Statements that change data are executed in a transaction that is rolled back; --commit keeps their changes. USE, and
SET of session variables, are executed but not timed.

Examples:
  dbdyno sql time queries.sql --server demo --database wiki
  dbdyno sql time queries.sql --server demo --database wiki --cold 3 --format json
  dbdyno sql time -e 'select /* Q1 */ count(*) from page' --host db1 --database wiki --format document")]
pub(super) struct TimeArgs {
    #[command(flatten)]
    input: InputArgs,
    /// Maximum number of rounds after the first one (a round executes every statement once)
    #[arg(long, alias = "runs", value_name = "N", default_value = "30",
        value_parser = clap::value_parser!(u32).range(1..=100_000))]
    repeats: u32,
    /// Stop when every median time is known to this precision; the precision is half the width of the median's
    /// confidence interval, in per cent of the median
    #[arg(long, value_name = "PERCENT", default_value = "2", value_parser = clap::value_parser!(u32).range(1..=100))]
    precision: u32,
    /// Time limit for all rounds after the first one
    #[arg(long, value_name = "TIME", default_value = "1min", value_parser = timeout)]
    budget: Duration,
    /// Number of additional rounds before the first one; the private server is restarted before each of them
    #[arg(long, value_name = "N", default_value = "0", requires = "server", value_parser = clap::value_parser!(u32).range(0..=1000))]
    cold: u32,
    /// Keep the changes that statements make, and also allow statements that cannot be rolled back
    #[arg(long)]
    commit: bool,
    /// Time limit for each statement; a statement that exceeds it is killed on the server
    #[arg(long, value_name = "TIME", default_value = "10min", value_parser = timeout)]
    timeout: Duration,
    /// Show every statement, with the parts of its time and the server's counters
    #[arg(long, short)]
    verbose: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    /// Also write the result as an HTML page to this file
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    #[command(flatten)]
    connection: ConnectionOptions,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// A table with the times, of the slowest statements if there are many
    Table,
    /// One JSON object with every measured time
    Json,
    /// CSV with a header line
    Csv,
    /// Two lists, one for the first round and one for the medians: a line such as `Q1:5.97537` (in seconds) for each
    /// statement, then a `Total:` line
    Document,
}

pub(super) fn run(args: &TimeArgs) -> anyhow::Result<ExitCode> {
    let statements = args.input.statements(&args.connection)?;
    let terms = TimingParameters {
        rounds: args.repeats,
        precision: f64::from(args.precision) / 100.0,
        budget: args.budget,
        cold: args.cold,
        commit: args.commit,
        timeout: args.timeout,
    };
    let (report, failure) = time::time(&statements, &args.connection, &terms, &context()?)?;
    if failure.is_none() || report.timed.iter().any(Timed::has_times) {
        write(args, &report)?;
    }
    match failure {
        Some(failure) => Err(failure.into()),
        None => Ok(ExitCode::SUCCESS),
    }
}

/// The report in the format asked for, and the page.
fn write(args: &TimeArgs, report: &Report) -> anyhow::Result<()> {
    let layout = Layout {
        has_cold: args.cold > 0,
        is_verbose: args.verbose,
    };
    let text = match args.format {
        Format::Table => time::table(report, layout),
        Format::Json => time::json(report),
        Format::Csv => time::csv(&report.timed),
        Format::Document => time::document(&report.timed),
    };
    if args.format == Format::Table {
        print!("{text}");
    } else {
        write_out(text.as_bytes())?;
    }
    // After the answer, which a path that cannot be written shall not cost.
    if let Some(path) = &args.html {
        write_file(path, time::page(report).as_bytes())?;
    }
    Ok(())
}
