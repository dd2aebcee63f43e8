//! The command line of dbdyno: its commands, one file each.

mod ab;
pub(crate) mod audit;
pub(crate) mod calibrate;
mod cleanup;
mod command_line;
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod config;
mod experiment_options;
mod experiments;
pub(crate) mod history;
pub(crate) mod import;
mod load_times;
mod log_switches;
pub(crate) mod man;
pub(crate) mod null_server;
pub(crate) mod observe;
pub(crate) mod oltp;
mod option_value;
pub(crate) mod own_experiment;
mod quick;
pub(crate) mod record_options;
pub(crate) mod redo_log_guard;
pub(crate) mod report;
pub(crate) mod rerun;
pub(crate) mod run;
pub(crate) mod script;
pub(crate) mod server;
pub(crate) mod size;
pub(crate) mod sql;
pub(crate) mod storage;
mod table_options;
pub(crate) mod tables;
pub(crate) mod top;
pub(crate) mod tpcc;
pub(crate) mod tpch;
mod variables_guard;
pub(crate) mod wiki;

use std::{
    ffi::{OsStr, OsString},
    path::Path,
    process::ExitCode,
};

use blame::{Blame, Blamed};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand, error::ErrorKind};

use run::terminal_width;
use script::with_run;

use crate::{
    candidates,
    command_groups::grouped,
    command_tree::{command_tree, with_front_doors},
    front_doors::FrontDoor,
    mysql_client_options,
    output::print_of_clap,
};

/// Runs the command of this process's command line; returns its exit code.
pub(crate) fn run_command_line() -> anyhow::Result<ExitCode> {
    let mut args = std::env::args_os();
    let program = args.next().unwrap_or_default();
    let program = Path::new(&program).file_name().and_then(OsStr::to_str);
    if let Some(tool) = program.and_then(FrontDoor::linked) {
        return tool.enter(args.collect());
    }
    if let Some(answered) = candidates::answer(|| command_tree(Cli::command())) {
        return answered;
    }
    let args = with_run(args.collect());
    let cli = grouped(with_front_doors(Cli::command()), terminal_width());
    let line = std::iter::once(OsString::from("dbdyno")).chain(args.iter().cloned());
    let matches = match cli.try_get_matches_from(line) {
        Ok(matches) => matches,
        Err(error) => return refuse(&error, &args),
    };
    let door = matches.subcommand();
    if let Some((door, matches)) = door.and_then(|(name, it)| Some((FrontDoor::named(name)?, it))) {
        let args = matches.get_many::<OsString>("args").unwrap_or_default();
        return door.enter_as_command(args.cloned().collect());
    }
    match Cli::from_arg_matches(&matches) {
        Ok(cli) => cli.command.run(),
        Err(error) => Ok(print_of_clap(&error)?),
    }
}

/// Prints what clap says of the command line, and what to type instead; returns the exit code.
fn refuse(error: &clap::Error, args: &[OsString]) -> anyhow::Result<ExitCode> {
    match mysql_client_options::hint(&Cli::command(), args, error) {
        None => Ok(print_of_clap(error)?),
        Some(hint) if error.kind() == ErrorKind::DisplayHelp => {
            Err(Blamed::new(Blame::Input, "no server is named")
                .hint(hint)
                .into())
        }
        Some(hint) => {
            let code = print_of_clap(error)?;
            eprintln!("hint: {hint}");
            Ok(code)
        }
    }
}

/// Benchmark MySQL-family servers: create servers, load data, run workloads, and compare and audit the results.
#[derive(Debug, Parser)]
#[command(
    version,
    after_help = "\
Exit codes:
  0    success
  1    negative answer; for example, a rate was not reached, or a new result
       is worse than allowed
  2    invalid input
  3    the server or a statement failed
  4    problem on this machine, such as a full disk
  5    undecided: a limit, search or prediction that was asked for has no
       answer; an inconclusive comparison alone ends with 0
  70   bug in dbdyno
  130  interrupted"
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Measure a server in 15 seconds: an existing one, or a temporary one that dbdyno starts
    Quick(quick::QuickArgs),
    /// Compare settings, versions, option files, servers, or a schema before and after a change, under the same load
    Ab(Box<ab::AbArgs>),
    /// Run an experiment file and write its report
    Run(run::RunArgs),
    /// List the experiments that come with dbdyno, each with the question that it answers
    Experiments(experiments::ExperimentsArgs),
    /// Write results as HTML, JSON, CSV, Markdown, OpenMetrics or Parquet, and charts as SVG or PNG
    Report(report::ReportArgs),
    /// Compare two results: the verdict (faster, slower, equivalent or inconclusive) and the causes of a difference
    Compare(compare::CompareArgs),
    /// Check a result against the rules of a sound benchmark
    Audit(audit::AuditArgs),
    /// List past results, or show how one experiment's figures changed over time
    History(history::HistoryArgs),
    /// Repeat an experiment from its results, and compare the new results with the old ones
    Rerun(rerun::RerunArgs),
    /// Measure the highest throughput that dbdyno itself reaches as a client on this machine
    Calibrate(calibrate::CalibrateArgs),
    /// Start a server that answers without doing any work, so that you can measure clients
    NullServer(null_server::NullServerArgs),
    /// Observe this machine on behalf of dbdyno on another host
    Observe(observe::ObserveArgs),
    /// Review, explain, compare, migrate and generate my.cnf files, and measure the effect of their lines
    Config(config::ConfigArgs),
    /// Run your own SQL as a load, written as scripts in pgbench's language
    Script(Box<script::ScriptArgs>),
    /// Create, start, stop, inspect and destroy private servers
    Server(server::ServerArgs),
    /// Explain, time, compare and tune single statements
    Sql(sql::SqlArgs),
    /// Measure a disk for database use: durable commits, reads, writes and bursts
    Storage(storage::StorageArgs),
    /// Predict how much load a machine carries, and find out which systems share a machine best
    Size(size::SizeArgs),
    /// Import fio results, so that dbdyno report and dbdyno audit can read them
    Import(import::ImportArgs),
    /// List a server's tables, the largest first, and compare their sizes with the buffer pool
    Tables(tables::TablesArgs),
    /// Watch a server or a run in progress, or replay a finished run: throughput, response times, CPU, disk,
    /// InnoDB, statements, waits and connections
    Top(top::TopArgs),
    /// Prepare, check and clean up the TPC-H tables
    Tpch(tpch::TpchArgs),
    /// Prepare, run, check and clean up a TPC-C-like benchmark
    Tpcc(tpcc::TpccArgs),
    /// Create and remove two MediaWiki tables for practising SQL tuning
    Wiki(wiki::WikiArgs),
    /// Print a script with which a shell completes dbdyno's commands and options
    Completions(completions::CompletionsArgs),
    /// Write a man page for each command
    Man(man::ManArgs),
    /// Internal: ends the program of an event with dbdyno
    #[command(hide = true)]
    EventGuard,
    /// Internal: removes a control group where the dbdyno that made it was killed
    #[command(hide = true)]
    GroupGuard,
    /// Internal: switches a redo log on again where the dbdyno that switched it off was killed
    #[command(hide = true)]
    RedoLogGuard,
    /// Internal: puts the variables of a server back where the dbdyno that set them was killed
    #[command(hide = true)]
    VariablesGuard,
}

impl Command {
    /// Runs the command; returns its exit code.
    fn run(self) -> anyhow::Result<ExitCode> {
        match self {
            Self::Quick(args) => quick::run(args),
            Self::Ab(args) => ab::run(*args),
            Self::Run(args) => run::run(args),
            Self::Experiments(args) => experiments::run(&args),
            Self::Report(args) => report::run(args),
            Self::Compare(args) => compare::run(args),
            Self::Audit(args) => audit::run(args),
            Self::History(args) => history::run(args),
            Self::Rerun(args) => rerun::run(args),
            Self::Calibrate(args) => calibrate::run(args),
            Self::NullServer(args) => null_server::run(args),
            Self::Observe(args) => observe::run(args),
            Self::Config(args) => config::run(args),
            Self::Script(args) => script::run(*args),
            Self::Server(args) => server::run(args),
            Self::Sql(args) => sql::run(args),
            Self::Storage(args) => storage::run(args),
            Self::Size(args) => size::run(args),
            Self::Import(args) => import::run(&args),
            Self::Tables(args) => tables::run(args),
            Self::Top(args) => top::run(args),
            Self::Tpch(args) => tpch::run(args),
            Self::Tpcc(args) => tpcc::run(args),
            Self::Wiki(args) => wiki::run(args),
            Self::Completions(args) => completions::run(&args),
            Self::Man(args) => man::run(&args, command_tree(Cli::command())),
            Self::EventGuard => {
                runs::events::guard::run()?;
                Ok(ExitCode::SUCCESS)
            }
            Self::GroupGuard => {
                runs::limit::guard::run()?;
                Ok(ExitCode::SUCCESS)
            }
            Self::RedoLogGuard => redo_log_guard::run(),
            Self::VariablesGuard => variables_guard::run(),
        }
    }
}
