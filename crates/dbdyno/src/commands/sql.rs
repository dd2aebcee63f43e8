//! `dbdyno sql`: a single statement, explained, timed, compared under variants, and advised on.

mod advise;
mod compare;
mod explain;
mod input;
mod time;
mod timeout;

use std::process::ExitCode;

use clap::Subcommand;

#[derive(Debug, clap::Args)]
pub(crate) struct SqlArgs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Show how the server executes a statement: the plan, the measured rows and times, and the alternatives that the
    /// optimizer considered
    Explain(explain::ExplainArgs),
    /// Measure how long statements take, and what they cost the server
    Time(time::TimeArgs),
    /// Compare statements with and without a change, such as an index, a setting, a hint or a rewrite
    Compare(Box<compare::CompareArgs>),
    /// Suggest changes that could make statements faster; with --try, also test them on copies of a private server
    Advise(advise::AdviseArgs),
}

pub(crate) fn run(args: SqlArgs) -> anyhow::Result<ExitCode> {
    match args.command {
        Command::Explain(args) => explain::run(&args),
        Command::Time(args) => time::run(&args),
        Command::Compare(args) => compare::run(&args),
        Command::Advise(args) => advise::run(&args),
    }
}
