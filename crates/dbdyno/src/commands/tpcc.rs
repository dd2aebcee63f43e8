//! `dbdyno tpcc`: a TPC-C-like benchmark, prepared, run, checked and cleaned up.

use std::process::ExitCode;

use clap::Subcommand;

mod check;
mod drop;
mod load;
mod run;
mod target;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
The tables have the names and columns of tpcc-mysql and the types of TPC-C 5.11; the database is tpcc unless
--database names another. The results are TPC-C-like: these are not TPC results and must not be compared with any.

Examples:
  dbdyno tpcc prepare --server one --warehouses 4
  dbdyno tpcc run --server one --connections 8 --duration 60s
  dbdyno tpcc check --server one
  dbdyno tpcc cleanup --server one")]
pub(crate) struct TpccArgs {
    #[command(subcommand)]
    command: TpccCommand,
}

#[derive(Debug, Subcommand)]
enum TpccCommand {
    /// Create and load the tables; the same command continues an interrupted load
    #[command(name = "prepare", visible_alias = "load")]
    Load(load::LoadArgs),
    /// Run the five transactions
    Run(run::RunArgs),
    /// Check the consistency conditions of clause 3.3.2
    Check(check::CheckArgs),
    /// Drop the tables of TPC-C and dbdyno's own beside them
    #[command(name = "cleanup", visible_alias = "drop")]
    Drop(drop::DropArgs),
}

pub(crate) fn run(args: TpccArgs) -> anyhow::Result<ExitCode> {
    match args.command {
        TpccCommand::Load(args) => load::run(args),
        TpccCommand::Run(args) => run::run(args),
        TpccCommand::Check(args) => check::run(args),
        TpccCommand::Drop(args) => drop::run(args),
    }
}
