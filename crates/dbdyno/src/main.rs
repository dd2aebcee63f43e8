//! dbdyno: a dynamometer for MySQL-family servers.

use std::{
    ffi::{OsStr, OsString},
    path::Path,
    process::ExitCode,
};

use clap::{CommandFactory, Parser, Subcommand};
use runs::{Blame, Blamed};
use samples::printable_lines_within;

#[macro_use]
mod output;

mod command_tree;
mod commands;
mod connection_options;
mod front_doors;
mod progress;
mod terminal;

use front_doors::mysqlslap::Dialect;

/// Characters of an error that are shown: a server can send megabytes.
const MESSAGE_AT_MOST: usize = 8000;

/// A bug here, not in the input, the server or the machine.
const EXIT_BUG: i32 = 70;

/// Answers performance questions about MySQL-family servers with evidence.
#[derive(Debug, Parser)]
#[command(
    version,
    after_help = "Exit codes: 0 ok; 1 a negative answer (rate not reached, B worse than allowed); \
                  2 the input; 3 the server or a statement failed; 4 the machine (disk full); \
                  5 undecided; 70 a bug here; 130 interrupted.\n\n\
                  Called by the name super-smack, gen-data, mysqlslap, mariadb-slap, tpcc_load or tpcc_start (through a link), \
                  dbdyno is that program."
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Get a first honest figure, from a private server or from one that is named, in about 15 seconds
    Quick(commands::quick::QuickArgs),
    /// Run an experiment file: every combination, repeated, in random order; then the report
    Run(commands::run::RunArgs),
    /// Write results as a page, JSON, CSV, Markdown, OpenMetrics, Parquet, and their charts as SVG or PNG
    Report(commands::report::ReportArgs),
    /// Compare any two results: faster, slower, equivalent or inconclusive, what each operation cost, and why
    Compare(commands::compare::CompareArgs),
    /// Tell whether a result can be believed: what the rules of an honest benchmark say of it
    Audit(commands::audit::AuditArgs),
    /// List past results of this machine, or one experiment's figures over time with the points where they changed
    History(commands::history::HistoryArgs),
    /// Do again what a results directory holds, and compare with what it was
    Rerun(commands::rerun::RerunArgs),
    /// Measure what this client reaches on this machine, before any server is measured
    Calibrate(commands::calibrate::CalibrateArgs),
    /// Answer everything and do nothing: a server to measure clients against
    NullServer(commands::null_server::NullServerArgs),
    /// Look at the machine of a server for a dbdyno on another host that drives its load
    Observe(commands::observe::ObserveArgs),
    /// Create, start, stop, look into and destroy private servers
    Server(commands::server::ServerArgs),
    /// List the tables of a server by their size, and how much of them fits into the buffer pool
    Tables(commands::tables::TablesArgs),
    /// Look at a server, a run that goes on or one that has ended: throughput, response times, CPU, disk, InnoDB,
    /// statements, waits, connections
    Top(commands::top::TopArgs),
    /// Prepare, check and clean up the tables of TPC-H
    Tpch(commands::tpch::TpchArgs),
    /// Prepare, run, check and clean up a TPC-C-like benchmark
    Tpcc(commands::tpcc::TpccArgs),
    /// Run sysbench's OLTP workloads natively: prepare, prewarm, run, cleanup
    #[command(disable_help_flag = true)]
    Oltp(FrontDoorArgs),
    /// Run a .smack file with Super Smack's command line and report
    #[command(disable_help_flag = true)]
    SuperSmack(FrontDoorArgs),
    /// Run statements by many clients, with mysqlslap's command line and report
    #[command(disable_help_flag = true)]
    Mysqlslap(FrontDoorArgs),
    /// The same with mariadb-slap's
    #[command(disable_help_flag = true)]
    MariadbSlap(FrontDoorArgs),
    /// Load with tpcc-mysql's command line and messages
    #[command(name = "tpcc_load", disable_help_flag = true)]
    TpccLoad(FrontDoorArgs),
    /// Run with tpcc-mysql's command line and output
    #[command(name = "tpcc_start", disable_help_flag = true)]
    TpccStart(FrontDoorArgs),
    /// Print the completions of a shell for dbdyno's command line
    Completions(commands::completions::CompletionsArgs),
    /// Write a man page for each command
    Man(commands::man::ManArgs),
    /// Not for people: switches a redo log on again where the dbdyno that switched it off was killed
    #[command(hide = true)]
    RedoLogGuard,
    /// Generate rows with gen-data's command line, byte for byte the same
    #[command(disable_help_flag = true)]
    GenData(FrontDoorArgs),
}

/// The command line of a tool that dbdyno stands in for, as it was typed.
#[derive(Debug, clap::Args)]
struct FrontDoorArgs {
    /// Arguments of the tool; --help tells
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "ARGS"
    )]
    args: Vec<OsString>,
}

fn main() -> ExitCode {
    exit_as_bug_on_panic();
    runs::signals::when_first_comes(terminal::tell_interruption);
    match run() {
        Ok(code) => code,
        Err(error) => complain(&error),
    }
}

fn run() -> anyhow::Result<ExitCode> {
    let mut args = std::env::args_os();
    let name = args.next().unwrap_or_default();
    match Path::new(&name).file_name().and_then(OsStr::to_str) {
        Some("super-smack") => return front_doors::super_smack::run(args),
        Some("mysqlslap") => return front_doors::mysqlslap::run(Dialect::MySql, args),
        Some("mariadb-slap") => return front_doors::mysqlslap::run(Dialect::MariaDb, args),
        Some("tpcc_load") => return front_doors::tpcc_load::run(args),
        Some("tpcc_start") => return front_doors::tpcc_start::run(args),
        Some("gen-data") => return front_doors::gen_data::run(args),
        _ => {}
    }
    match Cli::parse().command {
        Command::Quick(args) => commands::quick::run(args),
        Command::Run(args) => commands::run::run(args),
        Command::Report(args) => commands::report::run(args),
        Command::Compare(args) => commands::compare::run(args),
        Command::Audit(args) => commands::audit::run(args),
        Command::History(args) => commands::history::run(args),
        Command::Rerun(args) => commands::rerun::run(args),
        Command::Calibrate(args) => commands::calibrate::run(args),
        Command::NullServer(args) => commands::null_server::run(args),
        Command::Observe(args) => commands::observe::run(args),
        Command::Server(args) => commands::server::run(args),
        Command::Tables(args) => commands::tables::run(args),
        Command::Top(args) => commands::top::run(args),
        Command::Tpch(args) => commands::tpch::run(args),
        Command::Tpcc(args) => commands::tpcc::run(args),
        Command::Completions(args) => {
            let mut tree = command_tree::command_tree(Cli::command());
            commands::completions::run(&args, &mut tree)
        }
        Command::Man(args) => commands::man::run(&args, command_tree::command_tree(Cli::command())),
        Command::RedoLogGuard => commands::redo_log_guard::run(),
        Command::Oltp(door) => commands::oltp::run(door.args.into_iter()),
        Command::SuperSmack(door) => front_doors::super_smack::run(door.args.into_iter()),
        Command::Mysqlslap(door) => {
            front_doors::mysqlslap::run(Dialect::MySql, door.args.into_iter())
        }
        Command::MariadbSlap(door) => {
            front_doors::mysqlslap::run(Dialect::MariaDb, door.args.into_iter())
        }
        Command::TpccLoad(door) => front_doors::tpcc_load::run(door.args.into_iter()),
        Command::TpccStart(door) => front_doors::tpcc_start::run(door.args.into_iter()),
        // The original knows no --help; under dbdyno every command does.
        Command::GenData(door) if door.args == ["--help"] || door.args == ["-h"] => {
            front_doors::gen_data::run([OsString::from("-?")].into_iter())
        }
        Command::GenData(door) => front_doors::gen_data::run(door.args.into_iter()),
    }
}

/// Prints the error and its hints; the exit code says whose fault it is.
fn complain(error: &anyhow::Error) -> ExitCode {
    eprint!("error: {}\n", indented(&format!("{error:#}")));
    let Some(blamed) = error.downcast_ref::<Blamed>() else {
        return ExitCode::from(Blame::Input as u8);
    };
    for hint in &blamed.hints {
        eprint!("hint: {}\n", indented(hint));
    }
    ExitCode::from(blamed.blame as u8)
}

/// A message whose further lines, such as the place in a file, cannot be taken for messages of their own.
fn indented(message: &str) -> String {
    let cut = printable_lines_within(message, MESSAGE_AT_MOST);
    cut.replace('\n', "\n  ")
}

/// A panic is a bug: it says so and exits with a code of its own.
fn exit_as_bug_on_panic() {
    let default = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        let what = info.payload().downcast_ref::<String>();
        let unprinted = what.filter(|what| what.starts_with(output::UNPRINTED));
        let code = match unprinted {
            Some(why) => {
                eprintln!("error: {why}");
                Blame::Machine as i32
            }
            None => {
                default(info);
                eprintln!("error: this is a bug in dbdyno; what was measured so far is kept");
                EXIT_BUG
            }
        };
        #[expect(
            clippy::exit,
            reason = "a panic in any thread must end the process with its own code"
        )]
        std::process::exit(code);
    }));
}
